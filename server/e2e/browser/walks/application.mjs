// The application as a whole: the sign-in that leads back to the page, every page on demo data and on hostile telemetry, filters, failures
// and drafts, and requests of other origins.
import { createServer } from 'node:http';

export const signsIn = true;

export default async ({ page, allow, own, signIn, settled, look, failure }, { base, trace, marker }) => {
  const seen = {};
  const other = createServer((_, res) => res.setHeader('Content-Type', 'text/html').end('<!doctype html><title>other</title>'));
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
  const otherBase = `http://127.0.0.1:${other.address().port}`;
  try {
    own.push(otherBase);
    const home = await signIn('/o/default/logs?q=before');
    seen.returned = page.url();

    const pages = {
      home: '',
      start: '/start',
      services: '/services',
      service: '/services/cart',
      dependencies: '/services/cart?tab=dependencies',
      traces: '/traces',
      logs: '/logs',
      patterns: '/logs?view=patterns',
      errors: '/errors',
      metrics: '/metrics?m=http.server.request.duration',
      alerts: '/alerts',
      trace: `/traces/${trace}`,
      span: `/traces/${trace}?span=00000000000000a2`,
      hostile: `/logs?q=${encodeURIComponent(marker)}`,
    };
    await look(home, pages, async (name) => {
      if (name !== 'hostile') return;
      await page.click('.log >> nth=0');
      await page.waitForSelector('.record');
    });
    seen.hacked = await page.evaluate(() => String(window.hacked));
    seen.hostile = await page.locator('.record').innerText();

    // A walk with the mouse: from the services to a span of a trace.
    await page.goto(home + '/services');
    await page.click('table a.main >> text=cart');
    await page.waitForURL(/\/services\/cart/);
    await page.click('a.button >> text=Traces');
    await page.waitForURL(/\/traces\?/);
    seen.filter = await page.inputValue('[data-bar]');
    await page.click('table.rows a.main >> nth=0');
    await page.waitForSelector('.spanrow');
    seen.spans = await page.locator('.spanrow').count();
    // The keyboard moves through the spans.
    await page.focus('[role=treegrid]');
    await page.keyboard.press('ArrowDown');
    await page.waitForURL(/span=/);
    await page.waitForSelector('.details h2');
    await page.goBack();
    seen.back = new URL(page.url()).pathname.includes('/traces');

    // The palette leads to a page by the keyboard.
    await page.keyboard.press('Control+k');
    await page.waitForSelector('dialog.palette');
    await page.keyboard.type('errors');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/errors/);

    // A filter that matches nothing, and one that cannot be read.
    await page.goto(home + '/logs?q=' + encodeURIComponent('service.name = nobody'));
    await page.waitForSelector('.state h2');
    seen.nothing = await page.locator('.state h2').first().innerText();
    await page.goto(`${home}/logs?q=${encodeURIComponent('service.name = "chart"')}`);
    await page.waitForSelector('.state p >> text=nearest name');
    seen.unknown = await page.locator('.state').first().innerText();
    allow(/status of 400/);
    await page.goto(home + '/logs?q=' + encodeURIComponent('a = 1 OR'));
    seen.unreadable = await page.locator('.whereerror').innerText();
    await settled(); // each request of the page is refused

    // The server fails: the page says so and tries again.
    allow(/status of (401|503)/);
    await page.route('**/svc.v2.LogsService/SearchLogs', (route) => route.fulfill(failure(503, 'planned', 'Planned')));
    await page.goto(home + '/logs');
    seen.failed = await page.locator('.state.failed').first().innerText();
    await page.unroute('**/svc.v2.LogsService/SearchLogs');
    await page.click('.state.failed button >> text=Try again');
    await page.waitForSelector('.log');

    // The session ends while a person types: the text stays.
    await page.fill('[data-bar]', 'a draft');
    await page.keyboard.press('Escape');
    await page.route('**/svc.v2.*/**', (route) => route.fulfill(failure(401, 'planned', 'Session ended')));
    await page.click('button[aria-label=Refresh]');
    await page.waitForSelector('dialog[open] >> text=You were signed out');
    seen.draft = await page.inputValue('[data-bar]');
    await page.unroute('**/svc.v2.*/**');
    await page.click('dialog[open] button');
    await page.waitForSelector('dialog[open]', { state: 'detached' });

    // Attacks with this person's cookie: without the mark on our own page, and from another port of the same host.
    allow(/.*/);
    const attempt = (address, init) =>
      page.evaluate(
        async ([a, i]) => {
          try {
            return (await fetch(a, i)).status;
          } catch {
            return 'refused';
          }
        },
        [address, init],
      );
    const json = { method: 'POST', body: '{}', credentials: 'include', headers: { 'Content-Type': 'application/json' } };
    const session = base + '/svc.v2.SessionsService/GetSession';
    seen.ours = await attempt(session, { ...json, headers: { ...json.headers, 'X-Svc-Ui': '1' } });
    seen.unmarked = await attempt(session, json);
    seen.rest = await attempt(base + '/v2/session', { headers: { 'X-Svc-Ui': '1' } });
    await page.goto(otherBase);
    seen.otherPort = await attempt(session, { ...json, headers: { ...json.headers, 'X-Svc-Ui': '1' } });
    const answers = [];
    page.on('response', (r) => {
      if (r.url() === session) answers.push(r.status());
    });
    await attempt(session, { method: 'POST', mode: 'no-cors', body: '{}', credentials: 'include' });
    await page.waitForTimeout(200);
    seen.simple = [...answers];

    // Signing out ends the session.
    allow(/status of 401/);
    await page.goto(home);
    await page.click('.face');
    await page.click('.accountmenu button >> text=Sign out');
    await page.waitForURL(/\/login/);
    await page.goto(home);
    await page.waitForURL(/\/login/);
    return seen;
  } finally {
    other.close();
  }
};
