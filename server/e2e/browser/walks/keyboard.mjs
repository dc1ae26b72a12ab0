// Without the mouse: from Home to a failed trace, to the error issue and to the logs, by the keys of the application and by Tab. The place
// of the focus is always seen.
export default async ({ page, home, settled }) => {
  const must = (ok, what) => {
    if (!ok) throw new Error(what);
  };
  const press = (...keys) => keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve());
  const at = (pattern) => page.waitForURL((u) => pattern.test(u.pathname + u.search));
  /** seen says whether the element with the focus is in sight and looks different from itself without it. */
  const seen = () =>
    page.evaluate(() => {
      const e = document.activeElement;
      if (!e || e === document.body) return 'nothing has the focus';
      const b = e.getBoundingClientRect();
      if (b.bottom < 0 || b.top > innerHeight || b.right < 0 || b.left > innerWidth) return `${e.outerHTML.slice(0, 80)} is out of sight`;
      const s = getComputedStyle(e);
      return s.outlineStyle !== 'none' || s.boxShadow !== 'none' ? '' : `${e.outerHTML.slice(0, 80)} does not show the focus`;
    });

  /** tabTo presses Tab until the focus is within an element. */
  const tabTo = async (selector) => {
    for (let n = 0; n < 60; n++) {
      if (await page.evaluate((s) => document.activeElement.closest(s) !== null, selector)) return;
      await press('Tab');
    }
    throw new Error(`Tab does not lead to ${selector}`);
  };

  // The first Tab offers to skip to the content.
  await page.goto(`${home}?from=-3h`);
  await settled();
  await press('Tab');
  must(/Skip/.test(await page.evaluate(() => document.activeElement.textContent)), 'the first stop is not the way to the content');
  await press('Enter');
  for (let n = 0; n < 12; n++) {
    await press('Tab');
    const bad = await seen();
    must(!bad, bad);
  }

  // Traces: the bar, a filter, the first row, a span.
  await press('g', 't');
  await at(/\/traces/);
  await settled();
  await press('/');
  await page.keyboard.type('has_error = true');
  await press('Enter');
  await at(/has_error/);
  await settled();
  await press('Escape');
  await press('j', 'Enter');
  await at(/\/traces\/[0-9a-f]{32}/);
  await settled();
  await tabTo('.waterfall');
  await press('ArrowDown', 'ArrowDown', 'Enter');
  await at(/[?&]span=/);

  // Errors: the first issue, and back.
  await press('Escape');
  await press('Escape');
  await press('g', 'e');
  await at(/\/errors/);
  await settled();
  await press('j', 'Enter');
  await at(/\/errors\/[^?]/);
  await settled();

  // Logs by the palette, live and not; the help lists the keys.
  await press('Control+k');
  await page.waitForSelector('dialog[open] input');
  await page.keyboard.type('logs');
  await press('Enter');
  await at(/\/logs/);
  await settled();
  await press('Escape');
  await press('l');
  await at(/live=1/);
  await press('l');
  await page.waitForURL((u) => !u.searchParams.has('live'));
  await press('?');
  await page.waitForSelector('dialog[open] >> text=Keys');
  await press('Escape');
  await page.waitForSelector('dialog[open]', { state: 'detached' }).catch(() => {});
};
