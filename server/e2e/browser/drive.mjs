// Drives Chromium and prints what the page reports as JSON.
//
//	node drive.mjs <chromium> <shop|player> <url> <folder for screenshots>
import { launch, screenshot } from './launch.mjs';

const [executablePath, task, url, screenshots] = process.argv.slice(2);
const browser = await launch(executablePath);
const problems = [];
try {
  const page = await browser.newPage({ viewport: { width: 900, height: 640 } });
  page.setDefaultTimeout(60000);
  page.on('pageerror', (e) => problems.push(`page: ${e.message}`));
  page.on('console', (m) => {
    if (m.type() === 'error') problems.push(`console: ${m.text()}`);
  });
  page.on('requestfailed', (r) => problems.push(`request: ${r.method()} ${r.url()} ${r.failure()?.errorText}`));
  await page.goto(url);
  await page.waitForSelector('body[data-ready]');
  const result = task === 'shop' ? await shop(page) : await page.evaluate(() => window.player.result());
  await screenshot(page, screenshots, task);
  if (task === 'shop') {
    await page.goto('about:blank'); // the page hides, and says goodbye
    const heard = await fetch(new URL('/farewell', url));
    if (!heard.ok) problems.push('the page went away without a word');
  }
  console.log(JSON.stringify({ ...result, problems, browser: browser.version() }));
} finally {
  await browser.close();
}

async function shop(page) {
  await page.mouse.move(40, 40);
  await page.mouse.move(400, 300, { steps: 12 });
  await page.mouse.move(200, 160, { steps: 6 });
  await page.mouse.wheel(0, 600);
  await page.click('#add');
  await page.waitForSelector('#cart li');
  await page.fill('#voucher', '');
  await page.locator('#voucher').pressSequentially('SECRET-2026', { delay: 10 });
  await page.click('#break');
  await page.click('#add');
  await page.waitForSelector('#cart li:nth-child(2)');
  return page.evaluate(() => window.shop.finish());
}
