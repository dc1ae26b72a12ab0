// Uses the API reference as a person would, and prints what was seen as JSON.
//
//	node reference.mjs <chromium> <base url> <api key> <folder for screenshots>
import { chromium } from 'playwright-core';

const [executablePath, base, key, screenshots] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath,
  args: [
    '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  ],
});
const problems = [];
const foreign = [];
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme: 'light' });
  page.setDefaultTimeout(20000);
  page.on('pageerror', (e) => problems.push(`page: ${e.message}`));
  // A refused request of Try it is an error in the console too.
  page.on('console', (m) => { if (m.type() === 'error' && !m.text().includes('status of 401')) problems.push(`console: ${m.text()}`); });
  page.on('request', (r) => { if (!r.url().startsWith(base + '/') && !r.url().startsWith('data:')) foreign.push(r.url()); });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);

  await page.goto(base + '/v2/docs');
  await page.waitForSelector('main h1');
  const operations = await page.locator('#list section a').count();
  await page.screenshot({ path: `${screenshots}/overview.png` });

  await page.keyboard.press('/');
  await page.keyboard.type('create an api key');
  const found = await page.locator('#list section a').allInnerTexts();
  await page.keyboard.press('Enter');
  await page.waitForSelector('article.operation h1');
  const opened = { title: await page.title(), hash: new URL(page.url()).hash, curl: await page.locator('.side .code pre').first().innerText() };
  await page.screenshot({ path: `${screenshots}/operation.png` });

  await page.goto(base + '/v2/docs#/listApiKeys');
  await page.waitForSelector('article.operation form.try');
  const send = async () => {
    await page.click('form.try button.send');
    await page.waitForSelector('form.try .result p');
    return page.locator('form.try .result').innerText();
  };
  const withoutKey = await send();
  await page.fill('#key', 'svc_ak_unknown');
  await page.click('form.try button.send');
  await page.waitForSelector('form.try .result strong.bad');
  const refused = await page.locator('form.try .result').innerText();
  await page.fill('#key', key);
  await page.fill('#try-query-limit', '1');
  await page.click('form.try button.send');
  await page.waitForSelector('form.try .result strong.good');
  const answered = await page.locator('form.try .result').innerText();

  const light = await ground();
  await page.click('#theme');
  const dark = await ground();
  await page.screenshot({ path: `${screenshots}/dark.png` });

  // Fields within fields open on demand; a component has a page of its own.
  await page.goto(base + '/v2/docs#/searchTraces');
  await page.locator('details.nested summary').first().click();
  const nested = await page.locator('details.nested .field').first().innerText();
  await page.goto(base + '/v2/docs#/schema/ApiKey');
  await page.waitForFunction(() => document.querySelector('main h1')?.textContent === 'ApiKey');
  const uses = await page.locator('main .card').count();

  await page.setViewportSize({ width: 390, height: 800 });
  await page.goto(base + '/v2/docs#/createApiKey');
  await page.waitForSelector('article.operation');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  await page.screenshot({ path: `${screenshots}/narrow.png` });

  console.log(JSON.stringify({ operations, found, opened, withoutKey, refused, answered, light, dark, nested, uses, wide, problems, foreign }));
} finally {
  await browser.close();
}
