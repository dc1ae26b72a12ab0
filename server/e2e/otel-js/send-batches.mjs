// Sends batches of spans, log records and metric points, each item with its own mark, with the OpenTelemetry JavaScript exporters
// and their retries. Prints the dropped items as JSON. The ingest key is in SVC_INGEST_KEY.
//
//	node send-batches.mjs <http/protobuf|http/json|grpc> <endpoint> <run> <batches> <items in a batch>
import { exporter } from './exporter.mjs';
import { SeverityNumber } from '@opentelemetry/api-logs';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { LoggerProvider, BatchLogRecordProcessor } from '@opentelemetry/sdk-logs';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';

const [protocol, endpoint, run, batches, items] = process.argv.slice(2);
const key = process.env.SVC_INGEST_KEY;
const failures = [];
const make = (signal) => exporter(signal, { protocol, endpoint, key, failures });
const resource = resourceFromAttributes({ 'service.name': run, 'loadtest.run': run });
const mark = (batch, i) => ({ 'loadtest.item': `${String(batch).padStart(10, '0')}-${String(i).padStart(6, '0')}` });

const total = batches * items;
const batching = { maxExportBatchSize: Number(items), maxQueueSize: total, scheduledDelayMillis: 60000, exportTimeoutMillis: 60000 };
const tracing = new BasicTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(await make('trace'), batching)] });
const logging = new LoggerProvider({ resource, processors: [new BatchLogRecordProcessor(await make('logs'), batching)] });
const meterings = [];
for (let batch = 0; batch < batches; batch++) {
  // A provider exports all its points in one request.
  const reader = new PeriodicExportingMetricReader({ exporter: await make('metrics'), exportIntervalMillis: 3600000, exportTimeoutMillis: 60000 });
  const metering = new MeterProvider({ resource, readers: [reader] });
  meterings.push(metering);
  const meter = metering.getMeter('e2e');
  const counter = meter.createCounter('e2e.steps');
  const histogram = meter.createHistogram('e2e.step.duration');
  const gauge = meter.createGauge('e2e.steps.open');
  for (let i = 0; i < items; i++) {
    tracing.getTracer('e2e').startSpan('step', { attributes: mark(batch, i) }).end();
    logging.getLogger('e2e').emit({ severityNumber: SeverityNumber.INFO, body: 'step done', attributes: mark(batch, i) });
    if (i % 3 === 0) counter.add(1, mark(batch, i));
    else if (i % 3 === 1) histogram.record(i, mark(batch, i));
    else gauge.record(i, mark(batch, i));
  }
}
await Promise.all([tracing.forceFlush(), logging.forceFlush()]);
// A flush of metrics exports them once more at the shutdown.
await Promise.all([tracing, logging, ...meterings].map((p) => p.shutdown()));
console.log(JSON.stringify({ failures }));
