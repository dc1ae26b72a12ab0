// The shop page: spans by the OpenTelemetry web SDK, and a recorded session.
import { context, trace, SpanKind } from '@opentelemetry/api';
import { OTLPTraceExporter as JSONExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { FetchInstrumentation } from '@opentelemetry/instrumentation-fetch';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, StackContextManager, WebTracerProvider } from '@opentelemetry/sdk-trace-web';
import { Session } from './session.mjs';

const { endpoint, key, service, encoding } = await (await fetch('/config.json' + location.search)).json();
const session = new Session({ endpoint, key, service });

let started = 0;
const exported = [];
const failures = [];
const Exporter = encoding === 'json' ? JSONExporter : ProtobufExporter;
const exporter = new Exporter({ url: endpoint + '/v1/traces', headers: { Authorization: `Bearer ${key}` } });
const send = exporter.export.bind(exporter);
exporter.export = (spans, done) =>
  send(spans, (result) => {
    if (result.error) failures.push(String(result.error));
    else exported.push(...spans.map((s) => s.spanContext().spanId));
    done(result);
  });
const provider = new WebTracerProvider({
  resource: resourceFromAttributes({ 'service.name': service, 'svc.sdk.type': 'browser', 'session.id': session.id }),
  spanProcessors: [
    {
      onStart: (span) => {
        started++;
        span.setAttribute('session.id', session.id);
      },
      onEnd() {},
      forceFlush: async () => {},
      shutdown: async () => {},
    },
    new BatchSpanProcessor(exporter, { scheduledDelayMillis: 300 }),
  ],
});
provider.register({ contextManager: new StackContextManager() });
registerInstrumentations({
  instrumentations: [new FetchInstrumentation({ ignoreUrls: [new RegExp('^' + endpoint), /config\.json/] })],
  tracerProvider: provider,
});
const tracer = provider.getTracer('shop');
await session.start();

document.querySelector('#add').addEventListener('click', () => {
  const span = tracer.startSpan('add to cart', {
    kind: SpanKind.INTERNAL,
    attributes: { 'cart.items': 1, 'unicode.text': 'žluťoučký 🐎' },
  });
  session.traceIds.push(span.spanContext().traceId);
  context.with(trace.setSpan(context.active(), span), async () => {
    const started = performance.now();
    const response = await fetch('/api/cart', { method: 'POST' });
    session.request('POST', response.url, response.status, started, span.spanContext().traceId);
    const row = document.createElement('li');
    row.textContent = (await response.json()).item;
    document.querySelector('#cart').append(row);
    span.end();
    history.pushState({}, '', '/cart');
    session.track('item added', { item: row.textContent });
  });
});
document.querySelector('#break').addEventListener('click', () => {
  console.error('the voucher service does not answer');
  throw new Error('voucher refused');
});

// The facts that a script can learn about a refusal, and about headers that are not exposed.
async function refusal() {
  const response = await fetch(endpoint + '/v1/sessionEvents', {
    method: 'POST',
    body: '{}',
    headers: { 'x-svc-ingest-key': 'svc_pk_' + 'x'.repeat(43), 'Content-Type': 'application/x-ndjson' },
  });
  return { status: response.status, code: (await response.json()).error?.code, requestId: response.headers.get('x-request-id') };
}

window.shop = {
  async finish() {
    await new Promise((resolve) => setTimeout(resolve, 300)); // rrweb reports scrolls and mouse paths with a delay
    await session.finish();
    await provider.forceFlush();
    // The flush does not wait for a batch that is being sent again.
    while (exported.length < started && !failures.length) await new Promise((resolve) => setTimeout(resolve, 20));
    return {
      session: session.id,
      traceIds: session.traceIds,
      spans: exported,
      failures,
      chunks: session.chunks,
      timeline: session.sequence,
      counts: session.counts,
      answers: session.answers,
      refusal: await refusal(),
    };
  },
};
document.body.dataset.ready = 'yes';
