// Starts Chromium for a script of this folder.
process.env.DEBUG = 'pw:browser'; // read when playwright-core loads
const { chromium } = await import('playwright-core');

/**
 * launch starts the browser without its background requests, and with its shared memory in files: a small /dev/shm ends it.
 * When the browser ends by itself, its last messages go to standard error.
 */
export async function launch(executablePath) {
  const messages = [];
  const write = process.stderr.write.bind(process.stderr);
  process.stderr.write = (text, ...rest) => {
    if (!/pw:browser/.test(text)) return write(text, ...rest);
    if (!/dbus/.test(text)) messages.push(text);
    if (messages.length > 50) messages.shift();
    return true;
  };
  let closing = false;
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-dev-shm-usage',
    ],
  });
  const close = browser.close.bind(browser);
  browser.close = (options) => {
    closing = true;
    return close(options);
  };
  browser.on('disconnected', () => {
    if (!closing) write(`Chromium ended by itself. Its last messages:\n${messages.join('')}`);
  });
  return browser;
}

/**
 * screenshot keeps a picture of the page in the folder that the test keeps, and takes it only if there is one: a picture of each page costs
 * a tenth of the time of all browsers.
 */
export async function screenshot(page, folder, name, options = {}) {
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, ...options });
}
