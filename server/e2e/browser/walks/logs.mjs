// Logs as they arrive: none is lost or shown twice, the list stands still while a person reads, a failure is told and goes by. The context
// of a record has its neighbours in the order of time.
export default async ({ page, home, settled, check, look, failure, allow }, { ingest, key }) => {
  const must = (ok, what) => {
    if (!ok) throw new Error(what);
  };
  const service = `walker-${Date.now()}`;
  let sent = 0;
  /** send sends records of the service, a millisecond apart. */
  const send = async (n, at = Date.now()) => {
    const logRecords = Array.from({ length: n }, (_, i) => ({
      timeUnixNano: `${at - n + i}000000`,
      severityNumber: sent + i === 3 ? 17 : 9,
      body: { stringValue: `record ${sent + i} of the walk` },
    }));
    sent += n;
    const attributes = [
      { key: 'service.name', value: { stringValue: service } },
      { key: 'k8s.pod.name', value: { stringValue: 'pod-1' } },
    ];
    const answer = await fetch(`${ingest}/v1/logs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-svc-ingest-key': key },
      body: JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] }),
    });
    must(answer.ok, `logs are answered with ${answer.status}`);
  };
  const q = encodeURIComponent(`service.name = ${service}`);
  const numbers = () =>
    page.evaluate(() => [...document.querySelectorAll('.loglive .log')].map((e) => Number(/record (\d+) of/.exec(e.textContent)?.[1])));
  const status = () => page.locator('section:has(h2:text-is("Live")) [role=status]').first().innerText();

  await page.goto(`${home}/logs?q=${q}&live=1`);
  await page.waitForSelector('text=New ones appear here');
  await send(5);
  await page.waitForFunction(() => document.querySelectorAll('.loglive .log').length === 5);
  await send(900);
  await page.waitForFunction(() => /905 records/.test(document.body.innerText));
  await page.waitForFunction(() => [...document.querySelectorAll('.loglive .log')].some((e) => /record 904 of/.test(e.textContent)));
  const shown = await numbers();
  must(
    shown.every((n, i) => i === 0 || n === shown[i - 1] + 1),
    `the records are ${shown}`,
  );

  // Reading further up holds the list; the button goes on.
  await page.locator('.loglive').evaluate((e) => {
    e.scrollTop = 0;
  });
  await page.waitForSelector('text=Paused, 0 new');
  await send(40);
  await page.waitForSelector('text=Paused, 40 new');
  must(!(await numbers()).includes(944), 'a record appears while the list is held');
  await page.click('button >> text=Go on');
  await page.waitForFunction(() => [...document.querySelectorAll('.loglive .log')].some((e) => /record 944 of/.test(e.textContent)));
  must(/945 records/.test(await status()), await status());

  // A failure is told, and the records of that time are not lost.
  allow(/status of 503/);
  await page.route('**/svc.v2.LogsService/SearchLogs', (route) =>
    route.fulfill(failure(503, 'WarehouseUnavailable', 'The warehouse is away')),
  );
  await page.waitForSelector('text=It is tried again');
  await send(10);
  await page.unroute('**/svc.v2.LogsService/SearchLogs');
  await page.waitForFunction(() => /955 records/.test(document.body.innerText));
  must((await page.locator('text=It is tried again').count()) === 0, 'the failure stays');
  await check('loglive');

  // The context of the error: the records around it, in the order of time, though the filter asks for the error alone.
  await page.goto(`${home}/logs?q=${encodeURIComponent(`service.name = ${service} AND severity >= ERROR`)}&from=-1h`);
  await settled();
  await page.locator('.logs > button.log').first().click();
  await page.click('.record button >> text=Context');
  await page.waitForSelector('.logcontext .here');
  const around = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.logcontext .logs > div')].map((e) => Number(/record (\d+) of/.exec(e.textContent)?.[1])),
    );
  must(
    JSON.stringify(await around()) === JSON.stringify([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
    `the context is ${await around()}`,
  );
  await page.click('button >> text=More after');
  await page.waitForFunction(() => document.querySelectorAll('.logcontext .logs > div').length === 104);
  must(
    (await around()).every((n, i) => n === i),
    `the longer context is ${await around()}`,
  );
  await page.click('.logcontext button >> text=Service');
  await settled();
  // A neighbour shows all its fields in place, and `v` on the chosen record turns the context off and on.
  await page.locator('.logcontext .logs > div:not(.here) button.log').first().click();
  await page.waitForSelector('.logcontext .record dt >> text=k8s.pod.name');
  await page.locator('h1').click();
  await page.keyboard.press('v');
  await page.waitForFunction(() => !document.querySelector('.logcontext'));
  await page.keyboard.press('v');
  await page.waitForSelector('.logcontext .here');
  await settled();
  await check('logcontext');
  await look(home, { live: `/logs?q=${q}&live=1` }, () => page.waitForSelector('.loglive .log'));
};
