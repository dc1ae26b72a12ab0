import { useEffect, useState } from "react";
import { count, lasts } from "../parts/format";
import { Copy, Load } from "../parts/states";
import { ago } from "../parts/time";
import { href, Link } from "../frame/router";
import { useCall, useFrame } from "../frame/session";
import { SignalWindow } from "../gen/limits";
import "./start.css";

const meta = (name: string): string => document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? "";

type Recipe = { name: string; text: (url: string, key: string) => string };

const recipes: Recipe[] = [
  {
    name: "Any SDK",
    text: (u, k) =>
      `export OTEL_SERVICE_NAME=my-service\nexport OTEL_EXPORTER_OTLP_ENDPOINT=${u}\nexport OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\nexport OTEL_EXPORTER_OTLP_HEADERS=x-svc-ingest-key=${k}`,
  },
  {
    name: "Node.js",
    text: (u, k) =>
      `npm install @opentelemetry/api @opentelemetry/auto-instrumentations-node\n\nOTEL_SERVICE_NAME=my-service \\\nOTEL_EXPORTER_OTLP_ENDPOINT=${u} \\\nOTEL_EXPORTER_OTLP_HEADERS=x-svc-ingest-key=${k} \\\nnode --require @opentelemetry/auto-instrumentations-node/register app.js`,
  },
  {
    name: "Python",
    text: (u, k) =>
      `pip install opentelemetry-distro opentelemetry-exporter-otlp\nopentelemetry-bootstrap -a install\n\nOTEL_SERVICE_NAME=my-service \\\nOTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf \\\nOTEL_EXPORTER_OTLP_ENDPOINT=${u} \\\nOTEL_EXPORTER_OTLP_HEADERS=x-svc-ingest-key=${k} \\\nopentelemetry-instrument python app.py`,
  },
  {
    name: "Java",
    text: (u, k) =>
      `OTEL_SERVICE_NAME=my-service \\\nOTEL_EXPORTER_OTLP_ENDPOINT=${u} \\\nOTEL_EXPORTER_OTLP_HEADERS=x-svc-ingest-key=${k} \\\njava -javaagent:opentelemetry-javaagent.jar -jar app.jar`,
  },
  {
    name: "Collector",
    text: (u, k) =>
      `exporters:\n  otlphttp:\n    endpoint: ${u}\n    headers:\n      x-svc-ingest-key: ${k}\n\nservice:\n  pipelines:\n    traces: { receivers: [otlp], exporters: [otlphttp] }\n    logs: { receivers: [otlp], exporters: [otlphttp] }\n    metrics: { receivers: [otlp], exporters: [otlphttp] }`,
  },
  {
    name: "curl",
    text: (u, k) =>
      `curl -sS ${u}/v1/traces -H 'Content-Type: application/json' -H 'x-svc-ingest-key: ${k}' -d '{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"my-service"}}]},"scopeSpans":[{"spans":[{"traceId":"'$(openssl rand -hex 16)'","spanId":"'$(openssl rand -hex 8)'","name":"hello","kind":2,"startTimeUnixNano":"'$(date +%s)000000000'","endTimeUnixNano":"'$(date +%s)100000000'"}]}]}]}'`,
  },
];

/** Start leads from nothing to the first trace, and shows what arrives while it does. */
export default function Start() {
  const { now, org, me } = useFrame();
  const admin = me.organizations?.find((o) => o.id === org.id)?.role === "org:admin" || org.role === "org:admin";
  const keys = useCall("IngestKeysService/GetIngestKeys", {}, { enabled: admin });
  const signals = useCall("InstrumentationService/GetTelemetrySignals", {}, { every: 2000 });
  const audit = useCall("InstrumentationService/GetSetupAudit", {});
  const [at, setAt] = useState(0);
  useEffect(() => {
    document.title = `Get started · ${org.name} · svc`;
  }, [org.name]);
  const url = meta("svc-ingest-url");
  const key = keys.data?.publicKey || "YOUR_INGEST_KEY";
  const text = recipes[at]!.text(url, key);
  const present = signals.data?.signals?.some((s) => s.status === "present");
  return (
    <>
      <div className="pagehead">
        <h1>Get started</h1>
      </div>
      <div className="startgrid">
        <section className="panel">
          <header>
            <h2 className="grow">1. Send telemetry</h2>
            <Copy text={text} />
          </header>
          <div className="tabs" role="tablist" aria-label="Ways to send">
            {recipes.map((r, i) => (
              <button key={r.name} type="button" role="tab" className="tab" aria-selected={i === at} onClick={() => setAt(i)}>
                {r.name}
              </button>
            ))}
          </div>
          {/* biome-ignore lint: long lines scroll by the keyboard */}
          <pre className="code" tabIndex={0} aria-label="Commands">
            {text}
          </pre>
          <p className="hint faint">
            {admin
              ? "The public key may only send; you can put it into browsers and apps."
              : "Ask an administrator for an ingest key, and put it in the place of YOUR_INGEST_KEY."}
          </p>
        </section>
        <section className="panel">
          <header>
            <h2 className="grow">2. See it arrive</h2>
            <span className="faint">every 2 s</span>
          </header>
          <Load of={signals}>
            {(d) => (
              <table className="data">
                <thead>
                  <tr>
                    <th scope="col">Signal</th>
                    <th scope="col" className="num">
                      Records, {lasts(SignalWindow)}
                    </th>
                    <th scope="col">Last</th>
                  </tr>
                </thead>
                <tbody>
                  {d.signals?.map((s) => (
                    <tr key={s.signal}>
                      <td>
                        <span className={s.status === "present" ? "good" : "faint"} aria-hidden="true">
                          {s.status === "present" ? "●" : "○"}
                        </span>{" "}
                        {s.signal?.replace("_", " ")}
                      </td>
                      <td className="num">{s.status === "present" ? count(s.count) : "waiting"}</td>
                      <td className="faint">{s.lastSeen ? ago(s.lastSeen, Math.max(now, Date.parse(d.generatedAt ?? ""))) : ""}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Load>
          <p className="hint" role="status">
            {present ? (
              <>
                It works. <Link href={href("/traces")}>Open the traces</Link> or <Link href={href("/services")}>the services</Link>.
              </>
            ) : (
              "Nothing arrived yet. This page shows it within seconds."
            )}
          </p>
        </section>
        <section className="panel">
          <header>
            <h2 className="grow">Or look at demo data first</h2>
            <Copy text="svc demo --bootstrap-file data/keys.json --hours 24 --follow" />
          </header>
          <pre className="code" tabIndex={0} aria-label="Command">
            svc demo --bootstrap-file data/keys.json --hours 24 --follow
          </pre>
          <p className="hint faint">
            It sends a day of a small shop with twelve services and four planted faults, then goes on live. <code>svc send-test</code>{" "}
            checks the way of one span.
          </p>
        </section>
        <section className="panel">
          <header>
            <h2 className="grow">3. Make it good</h2>
            {audit.data?.summary && <span className="faint">{audit.data.summary.pass ?? 0} checks pass</span>}
          </header>
          <Load
            of={audit}
            empty={(d) =>
              !d.checks?.some((c) => c.status === "fail") && (
                <p className="fine">
                  <span className="good" aria-hidden="true">
                    ✓
                  </span>{" "}
                  Nothing to improve.
                </p>
              )
            }
          >
            {(d) => (
              <ul className="checks">
                {d.checks
                  ?.filter((c) => c.status === "fail")
                  .map((c) => (
                    <li key={c.id}>
                      <b className={c.severity === "critical" ? "bad" : c.severity === "warn" ? "warn" : ""}>{c.title}</b>
                      <span className="faint"> {c.detail}</span>
                      <p className="faint">{c.fixHint}</p>
                    </li>
                  ))}
              </ul>
            )}
          </Load>
        </section>
      </div>
    </>
  );
}
