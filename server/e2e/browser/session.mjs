// A browser SDK that follows the ingest contract. It sends session meta, timeline events and recording chunks with the public ingest key.
import { record } from 'rrweb';

const flushEvery = 400;

export class Session {
  constructor({ endpoint, key, service }) {
    Object.assign(this, { endpoint, key, service });
    this.id = crypto.randomUUID();
    this.startedAt = new Date();
    this.sequence = 0;
    this.chunkSequence = 0;
    this.counts = { page_views: 0, click_count: 0, error_count: 0 };
    this.traceIds = [];
    this.events = [];
    this.timeline = [];
    this.answers = [];
    this.chunks = [];
    this.sending = Promise.resolve();
    sessionStorage.setItem('svc.session', JSON.stringify({ id: this.id, startedAt: this.startedAt.getTime(), chunkSeq: 0 }));
  }

  async start() {
    await this.send('/v1/sessionReplays/meta', 'application/x-ndjson', this.meta(1));
    this.stopRecording = record({ emit: (e) => this.events.push(e), maskAllInputs: true, sampling: { mousemove: 50 } });
    this.listen();
    this.navigated();
    this.timer = setInterval(() => this.flush(), flushEvery);
  }

  // flush sends what has been collected, one flush after the other.
  flush() {
    this.sending = this.sending.then(async () => {
      await this.sendTimeline();
      await this.sendChunk();
    });
    return this.sending;
  }

  async finish() {
    clearInterval(this.timer);
    this.stopRecording();
    await this.flush();
  }

  async send(path, type, body, { headers = {}, keepalive = false } = {}) {
    const response = await fetch(this.endpoint + path, {
      method: 'POST',
      body,
      keepalive,
      headers: { Authorization: `Bearer ${this.key}`, 'Content-Type': type, ...headers },
    });
    this.answers.push({ path, status: response.status, readable: [...response.headers.keys()], text: await response.text() });
  }

  async sendTimeline() {
    const lines = this.timeline.splice(0);
    if (lines.length) await this.send('/v1/sessionEvents', 'application/x-ndjson', lines.map((l) => JSON.stringify(l)).join('\n'));
  }

  async sendChunk() {
    const events = this.events.splice(0);
    if (!events.length) return;
    const text = new TextEncoder().encode(JSON.stringify(events));
    const zipped = await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
    const sequence = this.chunkSequence++;
    const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', text));
    this.chunks.push({
      sequence,
      events: events.length,
      bytes: text.length,
      sha256: [...hash].map((b) => b.toString(16).padStart(2, '0')).join(''),
    });
    await this.send('/v1/sessionReplays/blob', 'application/octet-stream', zipped, {
      headers: {
        'x-svc-session-id': this.id,
        'x-svc-chunk-seq': String(sequence),
        'x-svc-is-checkpoint': events.slice(0, 2).some((e) => e.type === 2) ? '1' : '0',
        'x-svc-event-count': String(events.length),
        'x-svc-duration-ms': String(events.at(-1).timestamp - events[0].timestamp),
      },
    });
  }

  meta(version) {
    const ended = version === 2;
    return JSON.stringify({
      session_id: this.id,
      version,
      status: ended ? 'ended' : 'active',
      start_time: time(this.startedAt),
      end_time: ended ? time(new Date()) : null,
      duration_ms: Date.now() - this.startedAt.getTime(),
      url_initial: location.href,
      user_agent: navigator.userAgent,
      browser_name: 'Chrome',
      os_name: 'Linux',
      device_type: 'desktop',
      language: navigator.language,
      service_name: this.service,
      user_id: 'u-1042',
      trace_ids: this.traceIds,
      ...this.counts,
      resource_attributes: { 'service.name': this.service, 'svc.sdk.type': 'browser', 'session.id': this.id },
    });
  }

  event(type, fields = {}) {
    this.timeline.push({ session_id: this.id, timestamp: time(new Date()), seq: this.sequence++, type, url: location.href, ...fields });
  }

  navigated() {
    this.counts.page_views++;
    this.event('navigation');
  }

  track(name, attributes) {
    this.event('custom', { message: name, attributes });
  }

  request(method, url, status, started, traceId) {
    this.event('network', {
      net_method: method,
      net_url: url,
      net_status: status,
      net_duration_ms: Math.round(performance.now() - started),
      trace_id: traceId,
    });
  }

  listen() {
    addEventListener(
      'click',
      (e) => {
        this.counts.click_count++;
        this.event('click', { target_selector: selector(e.target), target_text: (e.target.textContent || '').trim().slice(0, 120) });
      },
      true,
    );
    addEventListener('change', (e) => this.event('input', { target_selector: selector(e.target) }), true);
    addEventListener('error', (e) => {
      this.counts.error_count++;
      this.event('error', { message: e.message, error_stack: String(e.error?.stack ?? '').slice(0, 4000) });
    });
    const pushState = history.pushState.bind(history);
    history.pushState = (...args) => {
      pushState(...args);
      this.navigated();
    };
    const error = console.error.bind(console);
    console.error = (...args) => {
      this.event('console', { level: 'error', message: args.join(' ').slice(0, 1024) });
      error(...args);
    };
    // The page is about to close: only a request with keepalive outlives it.
    addEventListener('pagehide', () => this.send('/v1/sessionReplays/meta', 'application/x-ndjson', this.meta(2), { keepalive: true }));
  }
}

const time = (date) => date.toISOString().replace('T', ' ').replace('Z', '');
const selector = (e) => e.tagName.toLowerCase() + (e.id ? `#${e.id}` : '');
