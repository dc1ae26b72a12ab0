// A client from openapi-typescript and openapi-fetch: lists API keys and dashboards, then fails on purpose.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/schema.js";

declare const process: { argv: string[] };
const [, , baseUrl = "", key = ""] = process.argv;

async function main(): Promise<void> {
  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
  const { data, error } = await client.GET("/v2/api_keys", { params: { query: { limit: 100 } } });
  if (!data) throw new Error(`listing failed: ${error.error._tag}`);
  const keys: components["schemas"]["ApiKey"][] = data.data;
  // The types know what is null, what a field can be, and which tags a status can have.
  const names: string[] = keys.map((k) => `${k.name} (${k.kind === "mcp" ? "MCP" : "standard"}, ${k.scopes?.length ?? "all"})`);

  const dashboards: components["schemas"]["Dashboard"][] = [];
  let cursor: string | undefined;
  do {
    const page = await client.GET("/v2/dashboards", { params: { query: { limit: 1, cursor } } });
    if (!page.data) throw new Error(`listing failed: ${page.error.error._tag}`);
    dashboards.push(...page.data.data);
    cursor = page.data.next_cursor ?? undefined;
  } while (cursor !== undefined);
  const boards: string[] = dashboards.map((d) => `${d.name} (${d.widgets.map((w) => `${w.visualization} ${w.layout.w}×${w.layout.h}`).join(", ")}; ${d.time_range.value ?? "absolute"})`);

  const stranger = createClient<paths>({ baseUrl, headers: { Authorization: "Bearer svc_ak_unknown" } });
  const failed = await stranger.GET("/v2/api_keys");
  if (!failed.error) throw new Error("an unknown key was let in");
  console.log(JSON.stringify({ names, boards, tag: failed.error.error._tag }));
}

await main();
