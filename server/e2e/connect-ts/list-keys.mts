// Lists API keys through Connect over HTTP/1.1, and through gRPC over HTTP/2; then fails on purpose and reads the error's detail.
import { Code, ConnectError, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { ErrorDetailSchema } from "./generated/svc/options/v1/error_pb.js";
import { type ApiKey, ApiKeysService } from "./generated/svc/v2/api_keys_pb.js";

const [, , baseUrl = "", key = ""] = process.argv;

const bearer = (token: string): Interceptor => (next) => (request) => {
  request.header.set("Authorization", `Bearer ${token}`);
  return next(request);
};

const transports: Record<string, (token: string) => Transport> = {
  connect: (token) => createConnectTransport({ baseUrl, httpVersion: "1.1", interceptors: [bearer(token)] }),
  grpc: (token) => createGrpcTransport({ baseUrl, interceptors: [bearer(token)] }),
};

async function list(transport: Transport): Promise<ApiKey[]> {
  const client = createClient(ApiKeysService, transport);
  const keys: ApiKey[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await client.listApiKeys({ limit: 1, cursor });
    keys.push(...page.data);
    if (!page.hasMore) return keys;
    cursor = page.nextCursor;
  }
}

async function failure(transport: Transport): Promise<{ code: string; tag?: string; recovery?: string; status?: number }> {
  try {
    await list(transport);
  } catch (reason) {
    const error = ConnectError.from(reason);
    const [detail] = error.findDetails(ErrorDetailSchema);
    return { code: Code[error.code], tag: detail?.tag, recovery: detail?.recovery, status: detail?.status };
  }
  throw new Error("an unknown key was let in");
}

const out: Record<string, unknown> = {};
for (const [name, transport] of Object.entries(transports)) {
  const keys = await list(transport(key));
  out[name] = { names: keys.map((k) => k.name), created: keys.every((k) => k.createdAt !== undefined), failure: await failure(transport("svc_ak_unknown")) };
}
console.log(JSON.stringify(out));
process.exit(0); // sessions of HTTP/2 stay open otherwise
