// Walks through the pages of the test of the browser SDK, and prints what the pages saw.
//
//	node sdk.mjs < {"chromium": "...", "site": "http://...", "screenshots": "<folder>"}
import { readInput } from './harness.mjs';
import { launch, screenshot } from './launch.mjs';

const { chromium, site, screenshots } = await readInput();
const browser = await launch(chromium);
const report = { problems: [] };

async function open(path, watch = true) {
  const context = await browser.newContext({ viewport: { width: 900, height: 640 } });
  const page = await context.newPage();
  page.setDefaultTimeout(30000);
  if (watch) page.on('console', (m) => m.text().startsWith('svc:') && report.problems.push(`${path}: ${m.text()}`));
  const refused = [];
  page.on('console', (m) => /Content Security Policy|Trusted/.test(m.text()) && refused.push(m.text()));
  await page.goto(site + path);
  return { context, page, refused };
}

const stored = (page) => page.evaluate(() => JSON.stringify([Object.keys(sessionStorage), Object.keys(localStorage), document.cookie]));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** until waits at most a minute for the condition. */
async function until(condition) {
  for (let waited = 0; !condition() && waited < 60000; waited += 100) await pause(100);
}

/** use does on a page what a person would do. */
async function use(page) {
  await page.mouse.move(40, 40);
  await page.mouse.move(400, 300, { steps: 12 });
  await page.click('#add');
  await page.waitForSelector('#cart li');
  await page.fill('#voucher', '');
  await page.locator('#voucher').pressSequentially('SECRET-TYPED');
  await page.locator('#password').pressSequentially('SECRET-PASS');
  await page.click('#show');
  await page.locator('#password').pressSequentially('SECRET-MORE');
  await page.locator('#card').pressSequentially('SECRET-CARD');
  await page.locator('#note').pressSequentially('SECRET-NOTE');
  await page.click('#break');
  await page.click('#reject');
  await page.click('#far');
  await page.click('#old');
  await pause(1500);
}

const state = (page) =>
  page.evaluate(() => ({ session: window.svc?.getSessionId() ?? null, errors: window.errors, rejections: window.rejections }));

try {
  {
    const { context, page } = await open('/visit?utm_source=letter&session_token=SECRET-QUERY');
    await page.waitForFunction(() => window.svc?.getSessionId?.());
    await page.waitForFunction(() => performance.getEntriesByType('resource').some((e) => e.name.endsWith('/sessionReplays/meta')));
    await pause(300); // the recorder loads
    await use(page);
    await screenshot(page, screenshots, 'sdk');
    report.visit = await state(page);
    await page.goto(site + '/visit/second'); // another page of the session
    await page.waitForFunction(() => window.svc?.getSessionId?.());
    report.second = await state(page);
    await page.evaluate(() => window.svc.captureException(new RangeError('handled by the page'), { step: 'checkout' }));
    await pause(300);
    await page.goto('about:blank');
    await pause(500);
    await context.close();
  }
  {
    const { context, page, refused } = await open('/strict');
    await page.waitForSelector('body[data-session]');
    await pause(500);
    await page.click('#add');
    await page.waitForSelector('#cart li');
    report.strict = { session: await page.getAttribute('body', 'data-session'), refused };
    await page.goto('about:blank');
    await pause(300);
    await context.close();
  }
  {
    const { context, page } = await open('/consent');
    await page.waitForFunction(() => window.svc && !window.svc.q);
    await page.click('#add');
    await page.waitForSelector('#cart li');
    await pause(500);
    report.consent = { before: await stored(page), session: await page.evaluate(() => window.svc.getSessionId()) };
    await page.evaluate(() => window.svc.setConsent(true));
    await page.evaluate(() => window.svc.track('agreed'));
    await pause(6000);
    report.consent.during = await page.evaluate(() => window.svc.getSessionId());
    report.consent.held = await stored(page);
    await page.evaluate(() => {
      window.svc.track('taken back');
      window.svc.setConsent(false);
    });
    await page.evaluate(() => window.svc.track('after no'));
    report.consent.after = await stored(page);
    await page.goto('about:blank');
    await context.close();
  }
  for (const name of ['blocked', 'revoked']) {
    const { context, page } = await open(`/${name}`, false);
    const warnings = [];
    page.on('console', (m) => m.text().startsWith('svc:') && warnings.push(m.text()));
    await page.waitForFunction(() => window.svc && !window.svc.q);
    await use(page);
    if (name === 'revoked') await until(() => warnings.length > 0); // the SDK learns it from the first answer
    await pause(name === 'revoked' ? 6000 : 500); // no further request follows
    report[name] = { ...(await state(page)), cart: await page.textContent('#cart'), warnings };
    await page.goto('about:blank');
    await context.close();
  }
  console.log(JSON.stringify(report));
} finally {
  await browser.close();
}
