-- Checks of whether the fixes of error issues hold, by releases.

ALTER TABLE "error_issues" ADD COLUMN "open_verification_id" uuid NULL;
CREATE TABLE "error_issue_verifications" (
  "id" uuid NOT NULL,
  "shard" integer NOT NULL,
  "attempt" integer NOT NULL,
  "status" text NOT NULL,
  "reason" text NULL,
  "url" text NULL,
  "commit" text NULL,
  "version" text NULL,
  "fixed_at" datetime NOT NULL,
  "started_at" datetime NOT NULL,
  "deployed_at" datetime NULL,
  "figures" json NULL,
  "due_at" datetime NULL,
  "checked_at" datetime NULL,
  "ended_at" datetime NULL,
  "created_at" datetime NOT NULL,
  "issue_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "error_issue_verifications_error_issues_verifications" FOREIGN KEY ("issue_id") REFERENCES "error_issues" ("id") ON DELETE CASCADE,
  CONSTRAINT "error_issue_verifications_organizations" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "errorissueverification_issue_id_id" ON "error_issue_verifications" ("issue_id", "id");
CREATE INDEX "errorissueverification_shard_due_at" ON "error_issue_verifications" ("shard", "due_at");
CREATE INDEX "errorissueverification_org_id" ON "error_issue_verifications" ("org_id");
