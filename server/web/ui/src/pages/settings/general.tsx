import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { navigate } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import { Confirm } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Copy, Load } from "../../parts/states";
import { stamp } from "../../parts/time";

/** General edits the name and the short name of the organization, and deletes it. */
export function General() {
  const { org } = useFrame();
  const admin = org.role === "org:admin";
  const found = useCall("OrganizationService/GetOrganization", {});
  const client = useQueryClient();
  const update = useAct("OrganizationService/UpdateOrganization", (o) => {
    void client.invalidateQueries({ queryKey: ["session"] });
    if (o.slug && o.slug !== org.slug) location.assign(`/o/${o.slug}/settings`);
  });
  const remove = useAct("OrganizationService/DeleteOrganization", () => location.assign("/"));
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <>
      <section className="panel">
        <header>
          <h2>Organization</h2>
        </header>
        <Load of={found} lines={4}>
          {(o) => (
            <form
              key={`${o.name} ${o.slug}`}
              className="settingsform"
              onSubmit={(e) => {
                e.preventDefault();
                const d = new FormData(e.currentTarget);
                update.mutate({ name: String(d.get("name") ?? ""), slug: String(d.get("slug") ?? ""), updateMask: "name,slug" });
              }}
            >
              <Field label="Name" error={errorOf(update.error, "name")}>
                {(c) => <input {...c} className="field" name="name" defaultValue={o.name ?? ""} required disabled={!admin} />}
              </Field>
              <Field
                label="Short name"
                hint="It is part of the address of each page. Old links end when it changes."
                error={errorOf(update.error, "slug")}
              >
                {(c) => <input {...c} className="field" name="slug" defaultValue={o.slug ?? ""} required disabled={!admin} />}
              </Field>
              <p className="faint row">
                Created {stamp(o.createdAt)} · {o.id} <Copy text={o.id ?? ""} label="Copy the id" quiet />
              </p>
              <FormError error={update.error} fields={["name", "slug"]} />
              {admin && (
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
              )}
            </form>
          )}
        </Load>
      </section>
      {admin && (
        <section className="panel">
          <header>
            <h2>Delete the organization</h2>
          </header>
          <div className="settingsform">
            <p>All telemetry, dashboards, rules and keys of the organization are deleted. Nobody can bring them back.</p>
            <div className="row">
              <button type="button" className="button danger" onClick={() => setTyped("")}>
                Delete the organization …
              </button>
            </div>
          </div>
        </section>
      )}
      {typed !== null && (
        <Confirm
          title={`Delete ${line(org.name ?? "", 80)}?`}
          act="Delete everything"
          busy={remove.isPending}
          disabled={typed !== org.name}
          close={(yes) => (yes ? remove.mutate({ confirm: org.id ?? "" }, { onSuccess: () => navigate("/") }) : setTyped(null))}
        >
          <Field label={`Type the name: ${line(org.name ?? "", 80)}`}>
            {(c) => <input {...c} className="field" autoComplete="off" value={typed} onChange={(e) => setTyped(e.target.value)} />}
          </Field>
          <FormError error={remove.error} />
        </Confirm>
      )}
    </>
  );
}
