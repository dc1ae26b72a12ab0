import { useState } from "react";
import { useAct } from "../../frame/session";
import type { CreateScrapeTargetRequest, ScrapeTarget } from "../../gen/api";
import { Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";

const auths = { none: "None", bearer: "Bearer token", basic: "User and password", token: "Token" } as const;
const fields = ["name", "service_name", "url", "scrape_interval_seconds", "labels_json", "auth_credentials"];

/** TargetForm makes a target, or changes one. A credential that is left empty stays as it is. */
export function TargetForm({ of, close }: { of?: ScrapeTarget; close: () => void }) {
  const create = useAct("ScrapeTargetsService/CreateScrapeTarget", close);
  const update = useAct("ScrapeTargetsService/UpdateScrapeTarget", close);
  const [auth, setAuth] = useState(of?.authType ?? "none");
  const { error } = of ? update : create;
  const save = (d: FormData): void => {
    const text = (name: string): string => String(d.get(name) ?? "").trim();
    const secret = text("auth_credentials");
    const body: CreateScrapeTargetRequest = {
      name: text("name"),
      url: text("url"),
      scrapeIntervalSeconds: Number(text("scrape_interval_seconds")),
      authType: auth,
      ...(text("service_name") ? { serviceName: text("service_name") } : {}),
      ...(text("labels_json") ? { labelsJson: text("labels_json") } : {}),
      ...(secret ? { authCredentials: secret } : {}),
    };
    if (!of) return create.mutate(body);
    const mask = [
      "name",
      "url",
      "scrapeIntervalSeconds",
      "authType",
      ...(body.serviceName ? ["serviceName"] : []),
      ...(body.labelsJson ? ["labelsJson"] : []),
      ...(secret ? ["authCredentials"] : []),
    ];
    update.mutate({ ...body, id: of.id ?? "", updateMask: mask.join(",") });
  };
  return (
    <Dialog title={of ? "Change the scrape target" : "New scrape target"} close={close} hold>
      <form
        className="settingsform"
        onSubmit={(e) => {
          e.preventDefault();
          save(new FormData(e.currentTarget));
        }}
      >
        <Field label="Name" hint="Points have it as the attribute job." error={errorOf(error, "name")}>
          {(c) => <input {...c} className="field" name="name" required autoComplete="off" defaultValue={of?.name ?? ""} />}
        </Field>
        <Field label="Address" error={errorOf(error, "url")}>
          {(c) => (
            <input
              {...c}
              className="field"
              name="url"
              type="url"
              required
              placeholder="https://metrics.example.com:9100/metrics"
              defaultValue={of?.url ?? ""}
            />
          )}
        </Field>
        <Field
          label="Service"
          hint="The service that the metrics belong to; the name of the target when left out."
          error={errorOf(error, "service_name")}
        >
          {(c) => <input {...c} className="field" name="service_name" autoComplete="off" defaultValue={of?.serviceName ?? ""} />}
        </Field>
        <Field label="Seconds between two scrapes" error={errorOf(error, "scrape_interval_seconds")}>
          {(c) => (
            <input
              {...c}
              className="field"
              name="scrape_interval_seconds"
              type="number"
              required
              defaultValue={of?.scrapeIntervalSeconds ?? 15}
            />
          )}
        </Field>
        <Field label="Attributes of every point" hint={'A JSON object, as in {"region":"eu"}.'} error={errorOf(error, "labels_json")}>
          {(c) => <input {...c} className="field" name="labels_json" autoComplete="off" defaultValue={of?.labelsJson ?? ""} />}
        </Field>
        <Field label="Authentication" error={errorOf(error, "auth_type")}>
          {(c) => (
            <select {...c} className="field" value={auth} onChange={(e) => setAuth(e.target.value as typeof auth)}>
              {Object.entries(auths).map(([a, name]) => (
                <option key={a} value={a}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        {auth !== "none" && (
          <Field
            label="Credential"
            hint={of?.hasCredentials ? "Left empty, the present one stays." : auth === "basic" ? "user:password" : undefined}
            error={errorOf(error, "auth_credentials")}
          >
            {(c) => <input {...c} className="field" name="auth_credentials" type="password" autoComplete="new-password" />}
          </Field>
        )}
        <FormError error={error} fields={fields} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || update.isPending}>
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}
