// Settings of what is ingested and of the person: attribute mappings, sampling, recommendations, theme and password.
export default async ({ page, home, look, settled, allow, problems }, { password }) => {
  const must = (good, text) => {
    if (!good) problems.push(`settings: ${text}`);
  };
  await look(home, {
    mappings: '/settings/attribute-mappings',
    mapping: '/settings/attribute-mappings?new=1&source=http.url.path&target=url.path',
    sampling: '/settings/sampling',
    recommendations: '/settings/recommendations',
    me: '/settings/me',
  });

  // A mapping: the name that a recommendation gave, an error beside its field with the draft kept, a change, the end.
  await page.goto(`${home}/settings/attribute-mappings?new=1&source=http.url.path&target=url.path`);
  must((await page.inputValue('input[name=source_key]')) === 'http.url.path', 'the recommended name is not filled in');
  await page.fill('input[name=name]', 'Mapping of a walk');
  await page.fill('input[name=target_key]', 'x'.repeat(300));
  allow(/status of 400/);
  await page.click('dialog[open] button >> text=Save');
  await page.waitForSelector('dialog[open] .formfield:has(input[name=target_key]) .bad');
  must((await page.inputValue('input[name=name]')) === 'Mapping of a walk', 'the draft is lost after an error');
  await page.fill('input[name=target_key]', 'url.path');
  await page.click('dialog[open] button >> text=Save');
  const row = page.locator('tr:has-text("Mapping of a walk")');
  await row.locator('text=✓ on').waitFor();
  await page.click('button[aria-label="Change Mapping of a walk"]');
  await page.click('[role=menuitem] >> text=Edit');
  await page.selectOption('dialog[open] select >> nth=1', 'move');
  await page.click('dialog[open] button >> text=Save');
  await row.locator('text=moves').waitFor();
  await page.click('button[aria-label="Change Mapping of a walk"]');
  await page.click('[role=menuitem] >> text=Switch off');
  await row.locator('text=○ off').waitFor();
  await page.click('button[aria-label="Change Mapping of a walk"]');
  await page.click('[role=menuitem] >> text=Delete');
  await page.click('dialog[open] button >> text=Delete');
  await row.waitFor({ state: 'detached' });

  // Sampling: a share that is too large is refused at its field. What is saved is there after a reload.
  await page.goto(`${home}/settings/sampling`);
  await page.fill('input[name=ratio]', '250');
  await page.click('button >> text=Save');
  await page.waitForSelector('.formfield:has(input[name=ratio]) .bad');
  must((await page.inputValue('input[name=ratio]')) === '250', 'the share is lost after an error');
  await page.fill('input[name=ratio]', '99.9');
  await page.check('input[name=errors]');
  await page.fill('input[name=slow]', '2000');
  await page.click('button >> text=Save');
  await page.waitForSelector('text=Changed 2');
  await page.reload();
  await settled();
  must(
    (await page.inputValue('input[name=ratio]')) === '99.9' && (await page.inputValue('input[name=slow]')) === '2000',
    'the policy was not saved',
  );
  await page.fill('input[name=ratio]', '100');
  await page.fill('input[name=slow]', '');
  await page.uncheck('input[name=errors]');
  const saved = page.waitForResponse((r) => r.url().includes('/UpdateSamplingPolicy') && r.ok());
  await page.click('button >> text=Save');
  await saved;
  await settled();
  await page.reload();
  await settled();
  must(
    (await page.inputValue('input[name=slow]')) === '' && (await page.inputValue('input[name=ratio]')) === '100',
    'the policy was not cleared',
  );

  // The person: the theme at once, and a password that is wrong, or differs from its repetition, is refused at its field.
  await page.goto(`${home}/settings/me`);
  await page.check('input[name=theme][value=dark]');
  must((await page.evaluate(() => document.documentElement.dataset.theme)) === 'dark', 'the theme does not change');
  await page.check('input[name=theme][value=system]');
  await page.fill('input[name=current_password]', `${password}x`);
  await page.fill('input[name=new_password]', 'a new password');
  await page.fill('input[name=again]', 'another password');
  await page.click('button >> text=Change the password');
  await page.waitForSelector('.formfield:has(input[name=again]) .bad');
  await page.fill('input[name=again]', 'a new password');
  await page.click('button >> text=Change the password');
  await page.waitForSelector('.formfield:has(input[name=current_password]) .bad');
  must((await page.inputValue('input[name=new_password]')) === 'a new password', 'the new password is lost after an error');
};
