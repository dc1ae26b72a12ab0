// Plays a recording back from the bytes that the server stored, by rrweb's own player.
import { Replayer } from 'rrweb';

const list = await (await fetch('/recording/' + location.search)).json();
const events = [];
for (const path of list) {
  const stored = await fetch(path);
  events.push(...(await new Response(stored.body.pipeThrough(new DecompressionStream('gzip'))).json()));
}
const replayer = new Replayer(events, { root: document.querySelector('#player'), speed: 8, mouseTail: false, showWarning: true });
const finished = new Promise((resolve) => replayer.on('finish', resolve));
replayer.play();
window.player = {
  async result() {
    await finished;
    const page = replayer.iframe.contentDocument;
    return {
      events: events.length,
      title: page.querySelector('h1').textContent,
      cart: [...page.querySelectorAll('#cart li')].map((li) => li.textContent),
      voucher: page.querySelector('#voucher').value,
      scrolled: page.querySelector('#catalogue').scrollTop,
    };
  },
};
document.body.dataset.ready = 'yes';
