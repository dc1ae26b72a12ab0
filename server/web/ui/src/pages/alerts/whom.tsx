import { href, Link } from "../../frame/router";
import { useCall } from "../../frame/session";
import {
  AlertNotificationTemplate_body,
  AlertNotificationTemplate_title,
  CreateAlertRuleRequest_name,
  CreateAlertRuleRequest_notes,
} from "../../gen/limits";
import { errorOf, Field } from "../../parts/form";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Load } from "../../parts/states";
import type { Part } from "./what";

/** Whom is the third part of a rule: the destinations of its messages. */
export function Whom({ draft: d, set, error }: Part) {
  const destinations = useCall("AlertDestinationsService/ListAlertDestinations", { limit: 100 });
  const chosen = new Set(d.destinationIds ?? []);
  return (
    <section className="panel" aria-labelledby="whom">
      <header>
        <h2 id="whom" className="grow">
          <span className="step">3</span> Whom
        </h2>
        <Link href={href("/alerts/destinations")}>Destinations</Link>
      </header>
      <div className="body part">
        <Load
          of={destinations}
          empty={(a) =>
            !a.data?.length && (
              <p>
                There is no destination yet. The rule opens incidents, and nobody gets a message.{" "}
                <Link href={href("/alerts/destinations", { new: "webhook" })}>Create a destination</Link>
              </p>
            )
          }
        >
          {(a) => (
            <fieldset className="choice column">
              <legend className="sr">Destinations</legend>
              {a.data?.map((t) => (
                <label key={t.id}>
                  <input
                    type="checkbox"
                    checked={chosen.has(t.id ?? "")}
                    onChange={(e) =>
                      set({ destinationIds: e.target.checked ? [...chosen, t.id ?? ""] : [...chosen].filter((x) => x !== t.id) })
                    }
                  />
                  <b>{line(t.name ?? "", 100)}</b>{" "}
                  <span className="faint">
                    {t.type}, {line(t.summary ?? "", 120)}
                  </span>{" "}
                  {!t.enabled && <span className="warn">● off</span>}
                </label>
              ))}
            </fieldset>
          )}
        </Load>
        {errorOf(error, "destination_ids") && (
          <p className="bad" role="alert">
            {errorOf(error, "destination_ids")}
          </p>
        )}
        <fieldset className="choice">
          <legend>Severity</legend>
          {(["critical", "warning"] as const).map((s) => (
            <label key={s}>
              <input type="radio" name="severity" checked={d.severity === s} onChange={() => set({ severity: s })} /> {s}
            </label>
          ))}
        </fieldset>
      </div>
    </section>
  );
}

const keys = [
  "rule.name",
  "event.label",
  "event.emoji",
  "severity",
  "signal.label",
  "comparator.label",
  "threshold",
  "thresholdUpper",
  "value",
  "observed.summary",
  "sampleCount",
  "group",
  "window",
  "incidentId",
  "incidentStatus",
  "links.app",
  "links.chat",
  "sentAt",
  "rule.id",
  "event.type",
  "signal",
];

/** Message is the fourth part of a rule: its own words, or those that every rule has. The preview checks them. */
export function Message({ draft: d, set, error }: Part) {
  const t = d.notificationTemplate ?? {};
  const write = (patch: { title?: string; body?: string }): void => set({ notificationTemplate: { ...t, ...patch } });
  return (
    <section className="panel" aria-labelledby="message">
      <header>
        <h2 id="message">
          <span className="step">4</span> Message
        </h2>
      </header>
      <div className="body part">
        <Field label="Name" error={errorOf(error, "name")}>
          {(c) => (
            <input
              {...c}
              className="field"
              {...atMost(CreateAlertRuleRequest_name)}
              value={d.name ?? ""}
              placeholder="Checkout errors"
              onChange={(e) => set({ name: e.target.value })}
            />
          )}
        </Field>
        <Field label="Notes" hint="For the person who is woken: what to look at first." error={errorOf(error, "notes")}>
          {(c) => (
            <textarea
              {...c}
              className="field"
              rows={2}
              {...atMost(CreateAlertRuleRequest_notes)}
              value={d.notes ?? ""}
              onChange={(e) => set({ notes: e.target.value })}
            />
          )}
        </Field>
        <details open={Boolean(t.title || t.body)}>
          <summary>Texts of the message</summary>
          <div className="part">
            <Field label="Title" error={errorOf(error, "title")}>
              {(c) => (
                <input
                  {...c}
                  className="field mono"
                  {...atMost(AlertNotificationTemplate_title)}
                  value={t.title ?? ""}
                  placeholder={"{{ severity }}: {{ rule.name }} in {{ group }}"}
                  onChange={(e) => write({ title: e.target.value })}
                />
              )}
            </Field>
            <Field
              label="Body"
              error={errorOf(error, "body")}
              hint='A block {{#if group}}…{{/if}} shows when the key has a value. A default is {{ group | default:"all" }}.'
            >
              {(c) => (
                <textarea
                  {...c}
                  className="field mono"
                  rows={4}
                  {...atMost(AlertNotificationTemplate_body)}
                  value={t.body ?? ""}
                  placeholder={"{{ observed.summary }}\n{{ links.app }}"}
                  onChange={(e) => write({ body: e.target.value })}
                />
              )}
            </Field>
            <p className="keyset">
              {keys.map((k) => (
                <button key={k} type="button" className="chip mono" onClick={() => write({ body: `${t.body ?? ""}{{ ${k} }}` })}>
                  {k}
                </button>
              ))}
            </p>
          </div>
        </details>
        {errorOf(error, "notification_template") && !errorOf(error, "title") && !errorOf(error, "body") && (
          <p className="bad" role="alert">
            {errorOf(error, "notification_template")}
          </p>
        )}
      </div>
    </section>
  );
}
