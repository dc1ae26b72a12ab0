-- Background work: shards with their leases, alert destinations, rules, incidents and deliveries, and scrape targets.

CREATE TABLE "alert_check_batches" (
  "id" uuid NOT NULL,
  "shard" bigint NOT NULL,
  "evaluated_at" timestamptz NOT NULL,
  "rows" bytea NOT NULL,
  "insert_group" uuid NULL,
  PRIMARY KEY ("id")
);
CREATE INDEX "alertcheckbatch_shard_evaluated_at_id" ON "alert_check_batches" ("shard", "evaluated_at", "id");
CREATE TABLE "ingest_marks" (
  "id" text NOT NULL,
  "stored_through" timestamptz NOT NULL,
  "behind" jsonb NOT NULL,
  "behind_through" timestamptz NOT NULL,
  "seen_at" timestamptz NOT NULL,
  PRIMARY KEY ("id")
);
CREATE TABLE "work_nodes" (
  "id" uuid NOT NULL,
  "kinds" jsonb NOT NULL,
  "host" text NOT NULL,
  "version" text NOT NULL,
  "started_at" timestamptz NOT NULL,
  "seen_at" timestamptz NOT NULL,
  PRIMARY KEY ("id")
);
CREATE TABLE "work_shards" (
  "id" text NOT NULL,
  "kind" text NOT NULL,
  "number" bigint NOT NULL,
  "holder" uuid NULL,
  "fence" bigint NOT NULL,
  "expires_at" timestamptz NULL,
  PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "workshard_kind_number" ON "work_shards" ("kind", "number");
CREATE INDEX "workshard_holder" ON "work_shards" ("holder");
CREATE TABLE "alert_cursors" (
  "id" uuid NOT NULL,
  "shard" bigint NOT NULL,
  "scheduled_through" timestamptz NULL,
  "evaluated_through" timestamptz NULL,
  "last_error" text NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "alert_cursors_organizations_alert_cursor" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "alert_cursors_org_id_key" ON "alert_cursors" ("org_id");
CREATE INDEX "alertcursor_shard" ON "alert_cursors" ("shard");
CREATE TABLE "alert_destinations" (
  "id" uuid NOT NULL,
  "name" text NOT NULL,
  "type" text NOT NULL,
  "enabled" boolean NOT NULL DEFAULT true,
  "config" jsonb NOT NULL,
  "secret" bytea NULL,
  "last_tested_at" timestamptz NULL,
  "last_test_error" text NULL,
  "failure_streak" bigint NOT NULL DEFAULT 0,
  "disabled_reason" text NULL,
  "breaker_failures" bigint NOT NULL DEFAULT 0,
  "breaker_step" bigint NOT NULL DEFAULT 0,
  "breaker_until" timestamptz NULL,
  "created_at" timestamptz NOT NULL,
  "created_by" text NOT NULL,
  "updated_at" timestamptz NOT NULL,
  "updated_by" text NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "alert_destinations_organizations_alert_destinations" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "alertdestination_org_id_name" ON "alert_destinations" ("org_id", "name");
CREATE INDEX "alertdestination_org_id_created_at_id" ON "alert_destinations" ("org_id", "created_at", "id");
CREATE TABLE "alert_rules" (
  "id" uuid NOT NULL,
  "name" text NOT NULL,
  "notes" text NULL,
  "notification_template" jsonb NULL,
  "enabled" boolean NOT NULL DEFAULT true,
  "severity" text NOT NULL,
  "service_names" jsonb NULL,
  "exclude_service_names" jsonb NULL,
  "environments" jsonb NULL,
  "tags" jsonb NULL,
  "group_by" jsonb NULL,
  "signal_type" text NOT NULL,
  "comparator" text NOT NULL,
  "threshold" double precision NOT NULL,
  "threshold_upper" double precision NULL,
  "resolve_threshold" double precision NULL,
  "window_minutes" bigint NOT NULL,
  "minimum_sample_count" bigint NOT NULL,
  "consecutive_breaches_required" bigint NOT NULL,
  "consecutive_healthy_required" bigint NOT NULL,
  "renotify_interval_minutes" bigint NOT NULL,
  "apdex_threshold_ms" double precision NULL,
  "query_builder_draft" jsonb NULL,
  "raw_query_sql" text NULL,
  "raw_query_reducer" text NULL,
  "alert_on_no_data" boolean NOT NULL DEFAULT false,
  "burn" jsonb NULL,
  "baseline" jsonb NULL,
  "destination_ids" jsonb NULL,
  "muted_until" timestamptz NULL,
  "version" bigint NOT NULL,
  "enabled_at" timestamptz NULL,
  "last_scheduled_at" timestamptz NULL,
  "last_evaluated_at" timestamptz NULL,
  "last_evaluation_error" text NULL,
  "created_at" timestamptz NOT NULL,
  "created_by" text NOT NULL,
  "updated_at" timestamptz NOT NULL,
  "updated_by" text NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "alert_rules_organizations_alert_rules" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "alertrule_org_id_name" ON "alert_rules" ("org_id", "name");
CREATE INDEX "alertrule_org_id_created_at_id" ON "alert_rules" ("org_id", "created_at", "id");
CREATE TABLE "alert_incidents" (
  "id" uuid NOT NULL,
  "rule_name" text NOT NULL,
  "group_key" text NOT NULL,
  "signal_type" text NOT NULL,
  "severity" text NOT NULL,
  "status" text NOT NULL,
  "comparator" text NOT NULL,
  "threshold" double precision NOT NULL,
  "threshold_upper" double precision NULL,
  "created_at" timestamptz NOT NULL,
  "first_triggered_at" timestamptz NOT NULL,
  "last_triggered_at" timestamptz NOT NULL,
  "resolved_at" timestamptz NULL,
  "resolve_reason" text NULL,
  "last_observed_value" double precision NULL,
  "last_sample_count" bigint NULL,
  "dedupe_key" text NOT NULL,
  "open_key" text NULL,
  "last_delivered_event_type" text NULL,
  "last_notified_at" timestamptz NULL,
  "trigger_told" boolean NOT NULL DEFAULT false,
  "hold_reason" text NULL,
  "held_since" timestamptz NULL,
  "error_issue_id" text NULL,
  "rule_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "alert_incidents_alert_rules_incidents" FOREIGN KEY ("rule_id") REFERENCES "alert_rules" ("id") ON DELETE CASCADE,
  CONSTRAINT "alert_incidents_organizations_alert_incidents" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "alert_incidents_open_key_key" ON "alert_incidents" ("open_key");
CREATE INDEX "alertincident_org_id_last_triggered_at_id" ON "alert_incidents" ("org_id", "last_triggered_at", "id");
CREATE INDEX "alertincident_rule_id_last_triggered_at" ON "alert_incidents" ("rule_id", "last_triggered_at");
CREATE TABLE "alert_rule_states" (
  "id" uuid NOT NULL,
  "group_key" text NOT NULL,
  "state" jsonb NOT NULL,
  "updated_at" timestamptz NOT NULL,
  "rule_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "alert_rule_states_alert_rules_states" FOREIGN KEY ("rule_id") REFERENCES "alert_rules" ("id") ON DELETE CASCADE,
  CONSTRAINT "alert_rule_states_organizations_alert_rule_states" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "alertrulestate_rule_id_group_key" ON "alert_rule_states" ("rule_id", "group_key");
CREATE INDEX "alertrulestate_org_id" ON "alert_rule_states" ("org_id");
CREATE TABLE "deliveries" (
  "id" uuid NOT NULL,
  "shard" bigint NOT NULL,
  "subject" text NOT NULL,
  "rule_id" uuid NULL,
  "incident_id" uuid NULL,
  "destination_id" uuid NOT NULL,
  "destination_name" text NOT NULL,
  "destination_type" text NOT NULL,
  "delivery_key" text NOT NULL,
  "event_type" text NOT NULL,
  "attempt_number" bigint NOT NULL,
  "status" text NOT NULL,
  "payload" jsonb NOT NULL,
  "created_at" timestamptz NOT NULL,
  "scheduled_at" timestamptz NOT NULL,
  "due_at" timestamptz NOT NULL,
  "attempted_at" timestamptz NULL,
  "provider_message" text NULL,
  "provider_reference" text NULL,
  "response_code" bigint NULL,
  "error_message" text NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "deliveries_organizations_deliveries" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "delivery_delivery_key_attempt_number" ON "deliveries" ("delivery_key", "attempt_number");
CREATE INDEX "delivery_shard_status_due_at" ON "deliveries" ("shard", "status", "due_at");
CREATE INDEX "delivery_org_id_scheduled_at_id" ON "deliveries" ("org_id", "scheduled_at", "id");
CREATE INDEX "delivery_incident_id" ON "deliveries" ("incident_id");
CREATE INDEX "delivery_rule_id" ON "deliveries" ("rule_id");
CREATE TABLE "scrape_targets" (
  "id" uuid NOT NULL,
  "shard" bigint NOT NULL,
  "name" text NOT NULL,
  "service_name" text NULL,
  "url" text NOT NULL,
  "target_type" text NOT NULL,
  "organization_name" text NULL,
  "include_branches" jsonb NULL,
  "exclude_branches" jsonb NULL,
  "scrape_interval_seconds" bigint NOT NULL,
  "labels_json" text NULL,
  "auth_type" text NOT NULL,
  "credentials" bytea NULL,
  "managed_by" text NULL,
  "enabled" boolean NOT NULL DEFAULT true,
  "last_scrape_at" timestamptz NULL,
  "last_scrape_error" text NULL,
  "failing_since" timestamptz NULL,
  "created_at" timestamptz NOT NULL,
  "created_by" text NOT NULL,
  "updated_at" timestamptz NOT NULL,
  "updated_by" text NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "scrape_targets_organizations_scrape_targets" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "scrapetarget_org_id_name" ON "scrape_targets" ("org_id", "name");
CREATE INDEX "scrapetarget_org_id_created_at_id" ON "scrape_targets" ("org_id", "created_at", "id");
CREATE INDEX "scrapetarget_shard" ON "scrape_targets" ("shard");

-- The picture of a user, of the provider that the user signed in with.
ALTER TABLE "users" ADD COLUMN "avatar_url" text NULL;
