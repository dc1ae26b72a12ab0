-- Accounts of other services that organizations connect, the attempts to connect them, deliveries of providers, and repositories of source hosts.

CREATE TABLE "webhook_deliveries" (
  "id" uuid NOT NULL,
  "provider" text NOT NULL,
  "delivery_id" text NOT NULL,
  "kind" text NOT NULL,
  "account" text NOT NULL,
  "connections" bigint NOT NULL,
  "created_at" timestamptz NOT NULL,
  PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "webhookdelivery_provider_delivery_id" ON "webhook_deliveries" ("provider", "delivery_id");
CREATE INDEX "webhookdelivery_created_at" ON "webhook_deliveries" ("created_at");
CREATE TABLE "integration_connections" (
  "id" uuid NOT NULL,
  "shard" bigint NOT NULL,
  "provider" text NOT NULL,
  "base_url" text NOT NULL,
  "external_id" text NOT NULL,
  "name" text NOT NULL,
  "state" text NOT NULL,
  "reason" text NULL,
  "settings" jsonb NOT NULL,
  "connected_by" text NOT NULL,
  "connected_at" timestamptz NOT NULL,
  "state_changed_at" timestamptz NOT NULL,
  "sync_due_at" timestamptz NULL,
  "last_sync_at" timestamptz NULL,
  "last_sync_error" text NULL,
  "failures" bigint NOT NULL DEFAULT 0,
  "failing_since" timestamptz NULL,
  "created_at" timestamptz NOT NULL,
  "updated_at" timestamptz NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "integration_connections_organizations_integration_connections" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "integrationconnection_org_id_provider_base_url_external_id" ON "integration_connections" ("org_id", "provider", "base_url", "external_id");
CREATE INDEX "integrationconnection_provider_external_id" ON "integration_connections" ("provider", "external_id");
CREATE INDEX "integrationconnection_shard_sync_due_at" ON "integration_connections" ("shard", "sync_due_at");
CREATE TABLE "integration_logins" (
  "id" uuid NOT NULL,
  "state_hash" text NOT NULL,
  "provider" text NOT NULL,
  "user_id" text NULL,
  "session_id" text NULL,
  "verifier" bytea NOT NULL,
  "return_to" text NULL,
  "offer" bytea NULL,
  "created_at" timestamptz NOT NULL,
  "expires_at" timestamptz NOT NULL,
  "used_at" timestamptz NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "integration_logins_organizations_integration_logins" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "integration_logins_state_hash_key" ON "integration_logins" ("state_hash");
CREATE INDEX "integrationlogin_expires_at" ON "integration_logins" ("expires_at");
CREATE TABLE "source_repositories" (
  "id" uuid NOT NULL,
  "external_id" text NOT NULL,
  "full_name" text NOT NULL,
  "former_names" jsonb NULL,
  "html_url" text NOT NULL,
  "is_private" boolean NOT NULL,
  "is_archived" boolean NOT NULL,
  "default_branch" text NOT NULL,
  "tracked_branch" text NULL,
  "status" text NOT NULL DEFAULT 'active',
  "last_synced_at" timestamptz NULL,
  "last_sync_error" text NULL,
  "etag" text NULL,
  "checked_at" timestamptz NULL,
  "searched_at" timestamptz NULL,
  "created_at" timestamptz NOT NULL,
  "updated_at" timestamptz NOT NULL,
  "connection_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "source_repositories_integration_connections_repositories" FOREIGN KEY ("connection_id") REFERENCES "integration_connections" ("id") ON DELETE CASCADE,
  CONSTRAINT "source_repositories_organizations_source_repositories" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "sourcerepository_connection_id_external_id" ON "source_repositories" ("connection_id", "external_id");
CREATE INDEX "sourcerepository_org_id_full_name_id" ON "source_repositories" ("org_id", "full_name", "id");
