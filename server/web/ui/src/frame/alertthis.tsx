import type { CreateAlertRuleRequest, QueryDraft } from "../gen/api";
import { href, Link } from "./router";

/** What a page knows about the rule that a person may want; everything else has a usual value in the editor. */
export type RuleStart = Omit<Partial<CreateAlertRuleRequest>, "queryBuilderDraft"> & { query?: Omit<QueryDraft, "id" | "name"> };

/** newRule is the address of the editor of a new rule that begins with these fields. */
export function newRule({ query, ...rule }: RuleStart): string {
  const draft = query ? { signalType: "builder_query" as const, queryBuilderDraft: { queries: [{ id: "a", name: "A", ...query }] } } : {};
  return href("/alerts/rules/new", { rule: JSON.stringify({ ...draft, ...rule }) });
}

/** AlertOnThis leads from a chart to the editor of a rule about the same thing. */
export function AlertOnThis({ rule, className = "button small" }: { rule: RuleStart; className?: string }) {
  return (
    <Link className={className} href={newRule(rule)}>
      Alert on this
    </Link>
  );
}
