-- Audit log, invitations, identities, logins of the command line, dashboards, idempotency keys, agent feedback.
-- Never edit a migration that was released: add the next one.

CREATE TABLE "agent_feedback" (
  "id" uuid NOT NULL,
  "kind" text NOT NULL,
  "impact" text NULL,
  "summary" text NOT NULL,
  "reason" text NOT NULL,
  "details" text NULL,
  "related_to" text NULL,
  "agent" json NOT NULL,
  "source" text NOT NULL,
  "created_at" datetime NOT NULL,
  "created_by" text NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "agent_feedback_organizations_agent_feedback" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "agentfeedback_org_id_created_at_id" ON "agent_feedback" ("org_id", "created_at", "id");

CREATE TABLE "audit_log_entries" (
  "id" uuid NOT NULL,
  "action" text NOT NULL,
  "outcome" text NOT NULL,
  "denial_reason" text NULL,
  "actor_type" text NOT NULL,
  "actor_id" text NULL,
  "actor_name" text NULL,
  "affected_user" text NULL,
  "source" text NOT NULL,
  "resource_type" text NULL,
  "resource_id" text NULL,
  "changes" json NULL,
  "changed" text NOT NULL DEFAULT '',
  "metadata" json NULL,
  "request_id" text NULL,
  "origin_ip" text NULL,
  "origin_country" text NULL,
  "user_agent" text NULL,
  "occurred_at" datetime NOT NULL,
  "recorded_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "audit_log_entries_organizations_audit_log_entries" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "auditlogentry_org_id_occurred_at_id" ON "audit_log_entries" ("org_id", "occurred_at", "id");
CREATE INDEX "auditlogentry_org_id_action_occurred_at" ON "audit_log_entries" ("org_id", "action", "occurred_at");
CREATE INDEX "auditlogentry_org_id_actor_id_occurred_at" ON "audit_log_entries" ("org_id", "actor_id", "occurred_at");
CREATE INDEX "auditlogentry_org_id_resource_id_occurred_at" ON "audit_log_entries" ("org_id", "resource_id", "occurred_at");

CREATE TABLE "dashboards" (
  "id" uuid NOT NULL,
  "name" text NOT NULL,
  "definition" json NOT NULL,
  "version" integer NOT NULL,
  "created_at" datetime NOT NULL,
  "created_by" text NOT NULL,
  "updated_at" datetime NOT NULL,
  "updated_by" text NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "dashboards_organizations_dashboards" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "dashboard_org_id_updated_at_id" ON "dashboards" ("org_id", "updated_at", "id");

CREATE TABLE "dashboard_shares" (
  "id" uuid NOT NULL,
  "widget_id" text NOT NULL DEFAULT '',
  "mode" text NOT NULL,
  "token" text NOT NULL,
  "token_hash" text NOT NULL,
  "created_at" datetime NOT NULL,
  "created_by" text NOT NULL,
  "updated_at" datetime NOT NULL,
  "dashboard_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "dashboard_shares_dashboards_shares" FOREIGN KEY ("dashboard_id") REFERENCES "dashboards" ("id") ON DELETE CASCADE,
  CONSTRAINT "dashboard_shares_organizations_dashboard_shares" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "dashboard_shares_token_hash_key" ON "dashboard_shares" ("token_hash");
CREATE UNIQUE INDEX "dashboardshare_org_id_dashboard_id_widget_id" ON "dashboard_shares" ("org_id", "dashboard_id", "widget_id");

CREATE TABLE "dashboard_versions" (
  "id" uuid NOT NULL,
  "version_number" integer NOT NULL,
  "snapshot" json NOT NULL,
  "name" text NOT NULL,
  "change_kind" text NOT NULL,
  "change_summary" text NULL,
  "source_version_id" uuid NULL,
  "created_at" datetime NOT NULL,
  "created_by" text NOT NULL,
  "dashboard_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "dashboard_versions_dashboards_versions" FOREIGN KEY ("dashboard_id") REFERENCES "dashboards" ("id") ON DELETE CASCADE,
  CONSTRAINT "dashboard_versions_organizations_dashboard_versions" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "dashboardversion_org_id_dashboard_id_version_number" ON "dashboard_versions" ("org_id", "dashboard_id", "version_number");

ALTER TABLE "ingest_keys" ADD COLUMN "public_text" text NULL;

CREATE TABLE "deleted_organizations" (
  "id" text NOT NULL,
  "deleted_at" datetime NOT NULL,
  PRIMARY KEY ("id")
);

CREATE TABLE "device_logins" (
  "id" uuid NOT NULL,
  "device_code_hash" text NOT NULL,
  "user_code_hash" text NOT NULL,
  "client_name" text NOT NULL,
  "client_address" text NOT NULL DEFAULT '',
  "status" text NOT NULL DEFAULT 'pending',
  "org_id" text NULL,
  "user_id" text NULL,
  "created_at" datetime NOT NULL,
  "expires_at" datetime NOT NULL,
  "polled_at" datetime NULL,
  PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "device_logins_device_code_hash_key" ON "device_logins" ("device_code_hash");
CREATE UNIQUE INDEX "device_logins_user_code_hash_key" ON "device_logins" ("user_code_hash");
CREATE INDEX "devicelogin_expires_at" ON "device_logins" ("expires_at");

CREATE TABLE "idempotency_keys" (
  "id" uuid NOT NULL,
  "caller" text NOT NULL,
  "key_hash" text NOT NULL,
  "request_hash" text NOT NULL,
  "status" integer NOT NULL DEFAULT 0,
  "response" blob NULL,
  "created_at" datetime NOT NULL,
  "expires_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "idempotency_keys_organizations_idempotency_keys" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "idempotencykey_org_id_caller_key_hash" ON "idempotency_keys" ("org_id", "caller", "key_hash");
CREATE INDEX "idempotencykey_expires_at" ON "idempotency_keys" ("expires_at");

CREATE TABLE "invitations" (
  "id" uuid NOT NULL,
  "email" text NULL,
  "role" text NOT NULL,
  "token_hash" text NOT NULL,
  "created_at" datetime NOT NULL,
  "created_by" text NOT NULL,
  "expires_at" datetime NOT NULL,
  "accepted_at" datetime NULL,
  "accepted_by" text NULL,
  "revoked_at" datetime NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "invitations_organizations_invitations" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "invitations_token_hash_key" ON "invitations" ("token_hash");
CREATE INDEX "invitation_org_id_created_at_id" ON "invitations" ("org_id", "created_at", "id");

CREATE TABLE "user_identities" (
  "id" uuid NOT NULL,
  "issuer" text NOT NULL,
  "subject" text NOT NULL,
  "created_at" datetime NOT NULL,
  "user_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "user_identities_users_identities" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "useridentity_issuer_subject" ON "user_identities" ("issuer", "subject");
CREATE INDEX "useridentity_user_id" ON "user_identities" ("user_id");
