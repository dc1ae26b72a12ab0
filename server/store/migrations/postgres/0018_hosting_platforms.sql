-- Hosting platforms: the projects and deployments of connected accounts.

CREATE TABLE "hosting_deployments" (
  "id" uuid NOT NULL,
  "external_id" text NOT NULL,
  "project_external_id" text NOT NULL,
  "project_name" text NOT NULL,
  "service" text NULL,
  "target" text NOT NULL,
  "state" text NOT NULL,
  "platform_state" text NOT NULL,
  "commit_sha" text NULL,
  "branch" text NULL,
  "url" text NULL,
  "started_at" timestamptz NOT NULL,
  "ready_at" timestamptz NULL,
  "created_at" timestamptz NOT NULL,
  "seen_at" timestamptz NOT NULL,
  "connection_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "hosting_deployments_integration_connections_hosting_deployments" FOREIGN KEY ("connection_id") REFERENCES "integration_connections" ("id") ON DELETE CASCADE,
  CONSTRAINT "hosting_deployments_organizations_hosting_deployments" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "hostingdeployment_connection_id_external_id" ON "hosting_deployments" ("connection_id", "external_id");
CREATE INDEX "hostingdeployment_connection_id_started_at_id" ON "hosting_deployments" ("connection_id", "started_at", "id");
CREATE INDEX "hostingdeployment_org_id" ON "hosting_deployments" ("org_id");
CREATE TABLE "hosting_projects" (
  "id" uuid NOT NULL,
  "external_id" text NOT NULL,
  "name" text NOT NULL,
  "framework" text NULL,
  "repository" text NULL,
  "environments" jsonb NOT NULL,
  "services" jsonb NOT NULL,
  "created_at" timestamptz NOT NULL,
  "seen_at" timestamptz NOT NULL,
  "connection_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "hosting_projects_integration_connections_hosting_projects" FOREIGN KEY ("connection_id") REFERENCES "integration_connections" ("id") ON DELETE CASCADE,
  CONSTRAINT "hosting_projects_organizations_hosting_projects" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "hostingproject_connection_id_external_id" ON "hosting_projects" ("connection_id", "external_id");
CREATE INDEX "hostingproject_connection_id_name_id" ON "hosting_projects" ("connection_id", "name", "id");
CREATE INDEX "hostingproject_org_id" ON "hosting_projects" ("org_id");
