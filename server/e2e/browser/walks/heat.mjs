// The heatmap of durations: a box by mouse and one by keyboard, what is different in it, its traces; and the groups.
export default async ({ page, home, settled, look, check, allow, failure, problems }) => {
  const seen = {};
  const view = (name, more = '') => `${home}/traces?view=${name}${more}`;
  await page.goto(home + '/traces');
  await settled();
  await page.keyboard.press('4');
  await page.waitForURL(/view=heat/);
  await page.waitForSelector('.heatplot canvas');
  await settled();

  // The mouse draws a box over the slow half of the plot.
  const plot = await page.locator('.heatplot').boundingBox();
  await page.mouse.move(plot.x + 70, plot.y + 10);
  await page.mouse.down();
  await page.mouse.move(plot.x + plot.width - 14, plot.y + plot.height * 0.42, { steps: 5 });
  await page.mouse.up();
  await page.waitForURL(/sel=/);
  await page.waitForSelector('.contrast li');
  await page.waitForSelector('section[aria-label="Traces in the box"] table a.main');
  await settled();
  seen.box = new URL(page.url()).searchParams.get('sel');
  // The figures of the page are those of the API: all spans of the box are counted once.
  const inBox = Number((await page.locator('.selected header .faint').innerText()).replace(/[^\d]/g, ''));
  const told = await page.evaluate(
    async ([text, org]) => {
      const [, from, to, low, high] = /^(.+)\.\.(.+),(.+)\.\.(.*)$/.exec(text);
      const res = await fetch('/svc.v2.TracesService/QueryTraceDistribution', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Svc-Ui': '1', ...(org ? { 'x-svc-org-id': org } : {}) },
        body: JSON.stringify({
          startTime: from,
          endTime: new Date(Date.parse(to) - 1).toISOString().replace('Z', '999999Z'),
          where: `duration >= ${low}ms${high ? ` AND duration < ${high}ms` : ''}`,
        }),
      });
      return Math.round((await res.json()).count ?? 0);
    },
    [seen.box, ''],
  );
  if (inBox !== told && inBox < 10_000) problems.push(`heat: the box says ${inBox} spans, the API ${told}`);
  await check('heat-box');

  // The failed spans of the box alone.
  await page.click('.selected button >> text=Only what failed');
  await page.waitForURL((u) => (u.searchParams.get('sel') ?? '').endsWith(',failed'));
  await page.waitForSelector('text=failed spans in the box');
  await settled();
  const failed = Number((await page.locator('.selected header .faint').innerText()).replace(/[^\d]/g, ''));
  if (!(failed > 0 && failed < inBox)) problems.push(`heat: ${failed} of ${inBox} spans in the box failed`);
  const rows = page.locator('section[aria-label="Traces in the box"] tbody tr');
  if ((await rows.count()) === 0 || (await rows.filter({ hasNotText: 'error' }).count()) > 0)
    problems.push('heat: the list of failed spans has others');
  await page.click('.selected button >> text=Only what failed');
  await page.waitForURL((u) => !(u.searchParams.get('sel') ?? '').endsWith(',failed'));
  await page.waitForSelector('.contrast li');
  await settled();

  // What is different, in full, and back.
  await page.click('text=What is different, in full');
  await page.waitForURL(/\/difference\?/);
  await page.waitForSelector('ol.values li');
  seen.difference = await page.locator('.versus').innerText();
  if (!seen.difference.includes('the rest of the window')) problems.push(`heat: the comparison is of ${seen.difference}`);
  await page.goBack();
  await page.waitForSelector('.contrast li');
  const before = new URL(page.url()).searchParams.get('q') ?? '';
  await page.click('.contrast li >> text=Only these >> nth=0');
  await page.waitForFunction((q) => (new URL(location.href).searchParams.get('q') ?? '') !== q, before);
  await settled();
  seen.narrowed = await page.inputValue('[data-bar]');

  // The keyboard draws a box, removes it, and opens a trace of it.
  await page.goto(view('heat'));
  await page.waitForSelector('.heatplot canvas');
  await settled();
  await page.focus('.heatplot');
  for (const key of ['ArrowLeft', 'Shift+ArrowRight', 'Shift+ArrowUp', 'Shift+ArrowDown', 'Shift+ArrowDown'])
    await page.keyboard.press(key);
  seen.said = await page.locator('.heat [role=status]').innerText();
  if (!/spans/.test(seen.said)) problems.push(`heat: the keyboard says ${seen.said}`);
  await page.keyboard.press('Enter');
  await page.waitForURL(/sel=/);
  await page.waitForSelector('section[aria-label="Traces in the box"] table a.main');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.waitForURL((u) => !u.searchParams.has('sel'));
  await page.goBack();
  await page.waitForSelector('section[aria-label="Traces in the box"] table a.main');
  await settled();
  await page.click('section[aria-label="Traces in the box"] table a.main >> nth=0');
  await page.waitForURL(/\/traces\/[0-9a-f]{32}\?.*span=/);
  await page.waitForSelector('.spanrow');

  // A box outside of the window, and one that is no box.
  await page.goto(view('heat', '&sel=2001-01-01T00:00:00Z..2001-01-01T00:01:00Z,1..2'));
  await page.waitForSelector('text=No span of this window lies in the box.');
  await page.goto(view('heat', `&sel=${encodeURIComponent('<script>')}`));
  await page.waitForSelector('.heathint');

  // Groups: sorted by a column, by another field, and a click narrows.
  await page.goto(view('groups'));
  await page.waitForSelector('table.groups tbody tr');
  await settled();
  seen.groups = await page.locator('table.groups tbody tr').count();
  await page.click('table.groups th button >> text=p95');
  await page.waitForURL(/sort=p95/);
  await settled();
  const spelled = await page.locator('table.groups tbody tr >> nth=0').innerText();
  await page.click('table.groups th button >> text=p95');
  await page.waitForURL(/sort=p95%3Aasc/);
  await settled();
  if ((await page.locator('table.groups tbody tr >> nth=0').innerText()) === spelled)
    problems.push('groups: the order stays when the column turns');
  await page.click('.groupby button >> text=Status');
  await page.waitForURL(/group=status/);
  await settled();
  await page.click('table.groups button.value >> text=Error');
  await page.waitForURL((u) => u.searchParams.get('q') === 'status = Error');
  await settled();
  if ((await page.locator('table.groups tbody tr').count()) !== 1) problems.push('groups: the filter for Error leaves other groups');
  await page.fill('.groupby input', 'attr.http.route');
  await page.keyboard.press('Enter');
  await page.waitForURL(/group=attr.http.route/);
  await page.waitForSelector('table.groups th >> text=attr.http.route');
  await settled();
  seen.routes = await page.locator('table.groups tbody').innerText();

  // Spans: the longest first, with a column of an attribute; a row opens the trace at the span.
  await page.goto(home + '/traces');
  await settled();
  await page.keyboard.press('2');
  await page.waitForURL(/view=spans/);
  await page.waitForSelector('table.spanlist tbody tr');
  await page.click('table.spanlist th button >> text=Duration');
  await page.waitForURL(/sort=duration/);
  await page.waitForSelector('h2 >> text=longest first');
  await page.fill('.groupby input', 'resource.service.name');
  await page.keyboard.press('Enter');
  await page.waitForURL(/columns=resource.service.name/);
  await page.waitForSelector('table.spanlist th >> text=resource.service.name');
  await settled();
  const widths = await page.evaluate(() =>
    [...document.querySelectorAll('table.spanlist .durcell i')].map((e) => Number.parseFloat(e.style.width)),
  );
  if (!(widths[0] === 100 && widths.every((n, i) => i === 0 || n <= widths[i - 1]))) problems.push(`spans: the durations are ${widths}`);
  seen.column = await page.locator('table.spanlist tbody tr >> nth=0').innerText();
  await check('spans');
  await page.click('table.spanlist a.main >> nth=0');
  await page.waitForURL(/\/traces\/[0-9a-f]{32}\?.*span=[0-9a-f]{16}/);
  await page.waitForSelector('.spanrow');
  await page.goBack();
  await page.waitForSelector('table.spanlist tbody tr');
  await page.click('[aria-label="Remove the column resource.service.name"]');
  await page.waitForURL((u) => !u.searchParams.has('columns'));
  await page.goto(view('spans', `&q=${encodeURIComponent('service.name = nobody')}`));
  await page.waitForSelector('.state h2 >> text=No span matches');
  allow(/status of 400/);
  await page.goto(view('spans', '&columns=metric.x'));
  await page.waitForSelector('.state.failed');
  allow(/^$/);

  // Nothing matches, the server fails, and it is slow.
  await page.goto(view('heat', `&q=${encodeURIComponent('service.name = nobody')}`));
  await page.waitForSelector('.state h2 >> text=No trace matches');
  await page.goto(view('heat', `&root=1&q=${encodeURIComponent('service.name = nobody')}`));
  await page.waitForSelector('.state h2 >> text=No root span matches');
  await page.click('text=Count all spans');
  await page.waitForSelector('.state h2 >> text=No trace matches');
  await page.goto(view('groups', `&q=${encodeURIComponent('service.name = nobody')}`));
  await page.waitForSelector('.state h2 >> text=No trace matches');
  allow(/status of 503/);
  await page.route('**/svc.v2.TracesService/QueryTraceDistribution', (route) => route.fulfill(failure(503, 'planned', 'Planned')));
  await page.goto(view('heat'));
  await page.waitForSelector('.state.failed >> text=A planned failure.');
  await check('heat-failed');
  await page.unroute('**/svc.v2.TracesService/QueryTraceDistribution');
  await page.click('.state.failed button >> text=Try again');
  await page.waitForSelector('.heatplot canvas');
  allow(/^$/);
  await look(home, {
    heat: '/traces?view=heat',
    heatroots: '/traces?view=heat&root=1',
    heatbox: `/traces?view=heat&sel=${encodeURIComponent(seen.box)}`,
    groups: '/traces?view=groups&group=span.name',
    spans: '/traces?view=spans&columns=attr.http.route',
  });
  return seen;
};
