// Reads telemetry: metrics with a second query and a formula, product events with a funnel and paths, and agents. The page of SQL is looked
// at.
export default async ({ page, home, look, problems, settled }, { base }) => {
  const seen = {};
  const window = 'from=-3h';
  const names = ['product viewed', 'added to cart', 'order placed'];
  const steps = encodeURIComponent(names.map((n) => `event:${n}`).join('\n'));
  await page.goto(`${home}/agents?${window}`);
  const session = new URL(await page.locator('table.rows a.main').first().getAttribute('href'), base).pathname.split('/').pop();
  await look(
    home,
    {
      metricpage: `/metrics?m=http.server.request.duration&by=service.name&m.b=http.client.request.duration&fx=A%20/%20B&${window}`,
      events: `/events?${window}`,
      funnel: `/events/funnels?steps=${steps}&by=country&${window}`,
      paths: `/events/paths?anchor=${encodeURIComponent('event:product viewed')}&${window}`,
      agents: `/agents?${window}`,
      agent: `/agents/${session}?${window}`,
      tools: `/agents/tools?${window}`,
      sql: `/sql?${window}`,
    },
    async (name) => {
      if (name === 'sql') await page.waitForFunction(() => document.querySelector('.sqleditor')?.shadowRoot?.querySelector('.cm-content'));
    },
  );

  // A metric opens with the aggregation of its type; a click with Ctrl adds a second one, and a formula divides them.
  await page.goto(`${home}/metrics?m=http.server.request.duration&q=http.&${window}`);
  await page.waitForSelector('figure.chart canvas');
  seen.usual = await page.locator('select[aria-label="Aggregation of A"]').inputValue();
  await page.locator('.catalogue a >> text=http.client.request.duration').click({ modifiers: ['Control'] });
  await page.waitForSelector('select[aria-label="Aggregation of B"]');
  await page.click('.queryfoot button >> text=A / B');
  await page.waitForURL(/fx=/);
  await settled();
  seen.formula = await page.locator('input[aria-label=Formula]').inputValue();
  // The chart as a table, and the records behind a bucket of it.
  await page.locator('figure.chart').first().hover();
  await page.locator('figure.chart .menubox button').first().click();
  await page.click('[role=menuitem] >> text=As table');
  seen.behind = await page.locator('.chartscroll tbody a').first().getAttribute('href');
  // A click in the legend shows one line alone.
  await page.goto(`${home}/metrics?m=http.server.request.duration&by=service.name&${window}`);
  await page.waitForSelector('.chartlegend button >> nth=1');
  await page.locator('.chartlegend button').first().click();
  seen.alone = await page.locator('.chartlegend button[aria-pressed=true]').count();

  // The funnel says how many reach each step, and leads to the sessions of those who left.
  await page.goto(`${home}/events/funnels?steps=${steps}&${window}`);
  await page.waitForSelector('.funnelstep >> nth=2');
  seen.funnel = await page.locator('.funnelstep').count();
  await page.locator('.funnelstep button >> text=Their sessions').first().click();
  await page.waitForSelector('.leavers a');
  seen.leaver = await page.locator('.leavers a').first().getAttribute('href');

  // A session of an agent: the conversation, and a tool that fails, with its arguments.
  await page.goto(`${home}/agents/${session}?${window}`);
  await page.waitForSelector('.conversation .said');
  await page.locator('.agentbars button').last().click();
  await page.waitForURL(/span=/);
  await page.goto(`${home}/agents/tools?${window}`);
  await page.locator('table.rows a.main').first().click();
  await page.waitForURL(/tool=/);
  await settled();
  if (await page.locator('.failure').count()) {
    await page.locator('.failure').first().click();
    await page.waitForSelector('.samples .said');
    seen.failure = await page.locator('.samples .said').first().innerText();
  }

  const expected = { usual: 'p95', formula: 'A / B', alone: 1, funnel: 3 };
  for (const [name, want] of Object.entries(expected))
    if (seen[name] !== want) problems.push(`read: ${name} is ${seen[name]}, not ${want}`);
  const contains = { behind: '/traces?', leaver: '/replays/' };
  for (const [name, want] of Object.entries(contains))
    if (!String(seen[name]).includes(want)) problems.push(`read: ${name} is ${seen[name]}, without ${want}`);
  return seen;
};
