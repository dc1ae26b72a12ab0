-- Markers: deployments, changes of flags and of configuration, and notes, at a time.

CREATE TABLE "markers" (
  "id" uuid NOT NULL,
  "kind" text NOT NULL,
  "title" text NOT NULL,
  "description" text NULL,
  "occurred_at" datetime NOT NULL,
  "ended_at" datetime NULL,
  "service_name" text NULL,
  "deployment_environment" text NULL,
  "url" text NULL,
  "created_at" datetime NOT NULL,
  "created_by" text NOT NULL,
  "updated_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "markers_organizations_markers" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "marker_org_id_occurred_at_id" ON "markers" ("org_id", "occurred_at", "id");
