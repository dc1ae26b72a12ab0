// The recording of a session plays in step with its events, the keys and the list move it, and nothing that was recorded runs.
export default async ({ page, home, settled, check, allow, own }, { visitor, elsewhere }) => {
  const window = 'from=-3h';
  const must = (ok, what) => {
    if (!ok) throw new Error(what);
  };
  const time = async () => Number(await page.locator('.replaybarline input').inputValue());
  const until = (fn, ...args) => page.waitForFunction(fn, ...args);

  await page.goto(`${home}/replays?${window}`);
  await settled();
  // A visitor who saw several pages has some events. The demo records a part of the sessions.
  const rows = page
    .locator('table.rows tbody tr')
    .filter({ has: page.locator('td:nth-child(2)', { hasText: /[2-9]/ }) })
    .filter({ hasNotText: 'not recorded' });
  for (let n = 0; n < 6 && (await rows.count()) === 0; n++) {
    await page.click('button >> text=Older');
    await settled();
  }
  await rows.first().locator('a.main').click();
  await page.waitForSelector('.replaybarline input:enabled');
  const inner = page.frameLocator('iframe[title="Recording of the session"]').frameLocator('iframe');
  await inner.locator('body').waitFor();
  must((await inner.locator('body').innerText()).length > 0, 'the recorded page is empty');

  await page.click('button >> text=Play');
  await until(() => Number(document.querySelector('.replaybarline input').value) > 1500);
  await page.waitForSelector('.replayevent.current');
  await page.keyboard.press('Escape');
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press(' ');
  await page.waitForSelector('button >> text=Play');
  const stood = await time();
  await page.waitForURL(/[?&]t=\d+/);
  must(Math.abs((await time()) - stood) < 200, 'the recording goes on after the space bar');

  // The time of an event leads there; an arrow goes on by five seconds.
  const far = page.locator('.replayevent').last();
  await far.locator('button.replayat').click();
  await page.waitForFunction((before) => Number(document.querySelector('.replaybarline input').value) !== before, stood);
  // Several events may have the same time.
  const chosen = await far.locator('button.replayat').innerText();
  await page.waitForFunction((text) => document.querySelector('.replayevent.current .replayat')?.innerText === text, chosen);
  const there = await time();
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction((before) => Number(document.querySelector('.replaybarline input').value) < before, there);
  await page.keyboard.press('>');
  must((await page.locator('select[aria-label=Speed]').inputValue()) === '2', 'the key > does not change the speed');
  await check('replay');

  // A link leads to the time at which the recording stood.
  await page.waitForTimeout(600);
  const link = page.url();
  const at = Number(new URL(link).searchParams.get('t'));
  await page.goto(link);
  await page.waitForSelector('.replaybarline input:enabled');
  await page.waitForFunction((t) => Math.abs(Number(document.querySelector('.replaybarline input').value) - t) < 200, at);

  // A trace of the session leads back to it.
  await page.locator('section:has(h2:text-is("Traces")) ul.list a').first().click();
  await page.waitForURL(/\/traces\//);
  await page.locator('.pagehead a >> text=Session').first().click();
  await page.waitForURL(/\/replays\//);

  // A page that was recorded runs nothing and loads nothing; the browser says what it refused, and that a video does not play. A part that
  // is damaged is named.
  allow(/Content Security Policy|Blocked script execution|sandboxed|no supported sources/);
  own.push(elsewhere); // the browser tells of requests that the policy refuses; the other server counts those that arrive
  await page.goto(`${home}/replays?q=${encodeURIComponent(visitor)}&${window}`);
  await page.locator('table.rows a.main').first().click();
  await page.waitForSelector('.replaybarline input:enabled');
  await page.waitForSelector('text=Damaged parts: 1');
  // The record of the log that names the session leads there, and is marked.
  await page.locator('.replaylogs li', { hasText: 'a record of the session' }).locator('button.replayat').click();
  await page.waitForSelector('.replaylogs li.current');
  await page.click('button >> text=Play');
  await inner.locator('text=A hostile page').waitFor();
  await page.waitForFunction(() => Number(document.querySelector('.replaybarline input').value) > 2000);
  for (const frame of page.frames()) {
    const hacked = await frame.evaluate(() => globalThis.hacked ?? {}.hacked).catch(() => undefined);
    must(hacked === undefined, `a recording ran in ${frame.url()}: ${hacked}`);
  }
  await check('replay-hostile');
};
