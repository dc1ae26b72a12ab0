// Errors: issues are triaged by the keyboard, and an issue is commented on, graded, fixed and snoozed.
export default async ({ page, home, settled, look, problems }) => {
  await page.goto(home + '/errors?tab=all');
  await settled();
  const rows = await page.locator('table.issues tbody tr').count();
  if (rows < 3) problems.push(`errors: only ${rows} issues`);
  const press = async (...keys) => {
    for (const k of keys) await page.keyboard.press(k);
  };
  await page.focus('main');
  await press('j', 'x', 'j', 'x');
  await page.waitForSelector('text=2 selected');
  await press('s');
  await page.waitForSelector('[role=menu]');
  await press('Enter'); // the first move of an issue in triage: to do
  await page.waitForFunction(
    () => [...document.querySelectorAll('table.issues tbody tr')].filter((r) => r.textContent.includes('To do')).length >= 2,
  );
  await page.waitForSelector('text=2 selected', { state: 'detached' });
  await page.focus('main');
  await press('a');
  await page.waitForSelector('[role=menu]');
  const assigned = page.waitForResponse((r) => r.url().endsWith('/AssignErrorIssue') && r.ok());
  await press('Enter'); // me
  await assigned; // another page would end the request
  await page.goto(home + '/errors?tab=mine');
  await page.waitForSelector('table.issues tbody tr');
  await press('j', 'Enter');
  await page.waitForURL(/\/errors\/iss_/);
  await settled();

  await page.fill('textarea[aria-label=Comment]', 'It is the **provider**. <script>window.hacked=1</script>');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.said >> text=It is the **provider**.');
  await page.click('button[aria-label=Severity]');
  await page.click('[role=menuitem] >> text=high');
  await page.waitForSelector('section.bulk >> text=high');
  await page.fill('input[aria-label="Address of a pull request"]', 'https://github.com/acme/shop/pull/12');
  await page.click('button >> text=Link');
  await page.waitForSelector('.pulls a');
  await page.click('.pulls button >> text=Merged');
  await page.fill('dialog input', 'not a commit');
  await page.click('dialog button >> text=Report the merge');
  if (!(await page.locator('dialog').count())) problems.push('errors: a commit that is none was reported');
  await page.fill('dialog input', '4fc1a0b2c3d4e5f6');
  await page.click('dialog button >> text=Report the merge');
  await page.waitForSelector('.verdicts >> text=Waiting for a release with the fix');
  await page.waitForSelector('section.bulk >> text=Verifying');
  await page.click('button[aria-label=Snooze]');
  await page.click('[role=menuitem] >> text=for 1 week');
  await page.waitForSelector('text=snoozed until');
  await page.waitForSelector('.verdicts >> text=because the issue moved on');
  const issue = new URL(page.url()).pathname.split('/').pop();
  if (await page.evaluate(() => window.hacked)) problems.push('errors: a comment ran as a script');

  await look(home, {
    errors: '/errors',
    errorsnew: '/errors?tab=new',
    errorsmine: '/errors?tab=mine',
    errorswindow: '/errors?tab=window',
    errorspolicies: '/errors?tab=policies',
    issue: `/errors/${issue}`,
  });
  return { rows, issue };
};
