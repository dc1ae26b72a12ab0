import type { ApiError } from "../../api/client";
import { times, useCall, useFrame } from "../../frame/session";
import { CreateAlertRuleRequest_apdex_threshold_ms } from "../../gen/limits";
import { keysOf } from "../../parts/choices";
import { errorOf, Field } from "../../parts/form";
import { Many } from "../../parts/many";
import { Queries } from "./builder";
import { type Draft, onServices, type SignalType, signals, sqlStart, switched } from "./draft";

export type Part = { draft: Draft; set: (patch: Partial<Draft>) => void; error: ApiError | null };

const reducers = keysOf<NonNullable<Draft["rawQueryReducer"]>>({ identity: 1, sum: 1, avg: 1, min: 1, max: 1 });

/** What is the first part of a rule: the signal, and the groups that are judged one by one. */
export function What({ draft: d, set, error, replace }: Part & { replace: (d: Draft) => void }) {
  const { window: w } = useFrame();
  const services = useCall("ServicesService/ListServices", { ...times(w), limit: 100 });
  const environments = useCall("EnvironmentsService/ListEnvironments", times(w));
  const names = (services.data?.data ?? []).map((s) => s.name ?? "");
  const each = d.serviceNames?.length ? "named" : d.groupBy?.join() === "service.name" ? "service" : d.groupBy?.length ? "fields" : "all";
  return (
    <section className="panel" aria-labelledby="what">
      <header>
        <h2 id="what">
          <span className="step">1</span> What
        </h2>
      </header>
      <div className="body part">
        <fieldset className="choice">
          <legend>Signal</legend>
          {(Object.keys(signals) as SignalType[]).map((s) => (
            <label key={s} title={signals[s].hint}>
              <input type="radio" name="signal" checked={d.signalType === s} onChange={() => replace(switched(d, s))} />
              {signals[s].name}
            </label>
          ))}
        </fieldset>
        <p className="faint">{signals[d.signalType ?? "error_rate"].hint}</p>
        {d.signalType === "builder_query" && <Queries draft={d} set={set} error={error} />}
        {d.signalType === "raw_query" && (
          <>
            <Field
              label="Statement"
              error={errorOf(error, "raw_query_sql")}
              hint="It needs a column value, and $__orgFilter and $__timeFilter(timestamp) in its WHERE. A column group makes groups, a column samples counts."
            >
              {(c) => (
                <textarea
                  {...c}
                  className="field mono"
                  rows={7}
                  spellCheck={false}
                  value={d.rawQuerySql ?? sqlStart}
                  onChange={(e) => set({ rawQuerySql: e.target.value })}
                />
              )}
            </Field>
            <Field label="Several rows of a group become one value" error={errorOf(error, "raw_query_reducer")}>
              {(c) => (
                <select
                  {...c}
                  className="field"
                  value={d.rawQueryReducer ?? "identity"}
                  onChange={(e) => set({ rawQueryReducer: e.target.value as NonNullable<Draft["rawQueryReducer"]> })}
                >
                  {reducers.map((r) => (
                    <option key={r} value={r}>
                      {r === "identity" ? "the first one" : r}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          </>
        )}
        {onServices(d.signalType) && (
          <>
            <Field label="Judged" error={errorOf(error, "group_by")}>
              {(c) => (
                <select {...c} className="field" value={each} onChange={(e) => set(groupsOf(e.target.value, names))}>
                  <option value="service">each service by itself</option>
                  <option value="named">these services, each by itself</option>
                  <option value="fields">each value of a field by itself</option>
                  <option value="all">all requests together</option>
                </select>
              )}
            </Field>
            {each === "named" && (
              <Many
                label="Services"
                values={d.serviceNames ?? []}
                offers={names}
                error={errorOf(error, "service_names")}
                placeholder="cart"
                onChange={(serviceNames) => set(serviceNames.length ? { serviceNames } : groupsOf("service", names))}
              />
            )}
            {each === "service" && (
              <Many
                label="Without these services"
                values={d.excludeServiceNames ?? []}
                offers={names}
                error={errorOf(error, "exclude_service_names")}
                onChange={(excludeServiceNames) => set({ excludeServiceNames })}
              />
            )}
            {each === "fields" && <Fields draft={d} set={set} error={error} />}
            <Many
              label="Environments"
              hint={d.environments?.length ? undefined : "All environments together."}
              values={d.environments ?? []}
              offers={(environments.data?.data ?? []).map((e) => e.name ?? "")}
              error={errorOf(error, "environments")}
              onChange={(list) => set({ environments: list })}
            />
            {d.signalType === "apdex" && (
              <Field label="Satisfied below, ms" error={errorOf(error, "apdex_threshold_ms")}>
                {(c) => (
                  <input
                    {...c}
                    className="field"
                    type="number"
                    {...CreateAlertRuleRequest_apdex_threshold_ms}
                    value={d.apdexThresholdMs ?? 500}
                    onChange={(e) => set({ apdexThresholdMs: Number(e.target.value) })}
                  />
                )}
              </Field>
            )}
          </>
        )}
        {d.signalType === "builder_query" && <Fields draft={d} set={set} error={error} />}
      </div>
    </section>
  );
}

function Fields({ draft: d, set, error }: Part) {
  return (
    <Many
      label="A group for each value of"
      hint={
        d.groupBy?.length
          ? "Each group opens an incident of its own."
          : "One value for everything. Add a field, and each of its values is judged by itself."
      }
      values={d.groupBy ?? []}
      offers={["service.name", "deployment.environment", "http.route", "span.name", "severity", "attr.", "resource.host.name"]}
      placeholder="service.name"
      error={errorOf(error, "group_by")}
      onChange={(groupBy) => set({ groupBy })}
    />
  );
}

function groupsOf(each: string, names: string[]): Partial<Draft> {
  if (each === "named") return { serviceNames: names.slice(0, 1), groupBy: [], excludeServiceNames: [] };
  return {
    serviceNames: [],
    excludeServiceNames: [],
    groupBy: each === "service" ? ["service.name"] : each === "fields" ? ["http.route"] : [],
  };
}
