// Sends one trace, one log record and one metric with the OpenTelemetry JavaScript SDK over one protocol, and prints the ids as JSON.
//
//	node send.mjs <http/protobuf|http/json|grpc> <endpoint> <ingest key> <service name>
import { exporter } from './exporter.mjs';
import { context, trace, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { LoggerProvider, SimpleLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

const [protocol, endpoint, key, service] = process.argv.slice(2);
if (!service) {
  console.error('usage: node send.mjs <http/protobuf|http/json|grpc> <endpoint> <ingest key> <service name>');
  process.exit(2);
}

const failures = [];
const make = (signal) => exporter(signal, { protocol, endpoint, key, failures });

const resource = resourceFromAttributes({
  'service.name': service,
  'service.version': '1.2.3',
  'service.namespace': 'shop',
  'deployment.environment.name': 'e2e',
});

const tracing = new BasicTracerProvider({
  resource,
  spanProcessors: [new SimpleSpanProcessor(await make('trace'))],
});
const logging = new LoggerProvider({
  resource,
  processors: [new SimpleLogRecordProcessor(await make('logs'))],
});
const metering = new MeterProvider({
  resource,
  readers: [new PeriodicExportingMetricReader({ exporter: await make('metrics'), exportIntervalMillis: 60000 })],
});

const tracer = tracing.getTracer('e2e-js', '0.1.0');
const root = tracer.startSpan('GET /cart/{id}', {
  kind: SpanKind.SERVER,
  attributes: {
    'http.request.method': 'GET', 'http.route': '/cart/{id}', 'http.response.status_code': 500,
    'cart.items': 3, 'cart.total': 12.5, 'cart.gift': true, 'cart.tags': ['new', 'sale'], 'unicode.text': 'žluťoučký 🐎',
  },
});
const parent = trace.setSpan(context.active(), root);
const child = tracer.startSpan('SELECT cart', {
  kind: SpanKind.CLIENT,
  attributes: { 'db.system.name': 'postgresql' },
  links: [{ context: { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 }, attributes: { 'link.reason': 'retry' } }],
}, parent);
child.addEvent('exception', { 'exception.type': 'TimeoutError', 'exception.message': 'no answer in 5 s' });
child.setStatus({ code: SpanStatusCode.ERROR, message: 'no answer in 5 s' });
logging.getLogger('e2e-js').emit({
  severityNumber: SeverityNumber.ERROR, severityText: 'error', body: 'cart lookup timed out', attributes: { 'cart.id': 'c-17', attempt: 2 },
  context: trace.setSpan(context.active(), child),
});
child.end();
root.end();

const meter = metering.getMeter('e2e-js');
meter.createCounter('e2e.carts', { unit: '{cart}', description: 'Carts read' }).add(7, { outcome: 'timeout' });
meter.createHistogram('e2e.cart.duration', { unit: 'ms' }).record(42);
meter.createObservableGauge('e2e.cart.open').addCallback((r) => r.observe(5));

await Promise.all([tracing.forceFlush(), logging.forceFlush(), metering.forceFlush()]);
await Promise.all([tracing.shutdown(), logging.shutdown(), metering.shutdown()]);
if (failures.length) {
  console.error(failures.join('\n'));
  process.exit(1);
}
console.log(JSON.stringify({ trace_id: root.spanContext().traceId, root_span_id: root.spanContext().spanId, child_span_id: child.spanContext().spanId }));
