// An MCP client for a person: it discovers the sign-in by itself, waits for the browser, uses the server, and disconnects.
//
//	node oauth.mjs <url of the MCP server>
//
// It prints lines of JSON: {"authorize": <url to open>} when the browser is needed, and at last {"done": {…}}.
import { createServer } from 'node:http';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';

const url = new URL(process.argv[2]);
const say = (what) => console.log(JSON.stringify(what));

let back;
const returned = new Promise((resolve) => { back = resolve; });
const listener = createServer((request, response) => {
  const at = new URL(request.url, 'http://127.0.0.1');
  response.setHeader('Content-Type', 'text/html');
  response.end('<!doctype html><title>Back</title><link rel="icon" href="data:,"><h1>Back in the program</h1>');
  if (at.pathname === '/callback') back(at.searchParams);
});
await new Promise((ready) => { listener.listen(0, '127.0.0.1', ready); });
const callback = `http://127.0.0.1:${listener.address().port}/callback`;

const kept = {};
let visits = 0;
const provider = {
  get redirectUrl() { return callback; },
  get clientMetadata() {
    return { client_name: 'TypeScript <b>SDK</b>', redirect_uris: [callback], grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], token_endpoint_auth_method: 'none' };
  },
  state: () => 'a state',
  clientInformation: () => kept.client,
  saveClientInformation: (v) => { kept.client = v; },
  tokens: () => kept.tokens,
  saveTokens: (v) => { kept.tokens = v; },
  redirectToAuthorization: (to) => { visits++; say({ authorize: to.href }); },
  saveCodeVerifier: (v) => { kept.verifier = v; },
  codeVerifier: () => kept.verifier,
  invalidateCredentials: (what) => { if (what === 'all' || what === 'tokens') kept.tokens = undefined; },
};
const open = () => new StreamableHTTPClientTransport(url, { authProvider: provider });
const client = () => new Client({ name: 'e2e', version: '1' });

const first = open();
let refused = false;
try {
  await client().connect(first);
} catch (e) {
  if (!(e instanceof UnauthorizedError)) throw e;
  refused = true;
}
const answer = await returned;
await first.finishAuth(answer.get('code'));

const mcp = client();
await mcp.connect(open());
const tools = (await mcp.listTools()).tools.map((t) => t.name);
const called = await mcp.callTool({ name: 'list_services', arguments: {} });

// An access token that no longer works is refreshed without the person.
const before = kept.tokens;
kept.tokens = { ...before, access_token: 'A'.repeat(43) };
const again = await mcp.callTool({ name: 'list_services', arguments: {} });
const after = kept.tokens;

const metadata = await (await fetch(new URL('/.well-known/oauth-authorization-server', url))).json();
const revoked = await fetch(metadata.revocation_endpoint, { method: 'POST', body: new URLSearchParams({ token: after.refresh_token, client_id: kept.client.client_id }) });
let ended = false;
try {
  await mcp.callTool({ name: 'list_services', arguments: {} });
} catch {
  ended = true;
}
say({ done: {
  refused, state: answer.get('state'), iss: answer.get('iss'), tools, error: called.isError ?? false, again: again.isError ?? false, title: called.content[0].text.split('\n')[0],
  rotated: before.refresh_token !== after.refresh_token && after.access_token !== before.access_token && after.access_token !== 'A'.repeat(43),
  expires: before.expires_in, scope: before.scope, revoked: revoked.status, ended, visits, registered: kept.client.client_id.startsWith('mcpc_'),
} });
listener.close();
listener.closeAllConnections();
process.exit(0);
