import { useEffect, useState } from "react";
import { CauseTabs } from "../../frame/cause";
import { change, href, Link, navigate, useAddress } from "../../frame/router";
import { useAct, useCall, useFrame } from "../../frame/session";
import { CreateInvestigationRequest_question, CreateInvestigationRequest_title, LargestPage } from "../../gen/limits";
import { Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { count, cut, line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Empty, Load } from "../../parts/states";
import { ago } from "../../parts/time";
import { Investigation } from "./investigation";
import { colorOf, type Status, states } from "./states";
import "../home.css";

/** Investigations keep what people and agents find out about a problem. */
export default function Investigations({ id }: { id: string }) {
  return id ? <Investigation key={id} id={id} /> : <List />;
}

function List() {
  const { now, org } = useFrame();
  const address = useAddress();
  const status = (Object.keys(states) as Status[]).find((s) => s === address.searchParams.get("status"));
  const found = useCall("InvestigationsService/ListInvestigations", { limit: LargestPage, ...(status ? { status } : {}) });
  const asked = address.searchParams.get("new");
  useEffect(() => {
    document.title = `Investigations · ${org.name} · svc`;
  }, [org.name]);
  return (
    <>
      <div className="pagehead">
        <h1 className="grow">Investigations</h1>
        <button type="button" className="button primary" onClick={() => change({ new: " " })}>
          New investigation
        </button>
      </div>
      <CauseTabs at="investigations" />
      <section className="panel">
        <header>
          <h2 className="grow">Investigations</h2>
          {(Object.keys(states) as Status[]).map((s) => (
            <button
              key={s}
              type="button"
              className="button small"
              aria-pressed={s === status}
              onClick={() => change({ status: s === status ? null : s })}
            >
              {states[s]}
            </button>
          ))}
        </header>
        <Load
          of={found}
          empty={(d) =>
            !d.data?.length && (
              <Empty title={status ? "No such investigation" : "No investigation yet"}>
                <p>
                  Start one when something is wrong, and keep each finding with the call that gives it again. The next shift, or an agent,
                  goes on from there.
                </p>
              </Empty>
            )
          }
        >
          {(d) => (
            <>
              <table className="data fold rows">
                <thead>
                  <tr>
                    <th scope="col">Investigation</th>
                    <th scope="col" className="w110">
                      State
                    </th>
                    <th scope="col" className="num w90">
                      Findings
                    </th>
                    <th scope="col" className="w160">
                      Goes on with it
                    </th>
                    <th scope="col" className="w110">
                      Changed
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {d.data?.map((i) => (
                    // biome-ignore lint: the link in the first cell is the way for the keyboard
                    <tr key={i.id} onClick={(e) => !(e.target as Element).closest("a") && navigate(href(`/investigations/${i.id}`))}>
                      <td>
                        <Link className="main" href={href(`/investigations/${i.id}`)}>
                          {line(i.title ?? "", 200)}
                        </Link>{" "}
                        <span className="faint">{line(i.conclusion || i.question || "", 200)}</span>
                      </td>
                      <td className={colorOf(i.status)}>{states[i.status as Status] ?? i.status}</td>
                      <td className="num">{count(i.findingCount ?? 0)}</td>
                      <td className="faint">{line(i.assignee ?? "–", 60)}</td>
                      <td className="faint">{ago(i.updatedAt, now)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
              {d.hasMore && <p className="notice">The newest {LargestPage} are shown.</p>}
            </>
          )}
        </Load>
      </section>
      {asked && <Start title={asked.trim()} issue={address.searchParams.get("issue") ?? ""} />}
    </>
  );
}

function Start({ title: given, issue }: { title: string; issue: string }) {
  const [title, setTitle] = useState(cut(given, CreateInvestigationRequest_title.characters).kept);
  const [question, setQuestion] = useState("");
  const create = useAct("InvestigationsService/CreateInvestigation", (i) => navigate(href(`/investigations/${i.id}`)));
  const close = (): void => change({ new: null, issue: null }, true);
  return (
    <Dialog title="New investigation" close={close}>
      <form
        className="part"
        onSubmit={(e) => {
          e.preventDefault();
          create.mutate({ title: title.trim(), ...(question ? { question } : {}), ...(issue ? { issueId: issue } : {}) });
        }}
      >
        <Field label="Problem" error={errorOf(create.error, "title")}>
          {(c) => (
            <input
              {...c}
              className="field"
              required
              {...atMost(CreateInvestigationRequest_title)}
              value={title}
              placeholder="checkout is slow since 13:05"
              onChange={(e) => setTitle(e.target.value)}
            />
          )}
        </Field>
        <Field label="Question" error={errorOf(create.error, "question")} hint="What must be known before somebody can act.">
          {(c) => (
            <textarea
              {...c}
              className="field"
              rows={3}
              {...atMost(CreateInvestigationRequest_question)}
              value={question}
              onChange={(e) => setQuestion(e.target.value)}
            />
          )}
        </Field>
        {issue && (
          <p className="faint">
            It is about the issue <code>{line(issue, 60)}</code>.
          </p>
        )}
        <FormError error={create.error} fields={["title", "question"]} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending}>
            Start
          </button>
        </div>
      </form>
    </Dialog>
  );
}
