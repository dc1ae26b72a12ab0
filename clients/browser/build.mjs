// Builds the SDK into the folder that the ingest server embeds, and holds the sizes to budgets.json.
// `build.mjs --pack` also writes dist, with types, for npm pack.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = new URL(".", import.meta.url).pathname;
process.chdir(here);
const out = new URL("../../server/ingest/browsersdk/dist/", import.meta.url).pathname;
const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const budgets = JSON.parse(readFileSync("budgets.json", "utf8"));

const common = {
  bundle: true,
  minify: true,
  target: "es2020",
  write: false,
  charset: "utf8",
  legalComments: "inline",
  define: { SVC_VERSION: JSON.stringify(version) },
  logLevel: "warning",
};
const parts = {
  name: "parts",
  setup: (b) => b.onResolve({ filter: /^\.\/(replay|vitals)\.js$/ }, (a) => ({ path: a.path, external: true })),
};
const results = await Promise.all([
  build({ ...common, entryPoints: ["src/index.ts"], format: "esm", outfile: "svc.js", plugins: [parts] }),
  build({ ...common, entryPoints: ["src/iife.ts"], format: "iife", outfile: "svc.iife.js" }),
  build({ ...common, entryPoints: ["src/replay.ts"], format: "esm", outfile: "replay.js" }),
  build({ ...common, entryPoints: ["src/vitals.ts"], format: "esm", outfile: "vitals.js" }),
]);
const files = Object.fromEntries(results.map((r) => [r.outputFiles[0].path.slice(here.length), r.outputFiles[0].contents]));

for (const name of readdirSync(out)) if (name !== "README") rmSync(out + name, { recursive: true });
const manifest = { version, integrity: {} };
let failed = false;
for (const [name, plain] of Object.entries(files)) {
  const gz = gzipSync(plain, { level: 9 });
  writeFileSync(`${out}${name}.gz`, gz);
  writeFileSync(`${out}${name}.br`, brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  manifest.integrity[name] = `sha384-${createHash("sha384").update(plain).digest("base64")}`;
  const over = gz.length > budgets[name] * 1024;
  failed ||= over;
  console.log(`${name}: ${(gz.length / 1024).toFixed(1)} KiB gzip of ${budgets[name]} KiB${over ? ", over the budget" : ""}`);
}
// The server takes the SDK as built only with this file, so it comes last.
if (!failed) writeFileSync(`${out}manifest.json`, JSON.stringify(manifest, null, 2) + "\n");

if (process.argv[2] === "--pack") {
  rmSync("dist", { recursive: true, force: true });
  mkdirSync("dist");
  for (const [name, plain] of Object.entries(files)) writeFileSync(`dist/${name}`, plain);
  execFileSync(
    "node_modules/.bin/tsc",
    ["--noEmit", "false", "--declaration", "--emitDeclarationOnly", "--rootDir", "src", "--outDir", "dist"],
    {
      stdio: "inherit",
    },
  );
  cpSync("../../LICENSE", "dist/LICENSE");
}
process.exit(failed ? 1 : 0);
