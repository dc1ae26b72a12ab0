// Takes pictures of the pages, in the light theme on a wide screen and in the dark theme on a phone.
//
//	node pictures.mjs <chromium> <folder of all pictures> <folder of those of the README> < input.json
import { open, readInput } from './harness.mjs';
import { launch } from './launch.mjs';

const [executablePath, all, readme] = process.argv.slice(2);
const input = await readInput();
const browser = await launch(executablePath);
const { page, signIn, settled } = await open(browser, all, input);
try {
  const home = await signIn();
  const window = 'from=-3h';
  /** first is the address of the first link of a page whose path begins so. */
  const first = async (path, selector) => {
    await page.goto(home + path);
    await settled();
    const link = page.locator(selector).first();
    await link.waitFor();
    return new URL(await link.getAttribute('href'), page.url());
  };
  const within = (url) => url.pathname.slice(new URL(home).pathname.length);

  await page.goto(`${home}/dashboards/templates`);
  await settled();
  await page.click('.w-templates >> text=Service Health');
  await page.fill('.w-params input >> nth=0', 'checkout');
  await page.keyboard.press('Enter');
  await page.waitForURL(/p\.service_name=checkout/);
  await page.click('button >> text=Create the dashboard');
  await page.waitForURL(/\/dashboards\/dash_/);
  const dashboard = within(new URL(page.url()));
  const slow = within(
    await first(`/traces?q=${encodeURIComponent('service.name = checkout AND duration > 400ms')}&${window}`, 'main a[href*="/traces/"]'),
  );
  const issue = within(await first(`/errors?tab=new&${window}`, 'main a[href*="/errors/"]'));
  // A recorded session with some pages. It may be further back in the list.
  await page.goto(`${home}/replays?${window}`);
  await settled();
  const recorded = page
    .locator('table.rows tbody tr:not(:has-text("not recorded"))')
    .filter({ has: page.locator('td:nth-child(2)', { hasText: /^[4-9]$/ }) });
  for (let n = 0; n < 20 && (await recorded.count()) === 0; n++) {
    await page.click('button >> text=Older');
    await settled();
  }
  const session = within(new URL(await recorded.first().locator('a.main').getAttribute('href'), page.url()));
  const agent = within(await first(`/agents?${window}`, 'table.rows a.main'));
  const bad = encodeURIComponent('severity >= WARN');
  const pages = {
    home: `?${window}`,
    services: `/services?${window}`,
    service: `/services/checkout?${window}`,
    releases: `/services/checkout?tab=releases&${window}`,
    map: `/map?${window}`,
    traces: `/traces?${window}`,
    trace: slow,
    flame: `${slow}?view=flame`,
    path: `${slow}?view=path`,
    logs: `/logs?q=${bad}&${window}`,
    patterns: `/logs?view=patterns&${window}`,
    errors: `/errors?${window}`,
    issue,
    metrics: `/metrics?m=http.server.request.duration&by=service.name&${window}`,
    incidents: `/incidents?${window}`,
    difference: `/difference?selected=${encodeURIComponent('has_error = true')}&${window}`,
    alerts: `/alerts?${window}`,
    dashboard: `${dashboard}?${window}`,
    replay: `${session}?${window}&t=20000`,
    events: `/events?${window}`,
    agent: `${agent}?${window}`,
    sql: `/sql?${window}`,
    settings: '/settings/people',
    start: '/start',
  };
  const forReadme = ['home', 'flame', 'incidents'];
  for (const [theme, width, height] of [
    ['light', 1440, 900],
    ['dark', 390, 844],
  ]) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(home + path);
      await settled();
      if (name === 'replay') await page.waitForSelector('.replaybarline input:enabled');
      await page.waitForTimeout(700); // charts draw once their code and their place are there
      await page.screenshot({ path: `${all}/${name}-${theme}.jpg`, type: 'jpeg', quality: 50 });
      if (theme === 'light' && forReadme.includes(name))
        await page.screenshot({ path: `${readme}/${name}.jpg`, type: 'jpeg', quality: 60 });
    }
  }
} finally {
  await browser.close();
}
