// Creates the OpenTelemetry exporter of a signal for a protocol, and records the items that it drops.
const packages = { 'http/protobuf': 'proto', 'http/json': 'http', grpc: 'grpc' };
const signals = {
  trace: { name: 'OTLPTraceExporter', path: '/v1/traces' },
  logs: { name: 'OTLPLogExporter', path: '/v1/logs' },
  metrics: { name: 'OTLPMetricExporter', path: '/v1/metrics' },
};

export async function exporter(signal, { protocol, endpoint, key, failures }) {
  const kind = packages[protocol];
  if (!kind) throw new Error(`protocol ${protocol}: want ${Object.keys(packages).join(', ')}`);
  const module = await import(`@opentelemetry/exporter-${signal}-otlp-${kind}`);
  const { name, path } = signals[signal];
  const made = new module[name]({ ...(await connection(kind, endpoint, path, key)), compression: 'gzip' });
  const send = made.export.bind(made);
  made.export = (items, done) => send(items, (result) => {
    if (result.error) failures.push(`${signal}: ${result.error}`);
    done(result);
  });
  return made;
}

async function connection(kind, endpoint, path, key) {
  if (kind !== 'grpc') return { url: endpoint + path, headers: { Authorization: `Bearer ${key}` } };
  const { Metadata, credentials } = await import('@grpc/grpc-js');
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  return { url: endpoint, metadata, credentials: credentials.createInsecure() };
}
