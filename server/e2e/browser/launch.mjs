// Starts Chromium for a script of this folder. The browser's own log goes to standard error, which a test prints when the script fails.
process.env.DEBUG ??= 'pw:browser';
const { chromium } = await import('playwright-core');

/** launch starts the browser without its background requests, and with its shared memory in files: a small /dev/shm ends it. */
export function launch(executablePath) {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
      '--disable-dev-shm-usage',
    ],
  });
}
