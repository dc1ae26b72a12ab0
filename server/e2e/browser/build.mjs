// Bundles the pages' scripts into a folder.
//
//	node build.mjs <folder>
import { build } from 'esbuild';
import { copyFile } from 'node:fs/promises';
import path from 'node:path';

const [out] = process.argv.slice(2);
await build({
  entryPoints: { shop: 'shop.mjs', player: 'player.mjs' },
  outdir: out,
  bundle: true,
  format: 'esm',
  target: 'chrome120',
  logLevel: 'warning',
});
for (const page of ['shop.html', 'player.html']) await copyFile(page, path.join(out, page));
await copyFile('node_modules/rrweb/dist/style.css', path.join(out, 'player.css'));
