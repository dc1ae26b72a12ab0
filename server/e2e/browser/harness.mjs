// The parts of a walk through the web application: a browser with a person who is signed in, and the checks of a page.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { screenshot } from './launch.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const axeOptions = JSON.stringify({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'], resultTypes: ['violations'] });
const always = /Trusted Type|unsafe-eval|Content Security Policy.*eval/; // the first try of axe

export async function readInput() {
  let text = '';
  for await (const part of process.stdin) text += part;
  return JSON.parse(text);
}

/** open opens a page with cookies and storage of its own. `allow` names the errors that the next steps cause on purpose. */
export async function open(browser, screenshots, { base, email, password }) {
  const problems = [];
  const foreign = [];
  const procedures = new Set();
  const own = [base];
  let expected = /^$/;
  const allow = (pattern) => {
    expected = pattern;
  };
  // Without motion, a page that waits is not drawn sixty times a second.
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: 'light', reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  page.on('pageerror', (e) => {
    if (!expected.test(e.message)) problems.push(`page: ${e.message}`);
  });
  page.on('console', (m) => {
    if (['error', 'warning'].includes(m.type()) && !expected.test(m.text()) && !always.test(m.text()))
      problems.push(`console: ${m.text()}`);
  });
  page.on('request', (r) => {
    if (!own.some((o) => r.url().startsWith(o + '/')) && !/^(data|blob|about):/.test(r.url())) foreign.push(r.url());
    const call = /\/svc\.v2\.(\w+\/\w+)$/.exec(r.url());
    if (call) procedures.add(call[1]);
  });

  /** signIn opens a page of the application by way of the sign-in, and gives the address of the organization. */
  const signIn = async (path = '/o/default') => {
    await page.goto(base + path);
    await page.waitForURL(/\/login\?next=/);
    await page.fill('input[name=email]', email);
    await page.fill('input[name=password]', password);
    await page.click("form[action='/login'] button");
    await page.waitForURL((u) => u.pathname.startsWith('/o/'));
    return base + new URL(page.url()).pathname.split('/').slice(0, 3).join('/');
  };

  const settled = async () => {
    await page.waitForSelector('main h1, main h2');
    await page
      .waitForFunction(() => !document.querySelector('[aria-busy=true]'), null, { timeout: 60000 })
      .catch((e) => {
        throw new Error(`${page.url()} stays busy: ${e.message}`);
      });
    // The layout rests when two frames have the same boxes. Fonts and late answers move them.
    await page.evaluate(async () => {
      await document.fonts.ready;
      const boxes = () =>
        [...document.querySelectorAll('main *')]
          .slice(0, 400)
          .map((e) => {
            const b = e.getBoundingClientRect();
            return `${b.x},${b.y},${b.width},${b.height}`;
          })
          .join(';');
      const pause = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 50)));
      for (let before = '', now = boxes(), n = 0; before !== now && n < 40; n++) {
        await pause();
        [before, now] = [now, boxes()];
      }
    });
  };
  // The page's policy refuses the source of axe. The protocol of the browser does not pass through the policy.
  const cdp = await context.newCDPSession(page);
  const violations = async () => {
    const evaluate = async (expression) => {
      const { result, exceptionDetails } = await cdp.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    };
    if (!(await evaluate('!!window.axe'))) await evaluate(`${axe};0`);
    return evaluate(`axe.run(document, ${axeOptions}).then((r) => r.violations.map((v) => v.id + ': ' +
      v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + ' (' + n.failureSummary.slice(0, 200) + ')').join(' | ')))`);
  };
  const check = async (name) => {
    const wide = await page.evaluate(() => {
      const main = document.querySelector('main');
      if (document.documentElement.scrollWidth <= innerWidth && main.scrollWidth <= main.clientWidth) return '';
      const beyond = [...document.body.querySelectorAll('*')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1);
      return `wide: ${beyond
        .slice(0, 5)
        .map((e) => `${e.tagName.toLowerCase()}.${e.className}`)
        .join(', ')}`;
    });
    // The next part must not lie over the head of the page, whatever the head wraps to.
    const covered = await page.evaluate(() => {
      const head = document.querySelector('main .pagehead');
      const next = head?.nextElementSibling;
      return next ? Math.round(head.getBoundingClientRect().top + head.scrollHeight - next.getBoundingClientRect().top) : 0;
    });
    // On a phone every tab is in sight, and each number of a folded table has its name.
    const phone = await page.evaluate(() => {
      if (innerWidth > 760) return [];
      const out = [...document.querySelectorAll('main .tabs a')].filter((a) => a.getBoundingClientRect().right > innerWidth);
      const bare = [
        ...document.querySelectorAll('main table.fold tbody tr:first-child td.num:not(:first-child, [data-none], :empty)'),
      ].filter((td) => td.checkVisibility() && !td.dataset.label && !td.querySelector('a.main, button, select, input'));
      return [...out.map((a) => `the tab ${a.textContent} is out of sight`), ...bare.map((td) => `${td.textContent} has no name`)];
    });
    for (const what of phone.slice(0, 3)) problems.push(`${name}: ${what}`);
    if (covered > 0) problems.push(`${name}: the head of the page is covered by ${covered} pixels`);
    if (wide) problems.push(`${name} must be scrolled sideways at ${page.viewportSize().width}, ${wide}`);
    await screenshot(page, screenshots, name);
    for (const violation of await violations()) problems.push(`axe, ${name}: ${violation}`);
  };

  /** look opens each page in the light theme on a wide screen and in the dark theme on a phone, and checks it. */
  const look = async (home, pages, prepare = async () => {}) => {
    for (const [theme, width, height] of [
      ['light', 1440, 900],
      ['dark', 390, 844],
    ]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: theme });
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(home + path);
        await settled();
        await prepare(name);
        await check(`${name}-${theme}-${width}`);
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  };

  /** failure is an error of the API, for page.route. */
  const failure = (status, tag, title) => ({
    status,
    contentType: 'application/json',
    body: JSON.stringify({
      code: 'unavailable',
      message: 'planned',
      details: [{ debug: { tag, title, message: 'A planned failure.', status, recovery: 'retry', retryable: false } }],
    }),
  });
  const report = (seen) => ({ seen, procedures: [...procedures].sort(), problems, foreign });
  return { browser, context, page, allow, own, signIn, settled, check, look, failure, problems, report };
}
