// Every page of the navigation opens by its keys, and its link is marked.
export default async ({ page, home, settled, problems }) => {
  await page.goto(home);
  await settled();
  const links = await page.$$eval('nav.side a[title]', (all) => all.map((a) => [a.title.split(' ')[1], a.textContent]));
  for (const [key, name] of links) {
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await settled();
    const marked = await page.locator('nav.side a[aria-current=page]').allTextContents();
    if (!marked.includes(name)) problems.push(`g ${key} leads to ${marked}, not to ${name}`);
    if ((await page.locator('main h1').count()) !== 1) problems.push(`${name} has no heading of its own`);
  }
};
