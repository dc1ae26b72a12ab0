import { useState } from "react";
import { href, Link } from "../../frame/router";
import { MinPasswordLength } from "../../gen/limits";
import { choose, themes, usePreference } from "../../frame/preferences";
import { ZoneChoice } from "../../frame/zone";
import { useAct, useFrame } from "../../frame/session";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { stamp } from "../../parts/time";

const roles: Record<string, string> = { "org:admin": "administrator", "org:member": "member" };

/** Me shows the person who is signed in, and changes what is theirs: the theme and the password. */
export function Me() {
  const { me } = useFrame();
  return (
    <>
      <section className="panel">
        <header>
          <h2>You</h2>
        </header>
        <div className="settingsform">
          <p>
            <b>{line(me.user?.name || me.user?.email || "", 100)}</b> <span className="faint">{line(me.user?.email ?? "", 200)}</span>
          </p>
          {me.expiresAt && <p className="faint">This session ends {stamp(me.expiresAt)} at the latest.</p>}
          <ul className="list">
            {(me.organizations ?? []).map((o) => (
              <li key={o.id}>
                <Link href={`/o/${o.slug}`}>{line(o.name ?? "", 100)}</Link> <span className="faint">{roles[o.role ?? ""] ?? o.role}</span>
              </li>
            ))}
          </ul>
          <p>
            <a href="/programs">Programs and keys that act for you</a>
          </p>
        </div>
      </section>
      <Display />
      <Password />
    </>
  );
}

function Display() {
  const { me } = useFrame();
  const chosen = usePreference("theme");
  return (
    <section className="panel">
      <header>
        <h2>Display</h2>
      </header>
      <div className="settingsform">
        <fieldset className="choice">
          <legend>Theme</legend>
          {themes.map((t) => (
            <label key={t}>
              <input type="radio" name="theme" value={t} checked={chosen === t} onChange={() => choose(me.user?.id ?? "", "theme", t)} />
              {t === "system" ? "As the system" : t === "light" ? "Light" : "Dark"}
            </label>
          ))}
        </fieldset>
        <ZoneChoice />
        <p className="faint">Every browser in which you sign in has this theme and this zone.</p>
      </div>
    </section>
  );
}

function Password() {
  const [ended, setEnded] = useState(-1);
  const [repeated, setRepeated] = useState(true);
  const save = useAct("SessionsService/ChangePassword", (a) => setEnded(a.sessionsEnded ?? 0));
  return (
    <section className="panel">
      <header>
        <h2>Password</h2>
      </header>
      <form
        className="settingsform"
        onSubmit={(e) => {
          e.preventDefault();
          const form = e.currentTarget;
          const d = new FormData(form);
          const text = (name: string): string => String(d.get(name) ?? "");
          setEnded(-1);
          setRepeated(text("new_password") === text("again"));
          if (text("new_password") !== text("again")) return;
          save.mutate({ currentPassword: text("current_password"), newPassword: text("new_password") }, { onSuccess: () => form.reset() });
        }}
      >
        <Field label="Current password" error={errorOf(save.error, "current_password")}>
          {(c) => <input {...c} className="field" name="current_password" type="password" required autoComplete="current-password" />}
        </Field>
        <Field
          label="New password"
          hint={`${MinPasswordLength.characters} characters or more. Your other sessions end.`}
          error={errorOf(save.error, "new_password")}
        >
          {(c) => <input {...c} className="field" name="new_password" type="password" required autoComplete="new-password" />}
        </Field>
        <Field label="New password, again" error={repeated ? "" : "The two new passwords differ."}>
          {(c) => <input {...c} className="field" name="again" type="password" required autoComplete="new-password" />}
        </Field>
        <FormError error={save.error} fields={["current_password", "new_password"]} />
        <div className="row">
          <button type="submit" className="button primary" disabled={save.isPending}>
            Change the password
          </button>
          {ended >= 0 && (
            <span className="good" role="status">
              Changed. Other sessions that ended: {ended}
            </span>
          )}
        </div>
      </form>
      <p className="fine">
        Lost? An operator sets a new one with <code>svc admin user set-password</code>.{" "}
        <Link href={href("/settings/audit-log")}>Audit log</Link>
      </p>
    </section>
  );
}
