import { useState } from "react";
import { useAct, useCall, useFrame } from "../../frame/session";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { Menu } from "../../parts/menu";
import { Load } from "../../parts/states";
import { ago, stamp } from "../../parts/time";
import { Secret, useConfirm } from "./parts";

const roles = { "org:admin": "Administrator", "org:member": "Member" } as const;
type Role = keyof typeof roles;
const roleName = (role: string | undefined): string => roles[role as Role] ?? role ?? "";

/** People lists the members and the open invitations of the organization. */
export function People() {
  const { org, me, now } = useFrame();
  const admin = org.role === "org:admin";
  const members = useCall("OrganizationService/ListMembers", { limit: 100 });
  const invitations = useCall("OrganizationService/ListInvitations", { limit: 100 }, { enabled: admin });
  const [link, setLink] = useState("");
  const role = useAct("OrganizationService/UpdateMember");
  const remove = useAct("OrganizationService/RemoveMember", () => sure.done());
  const revoke = useAct("OrganizationService/RevokeInvitation");
  const invite = useAct("OrganizationService/CreateInvitation", (i) => setLink(i.link ?? ""));
  const sure = useConfirm(remove.error, remove.isPending);
  const open = (invitations.data?.data ?? []).filter((i) => i.status === "pending");
  return (
    <>
      <section className="panel">
        <header>
          <h2>Members</h2>
        </header>
        <FormError error={role.error} />
        <Load of={members}>
          {(d) => (
            <table className="data fold">
              <thead>
                <tr>
                  <th scope="col">Person</th>
                  <th scope="col" className="w160">
                    Role
                  </th>
                  <th scope="col" className="w200">
                    Since
                  </th>
                  <th scope="col" className="w80">
                    <span className="sr">Act</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {(d.data ?? []).map((m) => (
                  <tr key={m.id}>
                    <td>
                      <b>{line(m.name || (m.email ?? ""), 100)}</b>{" "}
                      <span className="faint">
                        {m.name ? line(m.email ?? "", 100) : ""}
                        {m.id === me.user?.id ? " · you" : ""}
                      </span>
                    </td>
                    <td>{roleName(m.role)}</td>
                    <td className="faint">{stamp(m.createdAt)}</td>
                    <td>
                      {admin && (
                        <Menu
                          label={`Change ${line(m.email ?? "", 80)}`}
                          items={[
                            ...(Object.keys(roles) as Role[])
                              .filter((r) => r !== m.role)
                              .map((r) => ({
                                name: `Make ${r === "org:admin" ? "an administrator" : "a member"}`,
                                act: () => role.mutate({ id: m.id ?? "", role: r, updateMask: "role" }),
                              })),
                            {
                              name: "Remove",
                              danger: true,
                              act: () =>
                                sure.ask({
                                  title: `Remove ${line(m.email ?? "", 80)}?`,
                                  act: "Remove",
                                  text: "Sessions and keys of the person end at once.",
                                  run: () => remove.mutate({ id: m.id ?? "" }),
                                }),
                            },
                          ]}
                        >
                          ⋯
                        </Menu>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </Load>
      </section>
      {admin && (
        <section className="panel">
          <header>
            <h2>Invitations</h2>
          </header>
          <form
            className="settingsform inline"
            onSubmit={(e) => {
              e.preventDefault();
              const form = e.currentTarget;
              const d = new FormData(form);
              invite.mutate({ email: String(d.get("email") ?? ""), role: d.get("role") as Role }, { onSuccess: () => form.reset() });
            }}
          >
            <Field label="Email address" error={errorOf(invite.error, "email")}>
              {(c) => <input {...c} className="field" name="email" type="email" required autoComplete="off" />}
            </Field>
            <Field label="Role">
              {(c) => (
                <select {...c} className="field" name="role" defaultValue="org:member">
                  {Object.entries(roles).map(([r, name]) => (
                    <option key={r} value={r}>
                      {name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <button type="submit" className="button primary" disabled={invite.isPending}>
              Invite
            </button>
          </form>
          <FormError error={invite.error ?? revoke.error} fields={["email"]} />
          <Load of={invitations} empty={() => open.length === 0 && <p className="fine">No invitation is open.</p>}>
            {() => (
              <table className="data fold">
                <thead>
                  <tr>
                    <th scope="col">Email address</th>
                    <th scope="col" className="w160">
                      Role
                    </th>
                    <th scope="col" className="w200">
                      Sent
                    </th>
                    <th scope="col" className="w200">
                      Ends
                    </th>
                    <th scope="col" className="w110">
                      <span className="sr">Act</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {open.map((i) => (
                    <tr key={i.id}>
                      <td>{line(i.email ?? "", 100)}</td>
                      <td>{roleName(i.role)}</td>
                      <td className="faint">{ago(i.createdAt, now)}</td>
                      <td className="faint">{stamp(i.expiresAt)}</td>
                      <td>
                        <button
                          type="button"
                          className="button small"
                          disabled={revoke.isPending}
                          aria-label={`Revoke the invitation of ${line(i.email ?? "", 80)}`}
                          onClick={() => revoke.mutate({ id: i.id ?? "" })}
                        >
                          Revoke
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </Load>
        </section>
      )}
      {sure.dialog}
      {link && <Secret title="The link of the invitation" secret={link} close={() => setLink("")} />}
    </>
  );
}
