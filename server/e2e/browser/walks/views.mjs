// Saved views: saved, listed, opened by the bar and the palette, renamed, shared and deleted; others see the shared ones. The theme of a
// person, and their time zone, are the same in a second browser.
export default async ({ page, home, browser, allow, settled, check, problems }, { base }) => {
  const must = (right, what) => right || problems.push(`views: ${what}`);
  const query = (p) => new URL(p.url()).searchParams.get('q');
  const row = (p, name) => p.locator('.savedviews li', { hasText: name });
  const save = async (p, name, { shared = false, note = '' } = {}) => {
    await p.click('.pagehead >> text=Save view');
    await p.fill('dialog input[name=name]', name);
    if (note) await p.fill('dialog textarea', note);
    if (shared) await p.check('dialog input[name=shared]');
    await p.click('dialog button >> text=Save');
  };
  const saved = async (p, name, options) => {
    await save(p, name, options);
    await p.waitForSelector('dialog[open]', { state: 'detached' });
  };
  const list = async (p) => {
    await p.click('.pagehead >> text=Saved views');
    await p.waitForSelector('dialog .savedviews, dialog .state');
  };
  const close = async (p) => {
    await p.keyboard.press('Escape');
    await p.waitForSelector('dialog[open]', { state: 'detached' });
  };
  const act = async (p, name, what) => {
    const open = await row(p, name).locator('button[aria-expanded]').getAttribute('aria-expanded');
    if (open !== 'true') await row(p, name).locator('button[aria-expanded]').click();
    await row(p, name).locator(`.acts >> text=${what}`).click();
  };

  // A view keeps the filter. Its name is taken for the page.
  await page.goto(`${home}/traces?from=-6h&to=now&q=${encodeURIComponent('service.name = "cart"')}`);
  await settled();
  await saved(page, 'Cart <b>only</b>', { note: 'Traces of the cart.' });
  allow(/status of 409/);
  await save(page, 'Cart <b>only</b>');
  await page.waitForSelector('dialog .formfield:has(input[name=name]) .bad');
  await close(page);
  allow(/^$/);
  await page.goto(`${home}/traces?q=${encodeURIComponent('has_error = true')}`);
  await settled();
  await saved(page, 'Failed', { shared: true });

  // ↓ in an empty bar lists the views of the page, and Enter opens one.
  await page.goto(`${home}/traces`);
  await settled();
  await page.focus('[data-bar]');
  await page.keyboard.press('ArrowDown');
  await page.waitForSelector('.wherebox [role=option] >> text=Failed');
  await check('views-bar-light-1440');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=service/);
  must(query(page) === 'service.name = "cart"' && page.url().includes('from=-6h'), `the first view opens ${page.url()}`);

  // The palette finds a view by its name.
  await page.goto(`${home}/logs`);
  await settled();
  await page.keyboard.press('Control+k');
  await page.waitForSelector('dialog.palette');
  await page.keyboard.type('failed');
  await page.waitForSelector('dialog.palette [role=option] >> text=View of Traces');
  await page.click('dialog.palette [role=option]:has-text("View of Traces")');
  await page.waitForURL(/\/traces\?.*q=has_error/);

  // The list renames, shares, replaces and deletes.
  await settled();
  await list(page);
  must((await row(page, 'Cart').innerText()).includes('Cart <b>only</b>'), 'a name is no plain text');
  await act(page, 'Cart', 'Rename');
  await page.fill('.savedviews input[name=name]', 'Cart');
  await page.click('.savedviews button >> text=Rename');
  await row(page, 'Cart').locator('.chip >> text=private').waitFor();
  await act(page, 'Cart', 'Share with all members');
  await row(page, 'Cart').locator('.chip >> text=shared by you').waitFor();
  await act(page, 'Cart', 'Make it private');
  await row(page, 'Cart').locator('.chip >> text=private').waitFor();
  await act(page, 'Cart', 'Replace with this page');
  await close(page);
  await page.goto(`${home}/traces`);
  await settled();
  await list(page);
  await row(page, 'Cart').locator('a').click();
  await page.waitForURL(/q=has_error/);

  // A statement of SQL, and a funnel of events.
  await page.goto(`${home}/sql?sql=${encodeURIComponent('SELECT 42 AS answer -- #1;\n')}`);
  await page.waitForSelector('.cm-content >> text=answer');
  await saved(page, 'Answer');
  await page.goto(`${home}/sql?sql=${encodeURIComponent('SELECT 1')}`);
  await page.waitForSelector('.cm-content >> text=SELECT 1');
  await list(page);
  await row(page, 'Answer').locator('a').click();
  await page.waitForSelector('.cm-content >> text=answer');
  await page.goto(`${home}/events/funnels`);
  await settled();
  await saved(page, 'A funnel');
  await page.goto(`${home}/events`);
  await settled();
  await list(page);
  await row(page, 'A funnel').locator('a').click();
  await page.waitForURL(/\/events\/funnels/);
  for (const path of ['logs', 'metrics', 'errors']) {
    await page.goto(`${home}/${path}`);
    await settled();
    await saved(page, `Of ${path}`);
  }

  // The pages of services, map, incidents, replays and agents: what each keeps of its address comes back.
  for (const [path, kept] of Object.entries({
    'services?q=car&sort=p95&from=-6h': /\/services\?.*q=car.*sort=p95/,
    'map?node=service%3Acart&from=-6h': /\/map\?.*node=service%3Acart/,
    'incidents?service=cart&i=0&from=-6h': /\/incidents\?(?!.*\bi=).*service=cart/,
    'replays?errors=1&from=-6h': /\/replays\?.*errors=1/,
    'agents/tools?from=-6h': /\/agents\/tools\?/,
  })) {
    const at = path.split(/\W/)[0];
    await page.goto(`${home}/${path}`);
    await settled();
    await saved(page, `Of ${at}`);
    await page.goto(`${home}/${at}`);
    await settled();
    await list(page);
    await row(page, `Of ${at}`).locator('a').click();
    await page.waitForURL(kept);
    await page.waitForURL(/from=-6h/);
  }
  // The filter of the services narrows the table, and stays in the address.
  await page.goto(`${home}/services?from=-6h`);
  await settled();
  await page.fill('[data-bar]', 'cart');
  await page.waitForURL(/q=cart/);
  must((await page.locator('table.data tbody tr').count()) === 1, 'the filter of the services leaves others');

  // Both dialogs, wide and on a phone, in both themes.
  for (const [theme, width, height] of [
    ['light', 1440, 900],
    ['dark', 1440, 900],
    ['light', 390, 844],
    ['dark', 390, 844],
  ]) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    await page.goto(`${home}/traces?q=${encodeURIComponent('has_error = true')}`);
    await settled();
    await check(`views-head-${theme}-${width}`);
    await page.click('.pagehead >> text=Save view');
    await page.waitForSelector('dialog input[name=name]');
    await check(`views-save-${theme}-${width}`);
    await close(page);
    await list(page);
    await row(page, 'Cart').locator('button[aria-expanded]').click();
    await check(`views-list-${theme}-${width}`);
    await close(page);
  }
  await page.setViewportSize({ width: 1440, height: 900 });

  // A second person sees the shared view only, and cannot change it.
  const { link } = await page.evaluate(async () => {
    const answer = await fetch('/svc.v2.OrganizationService/CreateInvitation', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Svc-Ui': '1' },
      body: '{}',
    });
    return answer.json();
  });
  const person = { email: 'views@example.com', password: 'the password of a member' };
  const contextOf = async () => (await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'light' })).newPage();
  const guest = await contextOf();
  await guest.goto(link);
  await guest.fill('input[name=email]', person.email);
  await guest.fill('input[name=password]', person.password);

  await guest.click('form.fields button');
  await guest.waitForURL((u) => u.pathname.startsWith('/o/') || u.pathname === '/' || u.pathname === '/programs');
  await guest.goto(`${home}/traces`);
  await list(guest);
  const theirs = await guest.locator('.savedviews li').allInnerTexts();
  must(theirs.length === 1 && theirs[0].includes('Failed'), `another member sees ${theirs}`);
  must((await row(guest, 'Failed').locator('button').count()) === 0, 'another member may change a shared view');
  await close(guest);

  // The theme of one browser is that of the next, and no page is drawn in another one first.
  const theme = (p) => p.evaluate(() => document.documentElement.dataset.theme);
  await guest.goto(`${home}/settings/me`);
  const told = guest.waitForResponse(/PreferencesService\/UpdatePreferences/);
  await guest.check('input[name=theme][value=dark]');
  await told;
  const second = await contextOf();
  await second.goto(`${base}/login`);
  await second.fill('input[name=email]', person.email);
  await second.fill('input[name=password]', person.password);
  await second.click("form[action='/login'] button");
  await second.waitForURL((u) => u.pathname !== '/login');
  await second.goto(`${home}/services`);
  await second.waitForFunction(() => document.documentElement.dataset.theme === 'dark');
  await second.addInitScript(() => {
    document.addEventListener('DOMContentLoaded', () => {
      window.themes = [];
      new MutationObserver(() => window.themes.push(document.documentElement.dataset.theme)).observe(document.documentElement, {
        attributes: true,
        attributeFilter: ['data-theme'],
      });
    });
  });
  await second.reload();
  await second.waitForSelector('main h1');
  must((await theme(second)) === 'dark', 'the second browser has another theme after a reload');
  const changes = await second.evaluate(() => window.themes);
  must(!changes.includes(undefined) && !changes.includes('light'), `the theme flashed: ${changes}`);
  const back = second.waitForResponse(/PreferencesService\/UpdatePreferences/);
  await second.click('.face');
  await second.click('.accountmenu button >> text=light');
  await back;
  await guest.goto(`${home}/services`);
  await guest.waitForFunction(() => document.documentElement.dataset.theme === 'light');

  // The zone of one browser is that of the next. Times are shown and read in it.
  const kept = (p) => p.waitForResponse((r) => /PreferencesService\/UpdatePreferences/.test(r.url()) && r.ok());
  await guest.goto(`${home}/settings/me`);
  const zone = guest.locator('main input[aria-label="Another time zone"]');
  await zone.fill('Mars/Olympus');
  await zone.press('Enter');
  await guest.waitForSelector('main .zones .bad >> text=No zone has this name');
  const zoned = kept(guest);
  await zone.fill('Asia/Kathmandu');
  await zone.press('Enter');
  await zoned;
  await guest.waitForSelector('[data-time] >> text=UTC+5:45');
  await second.goto(`${home}/services`);
  await second.waitForSelector('[data-time] >> text=UTC+5:45');
  await second.click('[data-time]');
  await second.fill('.picker form input', '2026-01-31 08:00..2026-01-31 09:30');
  await second.keyboard.press('Enter');
  await second.waitForURL((u) => u.searchParams.get('from') === '2026-01-31T02:15:00.000Z');
  must(new URL(second.url()).searchParams.get('to') === '2026-01-31T03:45:00.000Z', `the typed window is ${second.url()}`);
  must((await second.locator('[data-time]').innerText()).includes('2026-01-31 08:00'), 'the window is not shown in its zone');
  await second.click('[data-time]');
  const browserZone = kept(second);
  await second.click('.picker button >> text=Browser');
  await browserZone;
  await second.waitForSelector('[data-time] >> text=2026-01-31 02:15');
  await second.click('.picker button >> text=Last 1 hour');

  // The end: nothing is left of the view.
  await page.goto(`${home}/traces`);
  await settled();
  await list(page);
  await act(page, 'Failed', 'Delete');
  await row(page, 'Failed').locator('button.danger').click();
  await row(page, 'Failed').waitFor({ state: 'detached' });
  return {};
};
