-- Chat workspaces: sealed credentials of connected accounts, their channels, and the identities of members at providers.

CREATE TABLE "new_integration_connections" (
  "id" uuid NOT NULL,
  "shard" integer NOT NULL,
  "provider" text NOT NULL,
  "base_url" text NOT NULL,
  "external_id" text NOT NULL,
  "name" text NOT NULL,
  "state" text NOT NULL,
  "reason" text NULL,
  "settings" json NOT NULL,
  "credentials" blob NULL,
  "credential_version" integer NOT NULL DEFAULT (0),
  "connected_by" text NOT NULL,
  "connected_at" datetime NOT NULL,
  "state_changed_at" datetime NOT NULL,
  "sync_due_at" datetime NULL,
  "last_sync_at" datetime NULL,
  "last_sync_error" text NULL,
  "failures" integer NOT NULL DEFAULT (0),
  "failing_since" datetime NULL,
  "created_at" datetime NOT NULL,
  "updated_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "integration_connections_organizations_integration_connections" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
INSERT INTO "new_integration_connections" ("id", "shard", "provider", "base_url", "external_id", "name", "state", "reason", "settings", "connected_by", "connected_at", "state_changed_at", "sync_due_at", "last_sync_at", "last_sync_error", "failures", "failing_since", "created_at", "updated_at", "org_id") SELECT "id", "shard", "provider", "base_url", "external_id", "name", "state", "reason", "settings", "connected_by", "connected_at", "state_changed_at", "sync_due_at", "last_sync_at", "last_sync_error", "failures", "failing_since", "created_at", "updated_at", "org_id" FROM "integration_connections";
DROP TABLE "integration_connections";
ALTER TABLE "new_integration_connections" RENAME TO "integration_connections";
CREATE UNIQUE INDEX "integrationconnection_org_id_provider_base_url_external_id" ON "integration_connections" ("org_id", "provider", "base_url", "external_id");
CREATE INDEX "integrationconnection_provider_external_id" ON "integration_connections" ("provider", "external_id");
CREATE INDEX "integrationconnection_shard_sync_due_at" ON "integration_connections" ("shard", "sync_due_at");
CREATE TABLE "new_integration_logins" (
  "id" uuid NOT NULL,
  "state_hash" text NOT NULL,
  "provider" text NOT NULL,
  "user_id" text NULL,
  "session_id" text NULL,
  "install" bool NOT NULL DEFAULT (false),
  "identity" bool NOT NULL DEFAULT (false),
  "verifier" blob NOT NULL,
  "return_to" text NULL,
  "offer" blob NULL,
  "created_at" datetime NOT NULL,
  "expires_at" datetime NOT NULL,
  "used_at" datetime NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "integration_logins_organizations_integration_logins" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
INSERT INTO "new_integration_logins" ("id", "state_hash", "provider", "user_id", "session_id", "install", "verifier", "return_to", "offer", "created_at", "expires_at", "used_at", "org_id") SELECT "id", "state_hash", "provider", "user_id", "session_id", "install", "verifier", "return_to", "offer", "created_at", "expires_at", "used_at", "org_id" FROM "integration_logins";
DROP TABLE "integration_logins";
ALTER TABLE "new_integration_logins" RENAME TO "integration_logins";
CREATE UNIQUE INDEX "integration_logins_state_hash_key" ON "integration_logins" ("state_hash");
CREATE INDEX "integrationlogin_expires_at" ON "integration_logins" ("expires_at");
CREATE TABLE "chat_channels" (
  "id" uuid NOT NULL,
  "external_id" text NOT NULL,
  "name" text NOT NULL,
  "is_private" bool NOT NULL,
  "is_member" bool NOT NULL,
  "created_at" datetime NOT NULL,
  "seen_at" datetime NOT NULL,
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
  "created_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  "user_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "integration_identities_organizations_integration_identities" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE,
  CONSTRAINT "integration_identities_users_integration_identities" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "integrationidentity_org_id_user_id_provider" ON "integration_identities" ("org_id", "user_id", "provider");
CREATE INDEX "integrationidentity_user_id" ON "integration_identities" ("user_id");
