// Both generations of the official TypeScript SDK use the MCP server with a credential.
//
//	node clients.mjs <url of the MCP server> <credential>…
//
// It prints one line of JSON: for each credential, what each client saw.
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, ...credentials] = process.argv.slice(2);
const info = { name: 'e2e', version: '1' };

async function use(client, Transport, credential) {
  const sent = [];
  const transport = new Transport(new URL(url), {
    requestInit: { headers: { Authorization: `Bearer ${credential}` } },
    fetch: (to, init) => {
      if (init?.body) sent.push(JSON.parse(init.body).method);
      return fetch(to, init);
    },
  });
  await client.connect(transport);
  const tools = (await client.listTools()).tools;
  const called = await client.callTool({ name: 'list_services', arguments: { start_time: 'now-1h' } });
  const wrong = await client.callTool({ name: 'inspect_trace', arguments: { trace_id: 'no hex' } });
  const prompts = (await client.listPrompts()).prompts.map((p) => p.name).sort();
  const prompt = await client.getPrompt({ name: 'debug_errors', arguments: { service_name: 'cart' } });
  const resources = (await client.listResources()).resources.map((r) => r.uri);
  const resource = await client.readResource({ uri: 'svc://instructions' });
  const completion = await client.complete({ ref: { type: 'ref/prompt', name: 'debug_errors' }, argument: { name: 'service_name', value: '' } });
  const server = client.getServerVersion()?.name;
  await client.close();
  return {
    version: transport.protocolVersion ?? client.getNegotiatedProtocolVersion?.(), server, discovered: sent.includes('server/discover'),
    initialized: sent.includes('initialize'), tools: tools.length, schemas: tools.every((t) => t.outputSchema && t.annotations), error: called.isError ?? false,
    total: typeof called.structuredContent.total, wrong: wrong.isError ?? false, prompts, prompt: prompt.messages[0].content.text.includes('in the service cart'), resources,
    resource: resource.contents[0].text.startsWith('# What svc stores'), completion: Array.isArray(completion.completion.values),
  };
}

const seen = [];
for (const credential of credentials) {
  seen.push({
    'sdk 1': await use(new Older(info), OlderTransport, credential),
    'client 2, as before': await use(new Client(info, { versionNegotiation: { mode: 'legacy' } }), StreamableHTTPClientTransport, credential),
    'client 2, any': await use(new Client(info, { versionNegotiation: { mode: 'auto' } }), StreamableHTTPClientTransport, credential),
    'client 2, newest only': await use(new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), StreamableHTTPClientTransport, credential),
  });
}
console.log(JSON.stringify(seen));
process.exit(0);
