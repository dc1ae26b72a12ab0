// Places: the map of services, the sessions of visitors, and the settings with their keys, people and targets.
export default async ({ page, home, look, settled, allow, problems }, { base, visitor }) => {
  const window = 'from=-3h';
  await page.goto(`${home}/replays?${window}`);
  await settled();
  // The session of the hostile visitor has a walk of its own. It is the newest when the demo's last session ended before it.
  const harmless = page.locator('table.rows tbody tr').filter({ hasNotText: visitor });
  const link = await harmless.locator('a.main').first().getAttribute('href');
  const session = new URL(link, base).pathname.split('/').pop();
  await look(home, {
    map: `/map?${window}`,
    mapservice: `/map?service=cart&${window}`,
    replays: `/replays?${window}`,
    replay: `/replays/${session}?${window}`,
    noreplays: '/replays?q=nobody',
    settings: '/settings',
    people: '/settings/people',
    apikeys: '/settings/api-keys',
    ingestkeys: '/settings/ingest-keys',
    targets: '/settings/scrape-targets',
    audit: `/settings/audit-log?${window}`,
  });
  const must = (good, text) => {
    if (!good) problems.push(`places: ${text}`);
  };

  // A service of the map shows its callers and its calls; a row of them leads on, by the keyboard.
  await page.goto(`${home}/map?${window}`);
  await page.locator('.mapnode').filter({ hasText: 'checkout' }).first().click();
  await page.waitForURL(/node=service/);
  await page.waitForSelector('h2 >> text=Callers');
  const calls = page.locator('section.panel').filter({ has: page.locator('h2', { hasText: /^Calls$/ }) });
  must((await calls.locator('tbody tr').count()) > 0, 'checkout calls nothing');
  await calls.locator('a.main').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => new URL(location.href).searchParams.get('node') !== 'service:checkout');
  await page.goto(`${home}/map?service=no-such-service&${window}`);
  await page.waitForSelector('text=The chosen service has no calls');

  // A session: its events in the order of time, and a filter that leaves none.
  await page.goto(`${home}/replays?${window}`);
  await settled();
  await page.locator('.facets button').first().click();
  await page.waitForURL(/[?&](service|browser)=/);
  await settled();
  // The newest session may have sent nothing but its first trace yet.
  const clicked = harmless.filter({ has: page.locator('td:nth-child(3)', { hasText: /[1-9]/ }) });
  await clicked
    .filter({ has: page.locator('td:nth-child(4)', { hasText: /^0$/ }) })
    .first()
    .locator('a.main')
    .click();
  await page.waitForSelector('.replayevent');
  const words = await page.locator('.replayevent').allInnerTexts();
  must(
    words.some((t) => t.includes('Page')),
    `the session has no page: ${words.slice(0, 3)}`,
  );
  await page.click('button >> text=Errors only');
  await page.waitForURL(/errors=1/);
  // A request that the server refused is shown, too, and the session does not count it.
  await page.waitForFunction(() => {
    const shown = [...document.querySelectorAll('.replayevent')];
    return shown.length ? shown.every((e) => e.innerText.includes('Error')) : document.body.innerText.includes('The session has no errors');
  });

  // A short link opens in the organization that it names, and its address becomes that of the page.
  await page.goto(`${base}/replays/${session}?org=org_unknown&${window}`);
  await page.waitForURL((u) => u.pathname.endsWith(`/replays/${session}`) && u.pathname.startsWith('/o/') && !u.searchParams.has('org'));
  await page.waitForSelector('h2 >> text=Events');
  await page.goto(`${base}/alerts/incidents/inc_none`);
  allow(/status of 40[04]/);
  await page.waitForURL(/\/o\/[^/]+\/alerts\/incidents\/inc_none/);
  await page.waitForSelector('[role=alert]');

  // Settings: a name that is empty is refused, a key shows its secret once, and ends.
  await page.goto(`${home}/settings/api-keys`);
  await page.click('button >> text=New key');
  await page.fill('input[name=name]', 'Key of a walk');
  allow(/status of 400/);
  await page.fill('dialog[open] .many input', 'no such scope');
  await page.keyboard.press('Enter');
  await page.click('dialog[open] button >> text=Create');
  await page.waitForSelector('dialog[open] .bad');
  await page.click('dialog[open] .chip button');
  await page.click('dialog[open] button >> text=Create');
  const secret = await page.locator('dialog[open] .secret code').innerText();
  must(/^svc_ak_/.test(secret), `the secret is ${secret.slice(0, 8)}…`);
  await page.click('dialog[open] button >> text=Done');
  await settled();
  must(!(await page.content()).includes(secret), 'the secret of a key stays on the page');
  await page.click('button[aria-label="Change Key of a walk"]');
  await page.click('[role=menuitem] >> text=Revoke');
  await page.click('dialog[open] button >> text=Revoke');
  await page.waitForSelector('tr:has-text("Key of a walk") >> text=revoked');

  await page.goto(`${home}/settings/people`);
  await page.fill('input[name=email]', 'walker@example.com');
  await page.click('button >> text=Invite');
  must((await page.locator('dialog[open] .secret code').innerText()).startsWith(`${base}/invite`), 'an invitation has no link');
  await page.click('dialog[open] button >> text=Done');
  await page.click('button[aria-label="Revoke the invitation of walker@example.com"]');
  await page.waitForSelector('text=No invitation is open');

  await page.goto(`${home}/settings/ingest-keys`);
  await page.click('button >> text=New key');
  await page.fill('input[name=name]', 'Sender of a walk');
  await page.uncheck('input[value=sessions]');
  await page.click('dialog[open] button >> text=Create');
  await page.waitForSelector('dialog[open] .secret code');
  await page.click('dialog[open] button >> text=Done');
  await page.waitForSelector('tr:has-text("Sender of a walk") >> text=traces, logs, metrics, events');

  // A connector of log push shows its destination once, can be renamed, and ends.
  await page.goto(`${home}/settings/integrations`);
  await page.click('button >> text=New connector');
  await page.fill('dialog[open] input[name=name]', 'Zone of a walk');
  await page.fill('dialog[open] input[name=zone]', 'walk.example');
  await page.click('dialog[open] button >> text=Create');
  const destination = await page.locator('dialog[open] .secret code').innerText();
  must(/\/v1\/logpush\/cloudflare\/http_requests\/cfp_\w+\?secret=svc_cf_/.test(destination), 'a connector has no destination');
  await page.click('dialog[open] button >> text=Done');
  await page.click('button[aria-label="Change Zone of a walk"]');
  await page.click('[role=menuitem] >> text=Edit');
  await page.fill('dialog[open] input[name=service]', 'edge-of-a-walk');
  await page.click('dialog[open] button >> text=Save');
  await page.waitForSelector('tr:has-text("Zone of a walk") >> text=edge-of-a-walk');
  await page.click('button[aria-label="Change Zone of a walk"]');
  await page.click('[role=menuitem] >> text=New secret');
  await page.click('dialog[open] button >> text=New secret');
  await page.waitForSelector('dialog[open] .secret code');
  must((await page.locator('dialog[open] .secret code').innerText()) !== destination, 'a new secret is the old one');
  await page.click('dialog[open] button >> text=Done');
  await settled();
  must(!(await page.content()).includes('?secret='), 'the secret of a connector stays on the page');
  await page.click('button[aria-label="Change Zone of a walk"]');
  await page.click('[role=menuitem] >> text=Delete');
  await page.click('dialog[open] button >> text=Delete');
  await page.waitForSelector('text=No zone pushes its logs');

  // An address that the server may not call is refused at the field.
  await page.goto(`${home}/settings/scrape-targets?new=1`);
  await page.fill('input[name=name]', 'Target of a walk');
  await page.fill('input[name=url]', 'http://169.254.169.254/metrics');
  await page.click('dialog[open] button >> text=Save');
  await page.waitForSelector('dialog[open] .bad');
  await page.fill('input[name=url]', 'https://metrics.example.com/metrics');
  await page.click('dialog[open] button >> text=Save');
  await page.waitForSelector('tr:has-text("Target of a walk")');
  await page.click('button[aria-label="More about Target of a walk"]');
  await page.click('[role=menuitem] >> text=Edit');
  await page.fill('input[name=scrape_interval_seconds]', '45');
  await page.click('dialog[open] button >> text=Save');
  await page.waitForSelector('tr:has-text("Target of a walk") >> text=45 s');
  await page.click('a[aria-label="Checks of Target of a walk"]');
  await page.waitForSelector('dialog[open]');

  // The log has the changes of this walk, with their values.
  await page.goto(`${home}/settings/audit-log?${window}&action=api_key.revoked`);
  await page.locator('td button[aria-expanded]').first().click();
  await page.waitForSelector('pre.changes');
};
