// A client from @hey-api/openapi-ts: lists API keys, then fails on purpose.
import { listApiKeys } from "./generated/hey-api/sdk.gen.js";
import { createClient } from "./generated/hey-api/client/index.js";
import type { ApiKey } from "./generated/hey-api/types.gen.js";

declare const process: { argv: string[] };
const [, , baseUrl = "", key = ""] = process.argv;

async function main(): Promise<void> {
  const client = createClient({ baseUrl, auth: key });
  const { data, error } = await listApiKeys({ client, query: { limit: 100 } });
  if (!data) throw new Error(`listing failed: ${JSON.stringify(error)}`);
  const keys: ApiKey[] = data.data;
  const names: string[] = keys.map((k) => `${k.name} (${k.kind === "mcp" ? "MCP" : "standard"}, ${k.scopes?.length ?? "all"})`);

  const failed = await listApiKeys({ client: createClient({ baseUrl, auth: "svc_ak_unknown" }) });
  if (!failed.error) throw new Error("an unknown key was let in");
  console.log(JSON.stringify({ names, tag: failed.error.error._tag }));
}

await main();
