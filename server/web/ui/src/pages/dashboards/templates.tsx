import { useEffect, useMemo, useState } from "react";
import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import type { DashboardTemplate } from "../../gen/api";
import { DashboardName, TemplateValue } from "../../gen/limits";
import { Shelves } from "../../grid/sections";
import { Tile } from "../../grid/tile";
import { Sketch } from "../../grid/sketch";
import { Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Empty, Load } from "../../parts/states";
import { leads } from "./leads";
import { useReader } from "./reads";
import { brush } from "./view";
import "./dashboards.css";

/** Templates shows the built-in dashboards as sketches, and one of them with the data of this organization. */
export default function Templates() {
  const { org } = useFrame();
  const address = useAddress();
  const category = address.searchParams.get("category") ?? "";
  const search = (address.searchParams.get("search") ?? "").toLowerCase();
  const found = useCall("DashboardsService/ListDashboardTemplates", { limit: 100 });
  const chosen = found.data?.data?.find((t) => t.id === address.searchParams.get("template"));
  useEffect(() => {
    document.title = `${chosen ? line(chosen.name ?? "", 60) : "Templates"} · ${org.name} · svc`;
  }, [chosen, org.name]);
  if (chosen) return <One key={chosen.id} template={chosen} />;
  const all = found.data?.data ?? [];
  const categories = [...new Set(all.map((t) => t.category ?? ""))].sort();
  const shown = all.filter(
    (t) =>
      (!category || t.category === category) && `${t.name} ${t.description} ${(t.tags ?? []).join(" ")}`.toLowerCase().includes(search),
  );
  return (
    <>
      <div className="pagehead">
        <h1>
          <Link href={href("/dashboards")}>Dashboards</Link> › Templates
        </h1>
        <form className="grow w-find" role="search" onSubmit={(e) => e.preventDefault()}>
          <input
            className="field w-search"
            data-bar=""
            type="search"
            aria-label="Search templates"
            placeholder="Search templates"
            value={address.searchParams.get("search") ?? ""}
            onChange={(e) => change({ search: e.target.value }, true)}
          />
        </form>
        <div className="row" role="group" aria-label="Subjects">
          {categories.map((c) => (
            <button
              key={c}
              type="button"
              className="button small"
              aria-pressed={c === category}
              onClick={() => change({ category: c === category ? null : c })}
            >
              {c}
            </button>
          ))}
        </div>
      </div>
      <Load
        of={found}
        lines={10}
        empty={() =>
          shown.length === 0 && (
            <Empty title="No template matches">
              <button type="button" className="button" onClick={() => change({ search: null, category: null })}>
                Show all
              </button>
            </Empty>
          )
        }
      >
        {() => (
          <ul className="w-templates">
            {shown.map((t) => (
              <li key={t.id}>
                <Link className="panel" href={href("/dashboards/templates", { template: t.id })}>
                  <Sketch tiles={t.preview ?? []} />
                  <b>{line(t.name ?? "", 80)}</b>
                  <span className="faint">{line(t.description || "Begin with an empty dashboard.", 200)}</span>
                  <Needs of={t} />
                </Link>
              </li>
            ))}
          </ul>
        )}
      </Load>
    </>
  );
}

function Needs({ of }: { of: DashboardTemplate }) {
  if (of.requirement?.missing)
    return (
      <span className="warn">
        ▲ no {line(of.requirement.label ?? "data", 60)} yet{of.requirement.collector ? `: ${line(of.requirement.collector, 60)}` : ""}
      </span>
    );
  return <span className="faint">{(of.requirements ?? []).map((r) => line(r, 60)).join(", ") || " "}</span>;
}

function One({ template: t }: { template: DashboardTemplate }) {
  const address = useAddress();
  const asked = t.parameters ?? [];
  const start = useMemo(
    () => Object.fromEntries(asked.map((p) => [p.key ?? "", address.searchParams.get(`p.${p.key}`) ?? ""])),
    [asked, address.search],
  );
  const given = useMemo(() => Object.fromEntries(Object.entries(start).filter(([, v]) => v !== "")), [start]);
  const [name, setName] = useState("");
  const preview = useCall("DashboardsService/PreviewDashboardTemplate", { templateId: t.id ?? "", parameters: given });
  const create = useAct("DashboardsService/InstantiateDashboardTemplate", (d) => navigate(href(`/dashboards/${d.id}`)));
  // The identifiers of a preview are new each time; the places are not.
  const widgets = useMemo(() => (preview.data?.widgets ?? []).map((w, i) => ({ ...w, id: `w${i}` })), [preview.data]);
  const variables = useMemo(() => preview.data?.variables ?? [], [preview.data]);
  const none = useMemo(() => ({}), []);
  const read = useReader(null, variables, none);
  const missing = asked.filter((p) => p.required && !given[p.key ?? ""]);
  return (
    <>
      <div className="pagehead">
        <h1>
          <Link href={href("/dashboards/templates", { template: undefined })}>Templates</Link> › {line(t.name ?? "", 80)}
        </h1>
        <span className="faint grow">{line(t.description ?? "", 200)}</span>
      </div>
      {t.requirement?.missing && (
        <p className="panel w-note warn">
          ▲ This organization sends no {line(t.requirement.label ?? "data", 80)} yet
          {t.requirement.collector ? `. The collector of it is ${line(t.requirement.collector, 80)}` : ""}.{" "}
          {line(t.requirement.hint ?? "", 300)}{" "}
          {t.requirement.setupLabel && <Link href={href("/start")}>{line(t.requirement.setupLabel, 80)}</Link>}
        </p>
      )}
      <form
        className="panel w-note w-params"
        onSubmit={(e) => {
          e.preventDefault();
          create.mutate({ templateId: t.id ?? "", parameters: given, ...(name.trim() ? { name: name.trim() } : {}) });
        }}
      >
        {asked.map((p) => (
          <Field
            key={p.key}
            label={`${line(p.label || p.key || "", 60)}${p.required ? "" : " (optional)"}`}
            hint={line(p.description ?? "", 200)}
          >
            {(c) => (
              <input
                {...c}
                className="field"
                required={p.required}
                {...atMost(TemplateValue)}
                placeholder={p.placeholder}
                defaultValue={start[p.key ?? ""]}
                onBlur={(e) => change({ [`p.${p.key}`]: e.target.value.trim() }, true)}
                onKeyDown={(e) => {
                  if (e.key === "Enter") {
                    e.preventDefault();
                    change({ [`p.${p.key}`]: e.currentTarget.value.trim() }, true);
                  }
                }}
              />
            )}
          </Field>
        ))}
        <Field label="Name" hint="Empty: the name of the template.">
          {(c) => (
            <input
              {...c}
              className="field"
              {...atMost(DashboardName)}
              value={name}
              placeholder={preview.data?.name}
              onChange={(e) => setName(e.target.value)}
            />
          )}
        </Field>
        <button type="submit" className="button primary" disabled={create.isPending || missing.length > 0}>
          Create the dashboard
        </button>
      </form>
      <FormError error={create.error} />
      <Load
        of={preview}
        lines={8}
        empty={() =>
          widgets.length === 0 && (
            <Empty title="This template is empty">
              <p>It begins with no widgets.</p>
            </Empty>
          )
        }
      >
        {() => <Shelves widgets={widgets} tile={(w) => <Tile widget={w} read={read} leads={leads} onBrush={brush} />} />}
      </Load>
    </>
  );
}
