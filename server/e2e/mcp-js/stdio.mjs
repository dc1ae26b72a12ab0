// Both generations of the official TypeScript SDK start `svc mcp` as a process, as agents do.
//
//	SVC_API_URL=… SVC_API_TOKEN=… node stdio.mjs <path of svc> <flags of svc mcp>…
//
// It prints one line of JSON: what each client saw.
import { Client as Older } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [program, ...flags] = process.argv.slice(2);
const info = { name: 'e2e', version: '1' };

async function use(client, Transport) {
  const transport = new Transport({ command: program, args: ['mcp', ...flags], env: process.env, stderr: 'pipe' });
  let stderr = '';
  transport.stderr.on('data', (text) => (stderr += text));
  let seen;
  try {
    await client.connect(transport);
    const tools = (await client.listTools()).tools;
    const [called, wrong, resource, completion] = await Promise.all([
      client.callTool({ name: 'list_services', arguments: { start_time: 'now-1h' } }),
      client.callTool({ name: 'inspect_trace', arguments: { trace_id: 'no hex' } }),
      client.readResource({ uri: 'svc://instructions' }),
      client.complete({ ref: { type: 'ref/prompt', name: 'debug_errors' }, argument: { name: 'service_name', value: '' } }),
    ]);
    seen = {
      version: client.getNegotiatedProtocolVersion?.() ?? '', tools: tools.length, readonly: tools.every((t) => t.annotations.readOnlyHint),
      total: typeof called.structuredContent.total, wrong: wrong.isError ?? false, resource: resource.contents.length,
      completion: Array.isArray(completion.completion.values),
    };
  } catch (e) {
    seen = { error: e.message };
  }
  await client.close();
  return { ...seen, stderr };
}

console.log(JSON.stringify({
  'sdk 1': await use(new Older(info), OlderTransport),
  'client 2, as before': await use(new Client(info, { versionNegotiation: { mode: 'legacy' } }), StdioClientTransport),
  'client 2, any': await use(new Client(info, { versionNegotiation: { mode: 'auto' } }), StdioClientTransport),
  'client 2, newest only': await use(new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), StdioClientTransport),
}));
process.exit(0);
