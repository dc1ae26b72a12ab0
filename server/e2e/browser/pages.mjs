// Uses pages like a person, step by step. It reads a request of each walk as a line of JSON, takes walks at the same time, and prints the
// observations of each as a line. One browser serves all walks; each has its own cookies and storage.
//
//	node pages.mjs <chromium>
//
// A request has an id, steps, the allowed servers, and a folder for screenshots. A step is an object with one key: open, fill, click,
// press, await, read, look, cookies, script, or evil.
import { createInterface } from 'node:readline';
import { launch, screenshot } from './launch.mjs';

const browser = await launch(process.argv[2]);
const walks = [];
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  walks.push(
    walk(request)
      .catch((e) => ({ failure: String(e.stack ?? e) }))
      .then((result) => console.log(JSON.stringify({ id: request.id, ...result }))),
  );
}
await Promise.all(walks);
await browser.close();

async function walk({ steps, allowed, screenshots }) {
  const problems = [];
  const foreign = [];
  const seen = {};
  const context = await browser.newContext({ viewport: { width: 1200, height: 800 }, colorScheme: 'light' });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(60000);
    page.on('pageerror', (e) => problems.push(`page: ${e.message}`));
    page.on('console', (m) => {
      if (m.type() === 'error' && !/status of 4\d\d|status of 502/.test(m.text())) problems.push(`console: ${m.text()}`);
    });
    page.on('request', (r) => {
      if (!allowed.some((a) => r.url().startsWith(a + '/') || r.url() === a) && !r.url().startsWith('data:')) foreign.push(r.url());
    });

    // look takes screenshots of the page in light and dark, wide and on a phone. The page must never scroll sideways.
    const look = async (name) => {
      for (const [scheme, width, height] of [
        ['light', 1200, 800],
        ['dark', 1200, 800],
        ['light', 390, 780],
        ['dark', 390, 780],
      ]) {
        await page.emulateMedia({ colorScheme: scheme });
        await page.setViewportSize({ width, height });
        await screenshot(page, screenshots, `${name}-${scheme}-${width < 500 ? 'phone' : 'wide'}`, { fullPage: true });
        if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth))
          problems.push(`${name} must be scrolled sideways at ${width}`);
      }
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 1200, height: 800 });
    };

    for (const step of steps) {
      const [[verb, value]] = Object.entries(step);
      switch (verb) {
        case 'open':
          await page.goto(value);
          break;
        case 'fill':
          await page.fill(value[0], value[1]);
          break;
        case 'click':
          await page.click(value);
          break;
        case 'press':
          await page.keyboard.press(value);
          break;
        case 'await':
          await page.waitForURL((u) => u.href.startsWith(value));
          break;
        case 'read':
          seen[value[0]] = await page.locator(value[1]).first().innerText();
          break;
        case 'look':
          await look(value);
          break;
        case 'cookies':
          seen[value] = await context.cookies();
          break;
        case 'script':
          seen[value[0]] = await page.evaluate(value[1]);
          break;
        // A foreign page: the same machine under another name, with its own body.
        case 'evil': {
          const there = allowed[1] + '/evil';
          await context.route(there, (route) => route.fulfill({ contentType: 'text/html', body: `<!doctype html><body>${value[1]}` }));
          await page.goto(there);
          const frame = page.frames()[1];
          if (frame) {
            await page.waitForTimeout(500);
            seen[value[0]] = /^chrome-error:/.test(frame.url()) || !(await frame.locator('main').count()) ? 'refused' : 'shown';
          }
          break;
        }
        default:
          throw new Error(`unknown step ${verb}`);
      }
    }
    return { seen, url: page.url(), title: await page.title(), problems, foreign };
  } finally {
    await context.close();
  }
}
