// How old a page is and what it waits for: it refreshes by itself, its link keeps its times, a slow answer can be stopped, and Home says
// when telemetry has stopped and that alerts fire.
export default async ({ page, context, home, settled, check, problems }) => {
  const must = (right, what) => right || problems.push(`refresh: ${what}`);
  const json = (body) => ({ status: 200, contentType: 'application/json', body: JSON.stringify(body) });
  const services = '**/svc.v2.ServicesService/ListServices';

  // The page asks again by itself, but not while a person types.
  await page.goto(`${home}/services?from=-3h`);
  await settled();
  let asked = 0;
  page.on('request', (r) => {
    if (/ServicesService\/ListServices$/.test(r.url())) asked++;
  });
  await page.selectOption('select[aria-label="Refresh by itself"]', '10');
  await page.focus('main [data-bar]');
  await page.waitForTimeout(12_000);
  must(asked === 0, `the page asked ${asked} times under the hands of a person`);
  await page.locator('main [data-bar]').blur();
  await page.waitForRequest(services);
  await settled();
  await page.reload();
  must((await page.inputValue('select[aria-label="Refresh by itself"]')) === '10', 'the tab forgets its choice');
  await page.selectOption('select[aria-label="Refresh by itself"]', '0');

  // `y` copies a link with fixed times, and `Y` the address.
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${home}/services?from=-3h&q=cart`);
  await settled();
  const copied = async (key) => {
    await page.keyboard.press(key);
    await page.waitForSelector('.told >> text=is copied');
    return new URL(await page.evaluate(() => navigator.clipboard.readText()));
  };
  const fixed = (await copied('y')).searchParams;
  must(Date.parse(fixed.get('to')) - Date.parse(fixed.get('from')) === 3 * 3_600_000, `the copied link has ${fixed}`);
  must(fixed.get('q') === 'cart', 'the copied link lost the filter');
  must((await copied('Shift+Y')).href === page.url(), 'the address itself is not copied');

  // A slow answer: the seconds, Stop, and on again.
  const waiting = [];
  await page.route(services, (route) => waiting.push(route));
  await page.goto(`${home}/services?from=-2h`);
  await page.click('main .state button >> text=Stop');
  await page.waitForSelector('main >> text=You stopped it');
  await check('stopped-light-1440');
  await page.unroute(services);
  await page.click('main button >> text=Load it');
  await page.waitForSelector('table.data a.main >> text=cart');
  for (const route of waiting) await route.abort().catch(() => {});

  // A filter that leaves no service says so.
  await page.fill('main [data-bar]', 'no such service');
  await page.waitForSelector('main >> text=No service has “no such service” in its name');
  await page.click('main button >> text=Show all');
  await page.waitForSelector('table.data a.main >> text=cart');

  // Telemetry has stopped, nothing could be compared, and alerts fire.
  const hourAgo = new Date(Date.now() - 3_700_000).toISOString();
  await page.route('**/svc.v2.InstrumentationService/GetTelemetrySignals', (route) =>
    route.fulfill(json({ signals: [{ signal: 'traces', status: 'present', lastSeen: hourAgo }] })),
  );
  await page.route('**/svc.v2.DiagnosisService/SearchIncidents', (route) => route.fulfill(json({ data: [] })));
  const open = [1, 2, 3].map((n) => ({ id: `inc_${n}`, ruleName: `Rule ${n}`, severity: 'critical', firstTriggeredAt: hourAgo }));
  await page.route('**/svc.v2.AlertIncidentsService/ListAlertIncidents', (route) => route.fulfill(json({ data: open })));
  for (const [theme, width, height] of [
    ['light', 1440, 900],
    ['dark', 390, 844],
  ]) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    await page.goto(`${home}?from=-24h`);
    await settled();
    await page.waitForSelector('main >> text=No span came for 1');
    await page.waitForSelector('main >> text=Nothing could be compared');
    await page.waitForSelector('nav.side a[data-firing="3"]', { state: 'attached' });
    await check(`silent-${theme}-${width}`);
  }
  await page.click('button[aria-label=Navigation]');
  await page.waitForSelector('nav.side a[data-firing="3"]');
  await check('navigation-dark-390');
  return {};
};
