// Runs one walk of the folder walks, and prints its observations as JSON.
//
//	node walk.mjs <name> <chromium> <folder for screenshots> < input.json
//
// A walk is a module with `export default async (parts, input) => seen`, where the parts are those of harness.mjs with the address `home`
// of the organization. It throws, or adds to `problems`, when something is wrong.
import { open, readInput } from './harness.mjs';

const [name, executablePath, screenshots] = process.argv.slice(2);
const input = await readInput();
const { default: walk } = await import(`./walks/${name}.mjs`);
const parts = await open(executablePath, screenshots, input);
try {
  const home = await parts.signIn();
  parts.report((await walk({ ...parts, home }, input)) ?? {});
} catch (e) {
  const pages = parts.browser.contexts().flatMap((c) => c.pages());
  for (const [i, page] of pages.entries()) {
    await page.screenshot({ path: `${screenshots}/${name}-failed-${i}.png` }).catch(() => {});
    const text = await page.evaluate(() => document.body.innerText).catch((e) => e.message);
    console.error(`page ${i} at ${page.url()} shows: ${text.replace(/\s+/g, ' ').slice(0, 1500)}`);
  }
  for (const problem of parts.problems) console.error(problem);
  throw e;
} finally {
  await parts.browser.close();
}
