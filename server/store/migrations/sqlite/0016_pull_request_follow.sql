-- Pull requests of error issues are followed at their source hosts. The host is asked about those that are not merged.

CREATE TABLE "new_error_issue_pull_requests" (
  "id" uuid NOT NULL,
  "provider" text NOT NULL,
  "repo_full_name" text NOT NULL,
  "number" integer NOT NULL,
  "url" text NOT NULL,
  "title" text NULL,
  "author_login" text NULL,
  "state" text NOT NULL,
  "merged_at" datetime NULL,
  "merge_commit_sha" text NULL,
  "link_source" text NOT NULL,
  "shard" integer NOT NULL DEFAULT (0),
  "due_at" datetime NULL,
  "checked_at" datetime NULL,
  "check_problem" text NULL,
  "etag" text NULL,
  "linked_by_actor_id" uuid NULL,
  "created_at" datetime NOT NULL,
  "issue_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "error_issue_pull_requests_error_issues_pull_requests" FOREIGN KEY ("issue_id") REFERENCES "error_issues" ("id") ON DELETE CASCADE,
  CONSTRAINT "error_issue_pull_requests_organizations" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
INSERT INTO "new_error_issue_pull_requests" ("id", "provider", "repo_full_name", "number", "url", "title", "author_login", "state", "merged_at", "merge_commit_sha", "link_source", "linked_by_actor_id", "created_at", "issue_id", "org_id") SELECT "id", "provider", "repo_full_name", "number", "url", "title", "author_login", "state", "merged_at", "merge_commit_sha", "link_source", "linked_by_actor_id", "created_at", "issue_id", "org_id" FROM "error_issue_pull_requests";
DROP TABLE "error_issue_pull_requests";
ALTER TABLE "new_error_issue_pull_requests" RENAME TO "error_issue_pull_requests";
CREATE UNIQUE INDEX "errorissuepullrequest_issue_id_url" ON "error_issue_pull_requests" ("issue_id", "url");
CREATE INDEX "errorissuepullrequest_org_id_provider_number" ON "error_issue_pull_requests" ("org_id", "provider", "number");
CREATE INDEX "errorissuepullrequest_shard_due_at" ON "error_issue_pull_requests" ("shard", "due_at");

UPDATE "error_issue_pull_requests" SET "due_at" = "created_at" WHERE "state" <> 'merged';
