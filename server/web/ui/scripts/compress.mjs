// Replaces the built files by their compressed forms, which are all that the program embeds, and holds them to budgets.json.
// `compress.mjs clean` empties the folder before a build.
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("../../dist", import.meta.url).pathname;
if (process.argv[2] === "clean") {
  for (const name of readdirSync(dist)) if (name !== "README") rmSync(join(dist, name), { recursive: true });
  process.exit(0);
}
const budgets = JSON.parse(readFileSync(new URL("../budgets.json", import.meta.url), "utf8"));
const html = readFileSync(join(dist, "index.html"), "utf8");
const sizes = { first_js: 0, first_css: 0, all_js: 0, largest_chunk: 0, embedded: 0 };
const large = Object.keys(budgets.chunks); // chunks with a budget of their own
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile()) continue;
  const file = join(entry.parentPath, entry.name);
  const name = relative(dist, file);
  if (name === "README" || name.endsWith(".html")) continue;
  const plain = readFileSync(file);
  const gz = gzipSync(plain, { level: 9 });
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
  writeFileSync(`${file}.gz`, gz);
  writeFileSync(`${file}.br`, br);
  rmSync(file);
  sizes.embedded += gz.length + br.length;
  const first = html.includes(`/ui/${name}`);
  if (extname(name) === ".js") {
    sizes.all_js += gz.length;
    const own = large.find((chunk) => name.split("/").at(-1).startsWith(`${chunk}-`));
    if (first) sizes.first_js += gz.length;
    else if (own) sizes[`chunk ${own}`] = Math.max(sizes[`chunk ${own}`] ?? 0, gz.length);
    else sizes.largest_chunk = Math.max(sizes.largest_chunk, gz.length);
  }
  if (extname(name) === ".css" && first) sizes.first_css += gz.length;
}
let failed = false;
for (const [name, size] of Object.entries(sizes)) {
  const budget = budgets[name] ?? budgets.chunks[name.replace("chunk ", "")];
  const most = budget * 1024;
  if (size > most) failed = true;
  console.log(`${name}: ${(size / 1024).toFixed(1)} KB of ${budget} KB${size > most ? ", over the budget" : ""}`);
}
process.exit(failed ? 1 : 0);
