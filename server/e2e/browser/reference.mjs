// Uses the API reference like a person, and prints its observations as JSON.
//
//	node reference.mjs <chromium> <base url> <api key> <folder for screenshots>
import { launch, screenshot } from './launch.mjs';

const [executablePath, base, key, screenshots] = process.argv.slice(2);
const browser = await launch(executablePath);
const problems = [];
const foreign = [];
try {
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme: 'light' });
  page.setDefaultTimeout(60000);
  page.on('pageerror', (e) => problems.push(`page: ${e.message}`));
  // A refused request of "Try it" is also an error in the console.
  page.on('console', (m) => {
    if (m.type() === 'error' && !m.text().includes('status of 401')) problems.push(`console: ${m.text()}`);
  });
  page.on('request', (r) => {
    if (!r.url().startsWith(base + '/') && !/^(data|blob):/.test(r.url())) foreign.push(r.url());
  });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const section = (title) => page.locator('section', { has: page.locator('h3', { hasText: title }) }).last();

  const open = async (place) => {
    await page.goto('about:blank'); // a change of the fragment alone would not load the page again
    await page.goto(base + '/v2/docs' + place);
    await page.waitForSelector('h1');
  };

  await open('');
  // Opens every group of the navigation, so that it lists every operation.
  const closed = page.locator('aside.t-doc__sidebar button[aria-expanded="false"]');
  await closed.first().waitFor();
  while (await closed.count()) await closed.first().click();
  const operations = await page.locator('aside.t-doc__sidebar li[data-sidebar-id] a', { hasText: 'HTTP Method:' }).count();
  await screenshot(page, screenshots, 'overview');

  await page.keyboard.press('Control+k');
  await page.waitForSelector('[role=dialog] input');
  await page.keyboard.type('create an api key');
  await page.locator('[role=option]', { hasText: 'Create an API key' }).waitFor();
  const found = await page.locator('[role=option]').allInnerTexts();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await section('Create an API key').waitFor();
  await page.waitForFunction(() => location.hash.endsWith('/createApiKey'));
  const opened = {
    title: await section('Create an API key').locator('h3').first().innerText(),
    hash: new URL(page.url()).hash,
    curl: await section('Create an API key').locator('pre', { hasText: 'curl' }).first().innerText(),
  };
  await screenshot(page, screenshots, 'operation');

  await open('#tag/api-keys/listApiKeys');
  await section('List API keys').locator('button.show-api-client-button').click();
  const client = page.locator('[role=dialog][aria-label="API Client"]');
  await client.waitFor();
  // Sends the request, and returns what the page shows of an answer that holds the text.
  const send = async (text) => {
    await client.locator('button', { hasText: 'Send' }).first().click();
    await client.locator('section', { hasText: 'Response Body' }).last().getByText(text).first().waitFor();
    return client.innerText(); // with the status
  };
  const paste = async (token) => {
    const field = client
      .locator('[contenteditable=true], input')
      .and(client.locator('label:has-text("Bearer Token") *, tr:has-text("Bearer Token") *'))
      .first();
    await field.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText(token);
  };
  const withoutKey = await send('must be `Bearer`');
  await paste('svc_ak_unknown');
  const refused = await send('does not know the credential');
  await paste(key);
  const answered = await send('"Bootstrap"');
  await screenshot(page, screenshots, 'answered');
  await page.keyboard.press('Escape');
  await client.waitFor({ state: 'hidden' });

  const light = await ground();
  await page
    .getByRole('button', { name: 'Set dark mode' })
    .or(page.getByRole('switch', { name: 'Set dark mode' }))
    .first()
    .click();
  const dark = await ground();
  await screenshot(page, screenshots, 'dark');

  // Fields within fields open on demand; a component has a place of its own.
  // By a link within the page: a load of the whole document takes seconds of a processor.
  await page.evaluate(() => (location.hash = '#tag/distributed-traces/searchTraces'));
  const filters = section('Search traces')
    .locator('.property', { has: page.locator('.property-name', { hasText: 'filters' }) })
    .last();
  await filters.locator('button[aria-expanded="false"]').first().click();
  await filters.locator('.property .property-name').first().waitFor();
  const nested = await filters.locator('.property .property-name').allInnerTexts();
  await open('#model/ApiKey');
  const model = page.locator('section', { has: page.locator('h3', { hasText: /^\W*ApiKey\W*$/ }) }).last();
  await model.locator('.property-name', { hasText: 'key_prefix' }).waitFor();
  const fields = await model.locator('.property-name').allInnerTexts();

  await page.setViewportSize({ width: 390, height: 800 });
  await open('#tag/api-keys/createApiKey');
  await section('Create an API key').waitFor();
  const wide = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  await screenshot(page, screenshots, 'narrow');

  console.log(
    JSON.stringify({ operations, found, opened, withoutKey, refused, answered, light, dark, nested, fields, wide, problems, foreign }),
  );
} finally {
  await browser.close();
}
