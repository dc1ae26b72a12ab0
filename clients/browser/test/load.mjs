// Bundles a source file for a test, and imports it.
import { build } from "esbuild";

const root = new URL("..", import.meta.url).pathname;

export async function load(name) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [`src/${name}.ts`],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2020",
    define: { SVC_VERSION: '"1.0.0"' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

/** storage is a stand-in for a storage of the browser. */
export function storage() {
  const kept = new Map();
  return {
    kept,
    getItem: (k) => kept.get(k) ?? null,
    setItem: (k, v) => void kept.set(k, String(v)),
    removeItem: (k) => void kept.delete(k),
  };
}
