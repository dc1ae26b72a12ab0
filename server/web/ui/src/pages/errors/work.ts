import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ApiError, call, type Procedure, type RequestOf } from "../../api/client";
import { useCall, useFrame } from "../../frame/session";
import type { Actor, ErrorIssue, Member, TransitionErrorIssueRequest } from "../../gen/api";
import { keysOf } from "../../parts/choices";

export type State = NonNullable<TransitionErrorIssueRequest["toState"]>;
export const severities = keysOf<NonNullable<ErrorIssue["severity"]>>({ critical: 1, high: 1, medium: 1, low: 1 });

export const stateNames: Record<State, string> = {
  triage: "Triage",
  todo: "To do",
  in_progress: "In progress",
  in_review: "In review",
  verifying: "Verifying",
  done: "Done",
  regressed: "Regressed",
  cancelled: "Cancelled",
  wontfix: "Will not fix",
};

const moves: Record<State, State[]> = {
  triage: ["todo", "in_progress", "done", "wontfix", "cancelled"],
  regressed: ["todo", "in_progress", "done", "triage", "wontfix", "cancelled"],
  todo: ["in_progress", "done", "triage", "wontfix", "cancelled"],
  in_progress: ["in_review", "done", "todo", "triage", "wontfix", "cancelled"],
  in_review: ["done", "in_progress", "triage", "wontfix", "cancelled"],
  verifying: ["done", "in_review", "in_progress", "todo", "triage", "wontfix", "cancelled"],
  done: ["in_progress", "triage", "wontfix", "cancelled"],
  wontfix: ["triage", "cancelled"],
  cancelled: [],
};

/** movesOf are the states that all of these issues can be moved to by a person. Only the server enters `regressed` and `verifying`. */
export function movesOf(states: Array<string | undefined>): State[] {
  const [first, ...rest] = states.map((s) => moves[s as State] ?? []);
  return (first ?? []).filter((to) => rest.every((m) => m.includes(to)));
}

export const stateColor = (s: string | undefined): string =>
  s === "regressed" ? "bad" : s === "triage" ? "warn" : s === "done" ? "good" : s === "wontfix" || s === "cancelled" ? "faint" : "";
export const severityColor = (s: string | undefined): string => (s === "critical" ? "bad" : s === "high" ? "warn" : "");
export const titleOf = (i: ErrorIssue): string => i.errorLabel || i.exceptionType || i.exceptionMessage || "error";

export type People = {
  me: string;
  myId: string | undefined;
  actors: Actor[];
  members: Member[];
  nameOf: (a: Actor | undefined) => string;
  mine: (issue: string) => Promise<string | undefined>;
};

/** usePeople knows who can have an issue: actors that acted before, and members. */
export function usePeople(): People {
  const { me, org } = useFrame();
  const actors = useCall("ErrorIssueWorkflowService/ListErrorIssueActors", { limit: 100 });
  const members = useCall("OrganizationService/ListMembers", { limit: 100 });
  const names = new Map((members.data?.data ?? []).map((m) => [m.id ?? "", m.name || m.email || ""]));
  const all = actors.data?.data ?? [];
  const isMe = (a: Actor): boolean => a.type === "user" && a.userId === me.user?.id;
  // A person becomes an actor by the first change of an issue: here, by taking away the assignee that is about to change.
  const mine = async (id: string): Promise<string | undefined> => {
    const known = all.find(isMe)?.id;
    if (known) return known;
    await call("ErrorIssueWorkflowService/AssignErrorIssue", { id }, { org: org.id ?? "" });
    const answer = await call("ErrorIssueWorkflowService/ListErrorIssueActors", { limit: 100 }, { org: org.id ?? "" });
    return answer.data?.find(isMe)?.id;
  };
  return {
    mine,
    me: me.user?.id ?? "",
    myId: all.find(isMe)?.id,
    actors: all,
    members: members.data?.data ?? [],
    nameOf: (a) =>
      !a
        ? ""
        : a.type === "agent"
          ? (a.agentName ?? "agent")
          : (names.get(a.userId ?? "") ?? (a.userId === me.user?.id ? me.user?.name || me.user?.email || "" : "a former member")),
  };
}

/** useEach calls a method once for each issue, one after the other, and asks the page again afterwards. */
export function useEach() {
  const { org } = useFrame();
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const run = async <P extends Procedure>(procedure: P, requests: Array<RequestOf<P>>): Promise<boolean> => {
    setBusy(true);
    setError(null);
    let failed: ApiError | null = null;
    for (const r of requests) {
      try {
        await call(procedure, r, { org: org.id ?? "" });
      } catch (e) {
        failed = e as ApiError;
      }
    }
    setError(failed);
    setBusy(false);
    await client.invalidateQueries({ queryKey: [org.id] });
    return failed === null;
  };
  return { run, busy, error };
}
