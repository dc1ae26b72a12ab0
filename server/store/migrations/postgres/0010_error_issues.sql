-- Review this file: say here what it is for, and add the statements that move data.

CREATE TABLE "error_inboxes" (
  "id" uuid NOT NULL,
  "shard" bigint NOT NULL,
  "sum" jsonb NOT NULL,
  "created_at" timestamptz NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "error_inboxes_organizations_error_inbox" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "errorinbox_shard_org_id_id" ON "error_inboxes" ("shard", "org_id", "id");
CREATE TABLE "error_issues" (
  "id" uuid NOT NULL,
  "shard" bigint NOT NULL,
  "kind" text NOT NULL,
  "fingerprint_hash" text NOT NULL,
  "service_name" text NOT NULL,
  "exception_type" text NOT NULL,
  "exception_message" text NOT NULL,
  "error_label" text NOT NULL,
  "top_frame" text NOT NULL,
  "workflow_state" text NOT NULL,
  "priority" bigint NOT NULL DEFAULT 3,
  "severity" text NULL,
  "severity_rank" bigint NOT NULL DEFAULT 0,
  "severity_source" text NULL,
  "source_ref" jsonb NULL,
  "assigned_actor_id" uuid NULL,
  "lease_holder_id" uuid NULL,
  "lease_expires_at" timestamptz NULL,
  "claimed_at" timestamptz NULL,
  "lease_seconds" bigint NOT NULL DEFAULT 0,
  "notes" text NULL,
  "first_seen_at" timestamptz NOT NULL,
  "last_seen_at" timestamptz NOT NULL,
  "occurrence_count" bigint NOT NULL DEFAULT 0,
  "estimated_count" double precision NOT NULL DEFAULT 0,
  "resolved_at" timestamptz NULL,
  "last_resolved_at" timestamptz NULL,
  "last_regressed_at" timestamptz NULL,
  "regression_count" bigint NOT NULL DEFAULT 0,
  "resolved_versions" jsonb NULL,
  "versions" jsonb NULL,
  "environments" jsonb NULL,
  "snooze_until" timestamptz NULL,
  "archived_at" timestamptz NULL,
  "open_incident_id" uuid NULL,
  "merged_into" uuid NULL,
  "comment_count" bigint NOT NULL DEFAULT 0,
  "open_pull_request_count" bigint NOT NULL DEFAULT 0,
  "merged_pull_request_count" bigint NOT NULL DEFAULT 0,
  "told" boolean NOT NULL DEFAULT false,
  "created_at" timestamptz NOT NULL,
  "updated_at" timestamptz NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "error_issues_organizations_error_issues" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "errorissue_org_id_last_seen_at_id" ON "error_issues" ("org_id", "last_seen_at", "id");
CREATE INDEX "errorissue_org_id_severity_rank_last_seen_at_id" ON "error_issues" ("org_id", "severity_rank", "last_seen_at", "id");
CREATE INDEX "errorissue_org_id_workflow_state" ON "error_issues" ("org_id", "workflow_state");
CREATE INDEX "errorissue_shard_lease_expires_at" ON "error_issues" ("shard", "lease_expires_at");
CREATE INDEX "errorissue_shard_snooze_until" ON "error_issues" ("shard", "snooze_until");
CREATE INDEX "errorissue_shard_archived_at" ON "error_issues" ("shard", "archived_at");
CREATE INDEX "errorissue_shard_told" ON "error_issues" ("shard", "told");
CREATE TABLE "error_incidents" (
  "id" uuid NOT NULL,
  "shard" bigint NOT NULL,
  "status" text NOT NULL,
  "reason" text NOT NULL,
  "first_triggered_at" timestamptz NOT NULL,
  "last_triggered_at" timestamptz NOT NULL,
  "resolved_at" timestamptz NULL,
  "occurrence_count" bigint NOT NULL DEFAULT 0,
  "created_at" timestamptz NOT NULL,
  "issue_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "error_incidents_error_issues_incidents" FOREIGN KEY ("issue_id") REFERENCES "error_issues" ("id") ON DELETE CASCADE,
  CONSTRAINT "error_incidents_organizations_error_incidents" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "errorincident_org_id_status_last_triggered_at_id" ON "error_incidents" ("org_id", "status", "last_triggered_at", "id");
CREATE INDEX "errorincident_issue_id_first_triggered_at" ON "error_incidents" ("issue_id", "first_triggered_at");
CREATE INDEX "errorincident_shard_status_last_triggered_at" ON "error_incidents" ("shard", "status", "last_triggered_at");
CREATE TABLE "error_issue_events" (
  "id" uuid NOT NULL,
  "actor_id" uuid NULL,
  "type" text NOT NULL,
  "from_state" text NULL,
  "to_state" text NULL,
  "payload" jsonb NOT NULL,
  "created_at" timestamptz NOT NULL,
  "issue_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "error_issue_events_error_issues_events" FOREIGN KEY ("issue_id") REFERENCES "error_issues" ("id") ON DELETE CASCADE,
  CONSTRAINT "error_issue_events_organizations_error_issue_events" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "errorissueevent_issue_id_id" ON "error_issue_events" ("issue_id", "id");
CREATE TABLE "error_issue_fingerprints" (
  "id" uuid NOT NULL,
  "hash" text NOT NULL,
  "pinned" boolean NOT NULL DEFAULT false,
  "service_name" text NOT NULL,
  "exception_type" text NOT NULL,
  "exception_message" text NOT NULL,
  "error_label" text NOT NULL,
  "top_frame" text NOT NULL,
  "grouping" jsonb NULL,
  "first_seen_at" timestamptz NOT NULL,
  "last_seen_at" timestamptz NOT NULL,
  "occurrence_count" bigint NOT NULL DEFAULT 0,
  "estimated_count" double precision NOT NULL DEFAULT 0,
  "created_at" timestamptz NOT NULL,
  "issue_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "error_issue_fingerprints_error_issues_fingerprints" FOREIGN KEY ("issue_id") REFERENCES "error_issues" ("id") ON DELETE CASCADE,
  CONSTRAINT "error_issue_fingerprints_organizations_error_issue_fingerprints" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "errorissuefingerprint_org_id_hash" ON "error_issue_fingerprints" ("org_id", "hash");
CREATE INDEX "errorissuefingerprint_issue_id" ON "error_issue_fingerprints" ("issue_id");
CREATE TABLE "error_issue_pull_requests" (
  "id" uuid NOT NULL,
  "provider" text NOT NULL,
  "repo_full_name" text NOT NULL,
  "number" bigint NOT NULL,
  "url" text NOT NULL,
  "title" text NULL,
  "author_login" text NULL,
  "state" text NOT NULL,
  "merged_at" timestamptz NULL,
  "merge_commit_sha" text NULL,
  "link_source" text NOT NULL,
  "linked_by_actor_id" uuid NULL,
  "created_at" timestamptz NOT NULL,
  "issue_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "error_issue_pull_requests_error_issues_pull_requests" FOREIGN KEY ("issue_id") REFERENCES "error_issues" ("id") ON DELETE CASCADE,
  CONSTRAINT "error_issue_pull_requests_organizations" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "errorissuepullrequest_issue_id_url" ON "error_issue_pull_requests" ("issue_id", "url");
CREATE INDEX "errorissuepullrequest_org_id" ON "error_issue_pull_requests" ("org_id");
CREATE TABLE "error_policies" (
  "id" uuid NOT NULL,
  "kind" text NOT NULL,
  "policy" jsonb NOT NULL,
  "updated_at" timestamptz NOT NULL,
  "updated_by" text NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "error_policies_organizations_error_policies" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "errorpolicy_org_id_kind" ON "error_policies" ("org_id", "kind");
CREATE TABLE "issue_actors" (
  "id" uuid NOT NULL,
  "type" text NOT NULL,
  "user_id" text NULL,
  "name" text NOT NULL,
  "model" text NULL,
  "capabilities" jsonb NULL,
  "last_active_at" timestamptz NULL,
  "created_at" timestamptz NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "issue_actors_organizations_issue_actors" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "issueactor_org_id_name" ON "issue_actors" ("org_id", "name");
