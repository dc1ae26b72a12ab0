-- Pull requests of error issues are followed at their source hosts. The host is asked about those that are not merged.

DROP INDEX "errorissuepullrequest_org_id";
ALTER TABLE "error_issue_pull_requests" ADD COLUMN "shard" bigint NOT NULL DEFAULT 0, ADD COLUMN "due_at" timestamptz NULL, ADD COLUMN "checked_at" timestamptz NULL, ADD COLUMN "check_problem" text NULL, ADD COLUMN "etag" text NULL;
CREATE INDEX "errorissuepullrequest_org_id_provider_number" ON "error_issue_pull_requests" ("org_id", "provider", "number");
CREATE INDEX "errorissuepullrequest_shard_due_at" ON "error_issue_pull_requests" ("shard", "due_at");

UPDATE "error_issue_pull_requests" SET "due_at" = "created_at" WHERE "state" <> 'merged';
