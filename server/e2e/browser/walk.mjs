// Runs walks of the folder walks, one after the other, and prints the observations of each as a line of JSON. One browser serves them all,
// because its start costs more than most walks; each walk has its own cookies and storage.
//
//	node walk.mjs <chromium> <folder for screenshots>
//
// The first line to read is the input of all walks as JSON, each further line the name of a walk. A walk is a module with
// `export default async (parts, input) => seen`, where the parts are those of harness.mjs with the address `home` of the organization. It
// throws, or adds to `problems`, when something is wrong. A walk that signs in by itself exports `signsIn = true`, and has no `home`.
import { createInterface } from 'node:readline';
import { open } from './harness.mjs';
import { launch, screenshot } from './launch.mjs';

const [executablePath, screenshots] = process.argv.slice(2);
const browser = await launch(executablePath);
let input;
for await (const line of createInterface({ input: process.stdin })) {
  if (input) console.log(JSON.stringify(await run(line)));
  else input = JSON.parse(line);
}
await browser.close();

async function run(name) {
  const { default: walk, signsIn } = await import(`./walks/${name}.mjs`);
  let parts;
  const take = async () => {
    parts = await open(browser, screenshots, input);
    const home = signsIn ? undefined : await parts.signIn();
    return parts.report((await walk({ ...parts, home }, input)) ?? {});
  };
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('the walk takes more than ten minutes')), 600_000);
  });
  try {
    return await Promise.race([take(), late]);
  } catch (e) {
    const shown = [];
    for (const [i, page] of browser
      .contexts()
      .flatMap((c) => c.pages())
      .entries()) {
      await screenshot(page, screenshots, `${name}-failed-${i}`).catch(() => {});
      const text = await page.evaluate(() => document.body.innerText).catch((e) => e.message);
      shown.push(`page ${i} at ${page.url()} shows: ${text.replace(/\s+/g, ' ').slice(0, 1500)}`);
    }
    return { ...parts?.report({}), failure: [e.stack ?? String(e), ...shown].join('\n') };
  } finally {
    clearTimeout(timer);
    for (const context of browser.contexts()) await context.close().catch(() => {});
  }
}
