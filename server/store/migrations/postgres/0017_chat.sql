-- Chat workspaces: sealed credentials of connected accounts, their channels, and the identities of members at providers.

ALTER TABLE "integration_connections" ADD COLUMN "credentials" bytea NULL, ADD COLUMN "credential_version" bigint NOT NULL DEFAULT 0;
ALTER TABLE "integration_logins" ADD COLUMN "identity" boolean NOT NULL DEFAULT false;
CREATE TABLE "chat_channels" (
  "id" uuid NOT NULL,
  "external_id" text NOT NULL,
  "name" text NOT NULL,
  "is_private" boolean NOT NULL,
  "is_member" boolean NOT NULL,
  "created_at" timestamptz NOT NULL,
  "seen_at" timestamptz NOT NULL,
  "connection_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "chat_channels_integration_connections_channels" FOREIGN KEY ("connection_id") REFERENCES "integration_connections" ("id") ON DELETE CASCADE,
  CONSTRAINT "chat_channels_organizations_chat_channels" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "chatchannel_connection_id_external_id" ON "chat_channels" ("connection_id", "external_id");
CREATE INDEX "chatchannel_connection_id_name_id" ON "chat_channels" ("connection_id", "name", "id");
CREATE INDEX "chatchannel_org_id" ON "chat_channels" ("org_id");
CREATE TABLE "integration_identities" (
  "id" uuid NOT NULL,
  "provider" text NOT NULL,
  "external_account" text NOT NULL,
  "external_user_id" text NOT NULL,
  "display_name" text NULL,
  "created_at" timestamptz NOT NULL,
  "org_id" text NOT NULL,
  "user_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "integration_identities_organizations_integration_identities" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE,
  CONSTRAINT "integration_identities_users_integration_identities" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "integrationidentity_org_id_user_id_provider" ON "integration_identities" ("org_id", "user_id", "provider");
CREATE INDEX "integrationidentity_user_id" ON "integration_identities" ("user_id");
