-- Keys have a description and times of use and change; mappings, sampling, plans, usage, outcomes and log push connectors.
-- Never edit a migration that was released: add the next one.

ALTER TABLE "ingest_keys" ADD COLUMN "description" text NULL;
ALTER TABLE "ingest_keys" ADD COLUMN "last_used_at" datetime NULL;
ALTER TABLE "ingest_keys" ADD COLUMN "updated_at" datetime NULL;

CREATE TABLE "attribute_mappings" (
  "id" uuid NOT NULL,
  "name" text NOT NULL,
  "source_context" text NOT NULL,
  "source_key" text NOT NULL,
  "target_key" text NOT NULL,
  "operation" text NOT NULL,
  "enabled" bool NOT NULL DEFAULT true,
  "created_at" datetime NOT NULL,
  "updated_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "attribute_mappings_organizations_attribute_mappings" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "attributemapping_org_id_created_at_id" ON "attribute_mappings" ("org_id", "created_at", "id");

CREATE TABLE "ingest_outcomes" (
  "id" uuid NOT NULL,
  "key_id" text NOT NULL,
  "node" text NOT NULL,
  "outcomes" json NOT NULL,
  "updated_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "ingest_outcomes_organizations_ingest_outcomes" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "ingestoutcomes_org_id_key_id_node" ON "ingest_outcomes" ("org_id", "key_id", "node");
CREATE INDEX "ingestoutcomes_updated_at" ON "ingest_outcomes" ("updated_at");

CREATE TABLE "ingest_usages" (
  "id" uuid NOT NULL,
  "day" datetime NOT NULL,
  "signal" text NOT NULL,
  "key_id" text NOT NULL,
  "requests" integer NOT NULL,
  "items" integer NOT NULL,
  "bytes" integer NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "ingest_usages_organizations_ingest_usage" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "ingestusage_org_id_day_signal_key_id" ON "ingest_usages" ("org_id", "day", "signal", "key_id");

CREATE TABLE "logpush_connectors" (
  "id" uuid NOT NULL,
  "name" text NOT NULL,
  "zone_name" text NOT NULL,
  "service_name" text NOT NULL,
  "dataset" text NOT NULL,
  "secret_hash" text NOT NULL,
  "secret_prefix" text NOT NULL,
  "disabled_at" datetime NULL,
  "last_received_at" datetime NULL,
  "last_error" text NULL,
  "secret_rotated_at" datetime NULL,
  "created_at" datetime NOT NULL,
  "created_by" text NOT NULL,
  "updated_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "logpush_connectors_organizations_logpush_connectors" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "logpush_connectors_secret_hash_key" ON "logpush_connectors" ("secret_hash");
CREATE INDEX "logpushconnector_org_id_created_at_id" ON "logpush_connectors" ("org_id", "created_at", "id");

CREATE TABLE "plans" (
  "id" uuid NOT NULL,
  "name" text NOT NULL,
  "active" bool NOT NULL DEFAULT true,
  "limits" json NULL,
  "updated_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "plans_organizations_plan" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "plans_org_id_key" ON "plans" ("org_id");

CREATE TABLE "sampling_policies" (
  "id" uuid NOT NULL,
  "trace_sample_ratio" real NOT NULL DEFAULT 1,
  "always_keep_error_spans" bool NOT NULL DEFAULT true,
  "always_keep_slow_spans_ms" integer NULL,
  "created_at" datetime NOT NULL,
  "updated_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "sampling_policies_organizations_sampling_policy" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "sampling_policies_org_id_key" ON "sampling_policies" ("org_id");
