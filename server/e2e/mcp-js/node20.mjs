// For `node --import`: the conformance suite imports fs.globSync, which Node.js 20 lacks, for a command that is not used here. Without this
// name, the suite does not start.
import fs from 'node:fs';
import { register } from 'node:module';

const data = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
if (!fs.globSync) {
  const shim = data("export * from 'node:fs'; export { default } from 'node:fs'; export function globSync() { throw new Error('globSync needs Node.js 22'); }");
  register(data(`export async function resolve(name, context, next) {
    if (name === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/')) return { url: ${JSON.stringify(shim)}, shortCircuit: true };
    return next(name, context);
  }`));
}
