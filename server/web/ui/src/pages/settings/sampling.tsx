import { useState } from "react";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { SamplingPolicy } from "../../gen/api";
import { errorOf, Field, FormError } from "../../parts/form";
import { Empty, Load } from "../../parts/states";
import { stamp } from "../../parts/time";

const fields = ["trace_sample_ratio", "always_keep_slow_spans_ms"];

/** Sampling says which share of the traces the server keeps, and which spans it keeps always. */
export function Sampling() {
  const admin = useFrame().org.role === "org:admin";
  return admin ? (
    <Policy />
  ) : (
    <section className="panel">
      <Empty title="Only administrators see the sampling of traces" />
    </section>
  );
}

function Policy() {
  const found = useCall("IngestKeysService/GetSamplingPolicy", {});
  return (
    <section className="panel">
      <header>
        <h2>Sampling of traces</h2>
      </header>
      <Load of={found} lines={6}>
        {(policy) => <PolicyForm key={policy.updatedAt ?? "new"} of={policy} />}
      </Load>
    </section>
  );
}

/** asPercent shows a share without the digits that binary fractions add. */
const asPercent = (ratio: number): string => String(Number((ratio * 100).toPrecision(12)));

function PolicyForm({ of }: { of: SamplingPolicy }) {
  const update = useAct("IngestKeysService/UpdateSamplingPolicy");
  const [share, setShare] = useState(asPercent(of.traceSampleRatio ?? 1));
  const [slow, setSlow] = useState(of.alwaysKeepSlowSpansMs ?? "");
  const [errors, setErrors] = useState(of.alwaysKeepErrorSpans ?? false);
  const all = Number(share) >= 100;
  return (
    <form
      className="settingsform"
      onSubmit={(e) => {
        e.preventDefault();
        update.mutate({
          traceSampleRatio: Number((Number(share) / 100).toPrecision(12)),
          alwaysKeepErrorSpans: errors,
          ...(slow.trim() ? { alwaysKeepSlowSpansMs: slow.trim() } : {}),
          updateMask: "traceSampleRatio,alwaysKeepErrorSpans,alwaysKeepSlowSpansMs",
        });
      }}
    >
      <Field
        label="Traces to keep, in percent"
        hint="100 keeps all. Counts and rates stay right: each span that is kept stands for those that are not."
        error={errorOf(update.error, "trace_sample_ratio")}
      >
        {(c) => (
          <input
            {...c}
            className="field"
            name="ratio"
            type="number"
            step="any"
            required
            value={share}
            onChange={(e) => setShare(e.target.value)}
          />
        )}
      </Field>
      <label className="tick">
        <input type="checkbox" name="errors" checked={errors} onChange={(e) => setErrors(e.target.checked)} />
        Always keep spans that failed
      </label>
      <Field
        label="Always keep spans of this many milliseconds and longer"
        hint="Left empty, no span is kept because of its duration."
        error={errorOf(update.error, "always_keep_slow_spans_ms")}
      >
        {(c) => (
          <input {...c} className="field" name="slow" type="number" step="1" value={slow} onChange={(e) => setSlow(e.target.value)} />
        )}
      </Field>
      {!all && <p className="faint">Spans that are dropped are gone. Logs and metrics are never sampled.</p>}
      <p className="faint">{of.updatedAt ? `Changed ${stamp(of.updatedAt)}` : "Never changed: all traces are kept."}</p>
      <FormError error={update.error} fields={fields} />
      <div className="row">
        <button type="submit" className="button primary" disabled={update.isPending}>
          Save
        </button>
        {update.isSuccess && (
          <span className="good" role="status">
            Saved
          </span>
        )}
      </div>
    </form>
  );
}
