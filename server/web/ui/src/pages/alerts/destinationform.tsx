import { useState } from "react";
import { change } from "../../frame/router";
import { useAct, useCall } from "../../frame/session";
import type { AlertDestination, CreateAlertDestinationRequest } from "../../gen/api";
import { CreateAlertDestinationRequest_name } from "../../gen/limits";
import { Dialog } from "../../parts/dialog";
import { errorOf, Field, FormError } from "../../parts/form";
import { line } from "../../parts/format";
import { atMost } from "../../parts/length";
import { Load } from "../../parts/states";
import { ChannelField } from "./channelfield";

type Form = CreateAlertDestinationRequest;
type Text = { name: keyof Form & string; param: string; label: string; hint: string; secret?: boolean; optional?: boolean };

const types: Record<string, { name: string; fields: Text[] }> = {
  webhook: {
    name: "Webhook",
    fields: [
      {
        name: "url",
        param: "url",
        label: "URL",
        hint: "It gets a POST with JSON. Private networks are refused, unless the operator allows them.",
        secret: true,
      },
      {
        name: "signingSecret",
        param: "signing_secret",
        label: "Signing secret",
        hint: "Signs each message, so that the receiver knows its origin.",
        secret: true,
        optional: true,
      },
    ],
  },
  pagerduty: {
    name: "PagerDuty",
    fields: [
      {
        name: "integrationKey",
        param: "integration_key",
        label: "Integration key",
        hint: "Of an integration with Events API v2, 32 characters.",
        secret: true,
      },
    ],
  },
  discord: {
    name: "Discord",
    fields: [
      { name: "webhookUrl", param: "webhook_url", label: "Webhook URL", hint: "Channel settings, Integrations, Webhooks.", secret: true },
    ],
  },
  telegram: {
    name: "Telegram",
    fields: [
      { name: "botToken", param: "bot_token", label: "Token of the bot", hint: "From @BotFather.", secret: true },
      { name: "chatId", param: "chat_id", label: "Chat", hint: "Send the bot a message, then look for its chats.", optional: true },
    ],
  },
  chat: { name: "Slack or Discord, as an app", fields: [] },
  email: { name: "E-mail", fields: [] },
};

/** DestinationForm creates or changes a destination. What is secret is typed again or kept, and never shown. */
export function DestinationForm({ of, type: asked, close }: { of?: AlertDestination; type: string; close: () => void }) {
  const type = Object.hasOwn(types, asked) ? asked : "webhook";
  const kind = types[type]!;
  const [form, setForm] = useState<Form>({
    name: of?.name ?? "",
    memberUserIds: of?.memberUserIds ?? [],
    ...(of?.channelLabel && type === "telegram" ? { chatId: of.channelLabel } : {}),
  });
  const set = (patch: Partial<Form>): void => setForm((f) => ({ ...f, ...patch }));
  const create = useAct("AlertDestinationsService/CreateAlertDestination", close);
  const update = useAct("AlertDestinationsService/UpdateAlertDestination", close);
  const error = create.error ?? update.error;
  const save = (): void => {
    const given = Object.fromEntries(kind.fields.filter((f) => form[f.name]).map((f) => [f.name, form[f.name]]));
    const request = {
      name: form.name?.trim() ?? "",
      type: type as NonNullable<Form["type"]>,
      ...given,
      ...(type === "email" ? { memberUserIds: form.memberUserIds ?? [] } : {}),
      ...(type === "chat" && !of ? { workspaceId: form.workspaceId ?? "" } : {}),
      ...(type === "chat" && form.channelId ? { channelId: form.channelId } : {}),
    };
    if (of) update.mutate({ id: of.id ?? "", ...request });
    else create.mutate(request);
  };
  return (
    <Dialog title={of ? `Change ${line(of.name ?? "", 100)}` : "New destination"} close={close}>
      <form
        className="part"
        onSubmit={(e) => {
          e.preventDefault();
          save();
        }}
      >
        {!of && (
          <fieldset className="choice">
            <legend>Type</legend>
            {Object.entries(types).map(([key, t]) => (
              <label key={key}>
                <input
                  type="radio"
                  name="type"
                  checked={key === type}
                  onChange={() => {
                    create.reset();
                    change({ new: key }, true);
                  }}
                />{" "}
                {t.name}
              </label>
            ))}
          </fieldset>
        )}
        <Field label="Name" error={errorOf(error, "name")}>
          {(c) => (
            <input
              {...c}
              className="field"
              required
              {...atMost(CreateAlertDestinationRequest_name)}
              autoComplete="off"
              value={form.name ?? ""}
              placeholder="On call"
              onChange={(e) => set({ name: e.target.value })}
            />
          )}
        </Field>
        {kind.fields.map((f) => (
          <Field
            key={f.name}
            label={f.label}
            error={errorOf(error, f.param)}
            hint={of && f.secret ? `${f.hint} Empty keeps the present one.` : f.hint}
          >
            {(c) => (
              <input
                {...c}
                className="field mono"
                type={f.secret && f.name !== "url" && f.name !== "webhookUrl" ? "password" : "text"}
                autoComplete="off"
                spellCheck={false}
                required={!of && !f.optional}
                value={String(form[f.name] ?? "")}
                onChange={(e) => set({ [f.name]: e.target.value })}
              />
            )}
          </Field>
        ))}
        {type === "telegram" && <Chats token={form.botToken ?? ""} pick={(chatId) => set({ chatId })} chosen={form.chatId ?? ""} />}
        {type === "email" && (
          <Members
            chosen={form.memberUserIds ?? []}
            set={(memberUserIds) => set({ memberUserIds })}
            error={errorOf(error, "member_user_ids")}
          />
        )}
        {type === "chat" && (
          <ChannelField of={of} chosen={form} set={set} error={errorOf(error, "channel_id") || errorOf(error, "workspace_id")} />
        )}
        <FormError error={error} fields={["name", "member_user_ids", "workspace_id", "channel_id", ...kind.fields.map((f) => f.param)]} />
        <div className="row">
          <span className="grow" />
          <button type="button" className="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" className="button primary" disabled={create.isPending || update.isPending}>
            {create.isPending || update.isPending ? "Saving …" : of ? "Save" : "Create"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Chats({ token, pick, chosen }: { token: string; pick: (id: string) => void; chosen: string }) {
  const chats = useAct("AlertDestinationsService/ListTelegramChats");
  return (
    <>
      <div className="row">
        <button
          type="button"
          className="button small"
          disabled={!token || chats.isPending}
          onClick={() => chats.mutate({ botToken: token })}
        >
          {chats.isPending ? "Looking …" : "Look for chats"}
        </button>
      </div>
      <FormError error={chats.error} />
      {chats.data && !chats.data.chats?.length && (
        <p className="faint">The bot has got no message in the past day. Write to it, or add it to a group.</p>
      )}
      {chats.data?.chats?.map((c) => (
        <label key={c.id} className="tick">
          <input type="radio" name="chat" checked={c.id === chosen} onChange={() => pick(c.id ?? "")} /> {line(c.title ?? "", 100)}{" "}
          <span className="faint">
            {c.type}, {c.id}
          </span>
        </label>
      ))}
    </>
  );
}

function Members({ chosen, set, error }: { chosen: string[]; set: (ids: string[]) => void; error: string }) {
  const members = useCall("OrganizationService/ListMembers", { limit: 100 });
  return (
    <fieldset className="choice column">
      <legend>Members</legend>
      <Load of={members}>
        {(d) => (
          <>
            {d.data?.map((m) => (
              <label key={m.id}>
                <input
                  type="checkbox"
                  checked={chosen.includes(m.id ?? "")}
                  onChange={(e) => set(e.target.checked ? [...chosen, m.id ?? ""] : chosen.filter((x) => x !== m.id))}
                />{" "}
                {line(m.name || m.email || "", 100)} <span className="faint">{line(m.email ?? "", 100)}</span>
              </label>
            ))}
          </>
        )}
      </Load>
      {error && (
        <p className="bad" role="alert">
          {error}
        </p>
      )}
    </fieldset>
  );
}
