// The views of a trace: its flame graph is moved by the mouse and the keyboard, the critical path and the operations lead to spans, and two
// traces are compared.
export default async ({ page, home, settled, look, allow }) => {
  const must = (ok, what) => {
    if (!ok) throw new Error(what);
  };
  // The lists take the language of queries: OR and NOT, and the server says at which character a text cannot be read.
  const listed = async (path, q, row, empty, more = '') => {
    await page.goto(`${home}/${path}?q=${encodeURIComponent(q)}&from=-3h${more}`);
    await settled();
    const n = await page.locator(row).count();
    must(empty ? n === 0 : n > 0, `${path} has ${n} rows for ${q}`);
  };
  const traces = 'main table.data tbody tr';
  await listed('traces', 'service.name = nobody OR duration >= 0ms AND NOT service.name = nobody', traces, false);
  await listed('traces', 'service.name = nobody OR NOT duration >= 0ms', traces, true);
  // The page shows the level of a record by its class. Records of other walks have a number and no text, or any text.
  const records = '.logs > button.log';
  const levels = async (q) => {
    await listed('logs', q, records, false);
    return page.locator(records).evaluateAll((all) => all.map((e) => /sev-(\w+)/.exec(e.className)?.[1]));
  };
  const isLoud = (level) => ['warn', 'error', 'fatal'].includes(level);
  const loud = await levels('severity >= WARN OR service.name = nobody');
  must(loud.every(isLoud), `records that are no warnings were found: ${loud}`);
  const quiet = await levels('NOT (severity >= WARN OR service.name = nobody)');
  must(!quiet.some(isLoud), `warnings were found by NOT: ${quiet}`);
  await listed('errors', 'service.name = nobody OR NOT duration > 1000h', traces, false, '&tab=window');
  allow(/status of 400/);
  await page.goto(`${home}/traces?q=${encodeURIComponent('service.name = checkout OR (')}&from=-3h`);
  await page.waitForSelector('.whereerror >> text=character 29');
  await page.waitForSelector('.state h2 >> text=The filter cannot be read');
  await settled(); // each request of the page is refused
  allow(/^$/);
  await look(home, {
    either: `/traces?q=${encodeURIComponent('service.name = checkout OR NOT duration < 100ms')}&from=-3h`,
    neither: `/logs?q=${encodeURIComponent('NOT (severity >= WARN OR service.name = checkout)')}&from=-3h`,
    failures: `/errors?tab=window&q=${encodeURIComponent('service.name = nobody OR duration >= 0ms')}&from=-3h`,
  });
  const chosen = () => new URL(page.url()).searchParams.get('span');
  await page.goto(`${home}/traces?q=${encodeURIComponent('service.name = checkout')}&from=-3h`);
  await settled();
  const links = await page.locator('main a[href*="/traces/"]').evaluateAll((all) => all.map((a) => new URL(a.href).pathname));
  const ids = [...new Set(links.map((path) => path.split('/').pop()))].filter((id) => /^[0-9a-f]{32}$/.test(id));
  must(ids.length >= 2, `there are ${ids.length} traces`);

  await page.goto(`${home}/traces/${ids[0]}?view=flame`);
  await page.waitForSelector('.flamebox canvas');
  await settled();
  // The root begins at the left. It may end before its descendants.
  const box = await page.locator('.flamebox canvas').boundingBox();
  await page.mouse.move(box.x + 3, box.y + 8);
  await page.waitForSelector('.flamecard');
  const title = await page.locator('h1').innerText();
  must((await page.locator('.flamecard b').innerText()) === title, 'the card of the first row is not that of the root');
  await page.mouse.click(box.x + 3, box.y + 8);
  await page.waitForURL(/[?&]span=/);
  const root = chosen();
  await page.locator('.flamebox').focus();
  await page.keyboard.press('ArrowDown');
  await page.waitForFunction((before) => new URL(location.href).searchParams.get('span') !== before, root);
  await page.keyboard.press('Enter');
  await page.keyboard.press('+');
  await page.waitForSelector('button >> text=Show all');
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => ![...document.querySelectorAll('button')].some((b) => b.textContent === 'Show all'));

  await page.click('nav[aria-label=Views] >> text=Critical path');
  await page.waitForSelector('table.data tbody tr');
  const steps = await page.locator('table.data tbody tr').count();
  await page.locator('table.data tbody button').filter({ hasNotText: title }).first().click();
  await page.waitForFunction((before) => new URL(location.href).searchParams.get('span') !== before, root);
  must(steps >= 1, 'the critical path is empty');

  await page.click('nav[aria-label=Views] >> text=Operations');
  await page.fill('input[name=with]', ids[1]);
  await page.keyboard.press('Enter');
  await page.waitForURL(/[?&]with=/);
  await page.waitForSelector('th >> text=Difference');
  allow(/status of 40[04]/);
  await page.fill('input[name=with]', 'no such trace');
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=alert]');
  await look(home, {
    flame: `/traces/${ids[0]}?view=flame&span=${root}`,
    path: `/traces/${ids[0]}?view=path`,
    operations: `/traces/${ids[0]}?view=operations`,
    comparison: `/traces/${ids[0]}?view=operations&with=${ids[1]}`,
  });

  // A change that a person reports stands beside the releases, can be edited, and goes.
  await page.goto(`${home}/services/checkout?tab=releases&from=-3h`);
  await page.click('button >> text=Report a change');
  await page.selectOption('dialog select[name=kind]', 'flag');
  await page.fill('dialog input[name=title]', 'New checkout for all');
  await page.fill('dialog input[name=url]', 'javascript:alert(1)');
  allow(/status of 400/);
  await page.click('dialog button >> text=Report');
  await page.waitForSelector('dialog .bad');
  await page.fill('dialog input[name=url]', 'https://flags.example/new-checkout');
  await page.click('dialog button >> text=Report');
  await page.waitForSelector('ul.list a >> text=New checkout for all');
  await page.click('button[aria-label="Change New checkout for all"]');
  await page.click('[role=menuitem] >> text=Edit');
  await page.fill('dialog input[name=title]', 'New checkout for some');
  await page.click('dialog button >> text=Save');
  await page.waitForSelector('ul.list a >> text=New checkout for some');
  await look(home, { markers: '/services/checkout?tab=releases&from=-3h' });
  await page.click('button[aria-label="Change New checkout for some"]');
  await page.click('[role=menuitem] >> text=Delete');
  await page.click('dialog[open] button >> text=Delete');
  await page.waitForSelector('text=Nobody reported a change');
};
