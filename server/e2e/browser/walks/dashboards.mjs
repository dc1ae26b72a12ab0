// Dashboards: templates, every kind of widget, the editor by mouse and keyboard, drafts, two people who save, versions, links for
// outsiders.
import { createServer } from 'node:http';

const query = (more = {}) => ({
  id: 'a',
  name: 'A',
  enabled: true,
  dataSource: 'traces',
  aggregation: 'count',
  whereClause: '',
  groupBy: [],
  addOns: { groupBy: (more.groupBy ?? []).length > 0 },
  ...more,
});
const source = (shape, more) => ({ kind: 'query', resultShape: shape, queries: [query(more)] });
const by = { groupBy: ['service.name'] };
const steps = [
  { kind: 'page', pagePath: '/' },
  { kind: 'page', pagePath: '/cart' },
];
const sql =
  'SELECT ServiceName AS name, count() AS value FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp) AND ServiceName IN ($service) GROUP BY name ORDER BY value DESC';
const markdown =
  '# Runbook\n\n**bold** `code` [wiki](https://example.com) [bad](javascript:alert(1))\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n![picture](https://example.com/x.png)\n\n<img src=x onerror="window.hacked=9">';
const kinds = [
  ['stat', 'stat', source('timeseries', { whereClause: 'service.name = $service' }), { title: 'Spans', sparkline: { enabled: true } }],
  [
    'compared',
    'stat',
    { ...source('timeseries', { aggregation: 'p95_duration' }), comparison: { mode: 'previous_period', includePercentChange: true } },
    { title: 'p95', unit: 'duration_ms', thresholds: [{ value: 1, color: 'amber', label: 'slow' }] },
  ],
  ['gauge', 'gauge', source('timeseries', { aggregation: 'error_rate' }), { title: 'Errors', unit: 'percent', gauge: { max: 0.1 } }],
  [
    'flat',
    'gauge',
    source('timeseries', { aggregation: 'error_rate' }),
    { title: 'Errors as a bar', unit: 'percent', gauge: { max: 0.1, style: 'bar' } },
  ],
  [
    'line',
    'chart',
    source('timeseries', { aggregation: 'p95_duration', ...by }),
    {
      title: 'p95 by service',
      chartId: 'query-builder-line',
      unit: 'duration_ms',
      thresholds: [{ value: 500, color: 'red', label: 'objective' }],
    },
  ],
  [
    'area',
    'chart',
    source('timeseries', { aggregation: 'rate', ...by }),
    { title: 'Rate', chartId: 'query-builder-area', stacked: true, chartPresentation: { legend: 'right' } },
  ],
  [
    'bar',
    'chart',
    source('timeseries', { dataSource: 'logs', groupBy: ['severity'] }),
    { title: 'Logs', chartId: 'query-builder-bar', stacked: true, chartPresentation: { seriesStats: true } },
  ],
  ['table', 'table', source('breakdown', by), { title: 'Table' }],
  ['pie', 'pie', source('breakdown', by), { title: 'Pie' }],
  ['ranking', 'hbar', source('breakdown', { aggregation: 'p95_duration', ...by }), { title: 'Ranking', unit: 'duration_ms' }],
  ['histogram', 'histogram', source('timeseries', { aggregation: 'p95_duration', ...by }), { title: 'Histogram', unit: 'duration_ms' }],
  ['heatmap', 'heatmap', source('timeseries', by), { title: 'Heatmap' }],
  ['traces', 'list', source('list', {}), { title: 'Traces', listDataSource: 'traces', listLimit: 10 }],
  ['logs', 'list', source('list', { dataSource: 'logs' }), { title: 'Records', listDataSource: 'logs', listLimit: 10 }],
  ['funnel', 'funnel', { kind: 'static' }, { title: 'Funnel', funnel: { steps, keyBy: 'session', showStepPercent: true } }],
  ['paths', 'paths', { kind: 'static' }, { title: 'Paths', paths: { anchor: steps[0], direction: 'after', depth: 2 } }],
  ['sql', 'table', { kind: 'raw_sql', displayType: 'table', sql }, { title: 'Statement' }],
  [
    'broken',
    'table',
    { kind: 'raw_sql', displayType: 'table', sql: 'SELECT nope FROM spans WHERE $__orgFilter' },
    { title: 'A statement that fails' },
  ],
  ['text', 'markdown', { kind: 'static' }, { title: '', markdown: { content: markdown } }],
];
const widgets = kinds.map(([id, visualization, dataSource, display], i) => ({
  id,
  visualization,
  dataSource,
  display,
  layout: { x: (i % 2) * 6, y: Math.floor(i / 2) * 3, w: 6, h: 3 },
  ...(id === 'funnel' || id === 'paths' ? { sectionId: 'people' } : {}),
  ...(id === 'pie' ? { sectionId: 'shares', tabId: 'one' } : id === 'ranking' ? { sectionId: 'shares', tabId: 'two' } : {}),
}));
const board = {
  name: 'Every kind',
  description: 'One widget of each kind.',
  tags: ['walk'],
  timeRange: { type: 'relative', value: '1h' },
  widgets,
  sections: [
    {
      id: 'shares',
      title: 'Shares',
      tabs: [
        { id: 'one', title: 'Pie' },
        { id: 'two', title: 'Ranking' },
      ],
    },
    { id: 'people', title: 'People' },
  ],
  variables: [{ name: 'service', label: 'Service', type: 'query', includeAll: true, source: { kind: 'facet', facet: 'service' } }],
};

export default async ({ page, context, home, settled, look, check, allow, own, failure, problems }, { base }) => {
  page.setDefaultTimeout(60000);
  const must = (ok, text) => {
    if (!ok) problems.push(`dashboards: ${text}`);
  };
  /** call is a call of the API by this person, without the application. */
  const call = (procedure, request) =>
    page.evaluate(
      async ([p, r]) => {
        const answer = await fetch(`/svc.v2.${p}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', 'X-Svc-Ui': '1' },
          body: JSON.stringify(r),
        });
        if (!answer.ok) throw new Error(`${p}: ${answer.status} ${await answer.text()}`);
        return answer.json();
      },
      [procedure, request],
    );
  const drawn = (title) => page.locator(`section[aria-label="${title}"]`);
  /** shows waits until a widget has what it draws. A widget loads when it comes into sight. */
  const shows = async (title, selector) => {
    await drawn(title).waitFor();
    await drawn(title).scrollIntoViewIfNeeded();
    await drawn(title)
      .locator(selector)
      .first()
      .waitFor()
      .catch(() => problems.push(`dashboards: “${title}” does not show ${selector}`));
  };

  // Empty, templates, and a dashboard from each of them.
  await page.goto(home + '/dashboards');
  await settled();
  const { data: templates } = await call('DashboardsService/ListDashboardTemplates', { limit: 100 });
  must(templates.length === 20, `there are ${templates.length} templates`);
  await page.click('a >> text=From a template');
  await page.waitForSelector('.w-templates');
  must((await page.locator('.w-templates li').count()) === 20, 'not every template has a card');
  await page.click('.w-templates >> text=Service Health');
  await page.fill('.w-params input >> nth=0', 'cart');
  await page.keyboard.press('Enter');
  await page.waitForURL(/p\.service_name=cart/);
  await shows('P95 Latency', '.w-statbox b');
  await page.click('button >> text=Create the dashboard');
  await page.waitForURL(/\/dashboards\/dash_/);
  await shows('Throughput Over Time', 'canvas');

  // Every kind draws; the one that fails fails alone; what is out of sight is not asked for.
  const { id } = await call('DashboardsService/CreateDashboard', board);
  const asked = new Set();
  page.on('request', (r) => {
    if (r.url().endsWith('SearchDashboardWidgetData')) asked.add(r.postDataJSON().widgetId);
  });
  allow(/status of 400/);
  await page.goto(`${home}/dashboards/${id}`);
  await page.waitForURL(/from=-1h/); // the window of the dashboard
  await shows('Spans', '.w-statbox b');
  must(!asked.has('text') && !asked.has('funnel'), `widgets out of sight were asked for: ${[...asked]}`);
  for (const [title, selector] of [
    ['p95', '.w-statbox b'],
    ['Errors', 'svg path'],
    ['Errors as a bar', '[role=meter]'],
    ['p95 by service', 'canvas'],
    ['Rate', 'canvas'],
    ['Logs', '.w-key'],
    ['Table', 'tbody tr'],
    ['Pie', 'svg path'],
    ['Histogram', 'svg rect'],
    ['Heatmap', 'svg rect'],
    ['Traces', 'li a'],
    ['Records', 'li'],
    ['Statement', 'tbody tr'],
    ['A statement that fails', '[role=alert]'],
    ['markdown', 'table'],
    ['Funnel', 'li'],
    ['Paths', 'li, .w-nothing'],
  ])
    await shows(title, selector);
  must((await page.locator('[role=alert]').count()) === 1, 'a failing widget took others with it');
  must(/nope/.test(await drawn('A statement that fails').innerText()), 'a failing widget does not say why');
  must(
    (await page.locator('.w-markdown img, .w-markdown script').count()) === 0 && (await page.evaluate(() => window.hacked)) === undefined,
    'HTML of a text became markup',
  );
  must((await page.locator('.w-markdown a[href^="javascript"]').count()) === 0, 'a script is a link');
  await page.click('[role=tab] >> text=Ranking');
  await page.waitForURL(/tab\.shares=two/);
  await shows('Ranking', 'li');
  await page.goBack();
  must((await page.locator('[role=tab][aria-selected=true]').innerText()) === 'Pie', 'Back does not undo a tab');

  // A variable limits the widgets that use it, and the address has it.
  await page.fill('.w-vars input', 'cart');
  await page.keyboard.press('Enter');
  await page.waitForURL(/var\.service=cart/);
  await drawn('Statement').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelectorAll('section[aria-label=Statement] tbody tr').length === 1);

  // The pages in both themes and sizes.
  await page.setViewportSize({ width: 1440, height: 900 });
  await look(home, {
    'dashboards-list': '/dashboards',
    'dashboards-templates': '/dashboards/templates',
    'dashboards-board': `/dashboards/${id}`,
    'dashboards-versions': `/dashboards/${id}/versions`,
  });
  await page.emulateMedia({ colorScheme: 'light' });
  for (const [name, path] of [
    ['dashboards-edit', 'edit=1'],
    ['dashboards-widget', 'edit=1&focus=line'],
    ['dashboards-alone', 'widget=line'],
  ]) {
    await page.goto(`${home}/dashboards/${id}?${path}`);
    await settled();
    await check(`${name}-light-1440`);
  }

  // Editing: by the keyboard, undone, by the pointer.
  await page.goto(`${home}/dashboards/${id}?edit=1`);
  const cell = (which) => page.locator(`[data-widget=${which}]`);
  const place = (which) => cell(which).evaluate((e) => ['--x', '--y', '--w', '--h'].map((n) => Number(e.style.getPropertyValue(n))).join());
  await cell('stat').waitFor();
  const before = await place('stat');
  await cell('stat').locator('.w-grip').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Shift+ArrowLeft');
  must((await place('stat')) !== before && /,5,/.test(await place('stat')), `the keyboard moves to ${await place('stat')}`);
  await page.keyboard.press('Control+z');
  await page.keyboard.press('Control+z');
  must((await place('stat')) === before, `undone it is at ${await place('stat')}, not ${before}`);
  const grip = await cell('gauge').locator('.w-corner').boundingBox();
  await page.mouse.move(grip.x + 8, grip.y + 8);
  await page.mouse.down();
  await page.mouse.move(grip.x + 8, grip.y + 150, { steps: 6 });
  await page.mouse.up();
  must(/,5$/.test(await place('gauge')), `the pointer sizes to ${await place('gauge')}`);

  // A draft survives a reload.
  await page.waitForTimeout(400);
  await page.goto(`${home}/dashboards/${id}?edit=1&focus=stat`);
  await page.waitForSelector('text=was restored');
  // A changed widget alone is read again, as a preview.
  const previews = [];
  page.on('request', (r) => {
    if (r.url().endsWith('PreviewDashboardWidget')) previews.push(r.postDataJSON().widget.id);
  });
  await page.fill('.w-editform input >> nth=0', 'Spans of mine');
  await drawn('Spans of mine').locator('.w-statbox b').waitFor();
  must(previews.length > 0 && previews.every((w) => w === 'stat'), `previews of ${previews}`);
  await page.click('.w-editform button >> text=Done');

  // Somebody else saves another widget and the same one: both are joined, and one click keeps mine.
  const theirs = await call('DashboardsService/GetDashboard', { id });
  await call('DashboardsService/UpdateDashboard', {
    id,
    updateMask: 'widgets',
    widgets: theirs.widgets.map((w) =>
      w.id === 'stat'
        ? { ...w, display: { ...w.display, title: 'Spans of theirs' } }
        : w.id === 'line'
          ? { ...w, display: { ...w.display, title: 'Latency of theirs' } }
          : w,
    ),
  });
  allow(/status of (400|409)/);
  await page.click('.w-editbar button >> text=Save');
  await page.waitForSelector('dialog[open] >> text=Somebody saved');
  await check('dashboards-conflict-light-1440');
  must((await page.locator('dialog fieldset').count()) === 1, 'the conflict is not one widget');
  await page.click('dialog[open] button >> text=Keep mine');
  await page.waitForFunction(() => !new URL(location.href).searchParams.has('edit'));
  await page.waitForSelector('h1 >> text=Every kind');
  must((await page.locator('text=that are not saved').count()) === 0, 'a draft is left after saving');
  const joined = await call('DashboardsService/GetDashboard', { id });
  const titles = Object.fromEntries(joined.widgets.map((w) => [w.id, w.display.title]));
  must(titles.stat === 'Spans of mine' && titles.line === 'Latency of theirs', `joined to ${titles.stat} and ${titles.line}`);
  must(joined.widgets.find((w) => w.id === 'gauge').layout.h === 5, 'the size of mine is lost');

  // Versions: what changed, and the first one again.
  allow(/^$/);
  await page.goto(`${home}/dashboards/${id}/versions`);
  await page.waitForSelector('.w-changes >> text=Spans of mine');
  await page.locator('.w-versionlist button').last().click();
  await page.click('button >> text=Against now');
  await page.waitForSelector('.w-changes del');
  await page.click('section header button >> text=Restore');
  allow(/status of 400/);
  await page.click('dialog[open] button >> text=Restore');
  await page.waitForURL((u) => u.pathname.endsWith(id));
  await shows('Spans', '.w-statbox b');

  // A failing server: the page says so, and the draft of a save that fails stays.
  allow(/status of (400|503)/);
  await page.route('**/svc.v2.DashboardsService/UpdateDashboard', (route) => route.fulfill(failure(503, 'planned', 'Planned')));
  await page.goto(`${home}/dashboards/${id}?edit=1&focus=stat`);
  await page.fill('.w-editform input >> nth=0', 'Unsaved');
  await page.keyboard.press('Control+s');
  await page.waitForSelector('[role=alert] >> text=A planned failure.');
  must((await page.inputValue('.w-editform input >> nth=0')) === 'Unsaved', 'a failed save lost the text');
  await page.unroute('**/svc.v2.DashboardsService/UpdateDashboard');
  await page.click('.w-editbar button >> text=Discard');
  await page.click('.w-editbar button >> text=Close');

  // Keys of the frame work after `g`, although the page has the second one, too.
  await page.waitForSelector('button >> text=Share');
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.waitForURL(/\/alerts/);
  await page.goBack();

  // Full screen hides the frame, Escape brings it back.
  await page.waitForSelector('button >> text=Share');
  await page.keyboard.press('f');
  await page.waitForSelector('header.top', { state: 'hidden' });
  await page.keyboard.press('Escape');
  await page.waitForSelector('header.top', { state: 'visible' });

  // A statement of the SQL page becomes a widget of this dashboard.
  await page.goto(home + '/sql');
  await page.click('.schema summary:has(code:text-is("spans"))');
  await page.click('.schema details[open] button >> text=Example');
  await page.click('.sqlbar button >> text=Run');
  await page.click('.sqlhead >> text=Add to dashboard');
  await page.fill('dialog[open] input >> nth=0', 'From the SQL page');
  await page.fill('dialog[open] input[type=search]', 'every kind');
  await page.click('dialog[open] .choices button >> nth=0');
  await page.click('dialog[open] >> text=Open it');
  await shows('From the SQL page', 'tbody tr, .w-nothing');

  // Shared with everyone: the link of a widget works once the dashboard has one, and another site may frame it.
  await page.click('button >> text=Share');
  await page.click('dialog[open] button >> text=Everyone who has the link');
  await page.waitForSelector('#share-address');
  const address = await page.inputValue('#share-address');
  await check('dashboards-share-light-1440');
  await page.click('dialog[open] button >> text=Close');
  await drawn('p95 by service').locator('[aria-haspopup=menu]').click();
  await page.click('[role=menuitem] >> text=Share');
  await page.click('dialog[open] button >> text=Everyone who has the link');
  const code = await page.inputValue('#share-embed');
  const alone = /src="([^"]+)"/.exec(code)?.[1] ?? '';
  await page.click('dialog[open] button >> text=Close');
  const outside = await context.browser().newContext({ viewport: { width: 1440, height: 900 } });
  const reader = await outside.newPage();
  reader.setDefaultTimeout(60000);
  const cookies = [];
  let refused = false; // the frame of the dashboard is refused on purpose
  reader.on('console', (m) => {
    if (
      m.type() === 'error' &&
      !/status of 40[0134]/.test(m.text()) &&
      !(refused && /frame-ancestors|X-Frame-Options|Refused to display/i.test(m.text()))
    )
      problems.push(`dashboards, outsider: ${m.text()}`);
  });
  reader.on('pageerror', (e) => problems.push(`dashboards, outsider: ${e.message}`));
  reader.on('request', async (r) => {
    if ((await r.allHeaders().catch(() => ({}))).cookie) cookies.push(r.url());
  });
  const answer = await reader.goto(address);
  const head = await answer.text();
  must(
    head.includes('<title>Every kind · svc</title>') && head.includes('property="og:image"'),
    'the head of a shared page has no title or picture',
  );
  must(
    answer.headers()['x-frame-options'] === 'DENY' && answer.headers()['referrer-policy'] === 'no-referrer',
    'a shared dashboard may be framed',
  );
  await reader.waitForSelector('section[aria-label=Spans] .w-statbox b');
  await reader.locator('section[aria-label="A statement that fails"]').scrollIntoViewIfNeeded();
  await reader.waitForSelector('section[aria-label="A statement that fails"] [role=alert]');
  must(!(await reader.content()).includes('nope'), 'a shared page tells about a statement');
  await reader.fill('.w-vars input', 'cart');
  await reader.keyboard.press('Enter');
  await reader.waitForURL(/var\.service=cart/);
  await reader.locator('section[aria-label=Statement]').scrollIntoViewIfNeeded(); // only a tile in view reads its data
  await reader.waitForFunction(() => document.querySelectorAll('section[aria-label=Statement] tbody tr').length === 1);
  // A page of another site, made here: it frames the widget, and the dashboard, which may not be framed.
  const embedder = createServer((_, res) =>
    res.setHeader('Content-Type', 'text/html').end(`<!doctype html><title>x</title>${code}<iframe id="whole" src="${address}"></iframe>`),
  );
  await new Promise((resolve) => embedder.listen(0, '127.0.0.1', resolve));
  refused = true;
  await reader.goto(`http://localhost:${embedder.address().port}/`);
  await reader.frameLocator('iframe >> nth=0').locator('canvas').waitFor();
  must((await reader.frameLocator('#whole').locator('.w-tile').count()) === 0, 'a whole dashboard is shown in a frame');
  await reader.goto('about:blank');
  embedder.close();
  must(cookies.length === 0, `cookies went to ${cookies}`);
  must(alone.startsWith(base), `the code embeds ${alone}`);

  // For members alone, and after the end of the link.
  await call('DashboardsService/UpsertDashboardShare', { id, mode: 'org' });
  await reader.goto(address);
  await reader.waitForSelector('text=This is for members');
  must(!(await (await reader.goto(address)).text()).includes('Every kind'), 'the head of a link for members tells its name');
  allow(/status of (400|401|403)/);
  await page.goto(address);
  await page.waitForSelector('section[aria-label=Spans] .w-statbox b');
  await call('DashboardsService/RevokeDashboardShare', { id });
  must((await reader.goto(address)).status() === 404, 'the page of a link that ended is not 404');
  await reader.waitForSelector('text=There is no such link');
  await outside.close();
  return { id };
};
