// Causes: what went wrong, what is different, and an investigation that keeps a finding of another page.
export default async ({ page, home, settled, look, problems }) => {
  await page.goto(home + '/difference');
  await settled();
  await page.click('button >> text=Failed and not');
  await page.waitForURL(/selected=/);
  await page.waitForSelector('ol.values li, main .state h2');
  await settled();
  const values = await page.locator('ol.values li').count();
  if (values === 0) throw new Error('nothing sets failed spans apart');
  await page.click('ol.values li >> nth=0 >> text=Keep as a finding');
  await page.waitForSelector('dialog textarea');
  await page.fill('dialog input', 'Walk through causes');
  await page.click('dialog button[type=submit]');
  await page.click('dialog >> text=Open the investigation');
  await page.waitForURL(/\/investigations\/inv_/);
  await settled();
  await page.waitForSelector('summary >> text=explainDifference');
  await page.fill('textarea[aria-label="New finding"]', 'The provider had an outage.');
  await page.click('button >> text=Add');
  await page.waitForSelector('ol.timeline >> text=The provider had an outage.');
  await page.fill('textarea[aria-label=Conclusion]', 'It was the provider.');
  await page.click('text=Save as diagnosed');
  await page.waitForSelector('.pagehead >> text=Diagnosed');
  await page.click('button >> text=Report');
  await page.waitForSelector('pre.report');
  const report = await page.locator('pre.report').innerText();
  for (const part of ['Walk through causes', 'The provider had an outage.', 'It was the provider.', 'explainDifference'])
    if (!report.includes(part)) problems.push(`causes: the report lacks ${part}`);
  const investigation = new URL(page.url()).pathname.split('/').pop();

  await page.goto(home + '/difference');
  await settled();
  await page.waitForSelector('.u-over');
  const box = await page.locator('.u-over').first().boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, box.y + 30, { steps: 4 });
  await page.mouse.up();
  await page.waitForURL(/bfrom=/);
  await settled();
  await look(home, {
    incidents: '/incidents',
    difference: '/difference?selected=has_error%20%3D%20true',
    investigations: '/investigations',
    investigation: `/investigations/${investigation}`,
    home: '',
  });
  return { values };
};
