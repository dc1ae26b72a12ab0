// Plays a recording from the API with rrweb's player: first the manifest, then page after page of chunks.
import { Replayer } from 'rrweb';

const id = new URLSearchParams(location.search).get('session');
async function get(path) {
  const answer = await fetch(`/v2/session_replays/${id}${path}`);
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
const manifest = await get('/manifest');
const events = [];
let pages = 0;
for (let cursor = ''; cursor !== null; pages++) {
  const page = await get('/events?limit=2' + (cursor && `&cursor=${cursor}`));
  for (const chunk of page.data) events.push(...JSON.parse(chunk.events));
  cursor = page.next_cursor;
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
      chunks: manifest.chunk_count,
      pages,
      title: page.querySelector('h1').textContent,
      cart: [...page.querySelectorAll('#cart li')].map((li) => li.textContent),
      voucher: page.querySelector('#voucher').value,
      scrolled: page.querySelector('#catalogue').scrollTop,
    };
  },
};
document.body.dataset.ready = 'yes';
