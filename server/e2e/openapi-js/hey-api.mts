// A client from @hey-api/openapi-ts: lists API keys and dashboards, then fails on purpose.
import { listApiKeys, listDashboards } from "./generated/hey-api/sdk.gen.js";
import { createClient } from "./generated/hey-api/client/index.js";
import type { ApiKey, Dashboard } from "./generated/hey-api/types.gen.js";

declare const process: { argv: string[] };
const [, , baseUrl = "", key = ""] = process.argv;

async function main(): Promise<void> {
  const client = createClient({ baseUrl, auth: key });
  const { data, error } = await listApiKeys({ client, query: { limit: 100 } });
  if (!data) throw new Error(`listing failed: ${JSON.stringify(error)}`);
  const keys: ApiKey[] = data.data;
  const names: string[] = keys.map((k) => `${k.name} (${k.kind === "mcp" ? "MCP" : "standard"}, ${k.scopes?.length ?? "all"})`);

  const dashboards: Dashboard[] = [];
  let cursor: string | undefined;
  do {
    const page = await listDashboards({ client, query: { limit: 1, cursor } });
    if (!page.data) throw new Error(`listing failed: ${JSON.stringify(page.error)}`);
    dashboards.push(...page.data.data);
    cursor = page.data.next_cursor ?? undefined;
  } while (cursor !== undefined);
  const boards: string[] = dashboards.map((d) => `${d.name} (${d.widgets.map((w) => `${w.visualization} ${w.layout.w}×${w.layout.h}`).join(", ")}; ${d.time_range.value ?? "absolute"})`);

  const failed = await listApiKeys({ client: createClient({ baseUrl, auth: "svc_ak_unknown" }) });
  if (!failed.error) throw new Error("an unknown key was let in");
  console.log(JSON.stringify({ names, boards, tag: failed.error.error._tag }));
}

await main();
