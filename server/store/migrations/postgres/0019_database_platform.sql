-- The database platform: databases of connected accounts, and what happened to them.

CREATE TABLE "platform_databases" (
  "id" uuid NOT NULL,
  "external_id" text NOT NULL,
  "name" text NOT NULL,
  "kind" text NOT NULL,
  "state" text NULL,
  "region" text NULL,
  "plan" text NULL,
  "branches" jsonb NULL,
  "created_at" timestamptz NOT NULL,
  "connection_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "platform_databases_integration_connections_databases" FOREIGN KEY ("connection_id") REFERENCES "integration_connections" ("id") ON DELETE CASCADE,
  CONSTRAINT "platform_databases_organizations_platform_databases" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "platformdatabase_connection_id_external_id" ON "platform_databases" ("connection_id", "external_id");
CREATE INDEX "platformdatabase_org_id" ON "platform_databases" ("org_id");
CREATE TABLE "platform_events" (
  "id" uuid NOT NULL,
  "external_id" text NOT NULL,
  "event_type" text NOT NULL,
  "category" text NOT NULL,
  "database_name" text NOT NULL,
  "branch_name" text NOT NULL,
  "state" text NULL,
  "title" text NOT NULL,
  "source" text NOT NULL,
  "actor_login" text NULL,
  "url" text NULL,
  "occurred_at" timestamptz NOT NULL,
  "created_at" timestamptz NOT NULL,
  "connection_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "platform_events_integration_connections_events" FOREIGN KEY ("connection_id") REFERENCES "integration_connections" ("id") ON DELETE CASCADE,
  CONSTRAINT "platform_events_organizations_platform_events" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "platformevent_connection_id_external_id_event_type" ON "platform_events" ("connection_id", "external_id", "event_type");
CREATE INDEX "platformevent_org_id_occurred_at_id" ON "platform_events" ("org_id", "occurred_at", "id");
CREATE INDEX "platformevent_occurred_at" ON "platform_events" ("occurred_at");
