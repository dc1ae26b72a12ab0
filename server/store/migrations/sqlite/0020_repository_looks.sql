-- The server looks at connected repositories for pull requests that name error issues, and for deployments. The next synchronization begins it.

CREATE TABLE "new_source_repositories" (
  "id" uuid NOT NULL,
  "external_id" text NOT NULL,
  "full_name" text NOT NULL,
  "former_names" json NULL,
  "html_url" text NOT NULL,
  "is_private" bool NOT NULL,
  "is_archived" bool NOT NULL,
  "default_branch" text NOT NULL,
  "tracked_branch" text NULL,
  "status" text NOT NULL DEFAULT ('active'),
  "last_synced_at" datetime NULL,
  "last_sync_error" text NULL,
  "etag" text NULL,
  "checked_at" datetime NULL,
  "searched_at" datetime NULL,
  "shard" integer NOT NULL DEFAULT (0),
  "look_due_at" datetime NULL,
  "pulls_etag" text NULL,
  "pulls_seen_at" datetime NULL,
  "created_at" datetime NOT NULL,
  "updated_at" datetime NOT NULL,
  "connection_id" uuid NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "source_repositories_integration_connections_repositories" FOREIGN KEY ("connection_id") REFERENCES "integration_connections" ("id") ON DELETE CASCADE,
  CONSTRAINT "source_repositories_organizations_source_repositories" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
INSERT INTO "new_source_repositories" ("id", "external_id", "full_name", "former_names", "html_url", "is_private", "is_archived", "default_branch", "tracked_branch", "status", "last_synced_at", "last_sync_error", "etag", "checked_at", "searched_at", "created_at", "updated_at", "connection_id", "org_id") SELECT "id", "external_id", "full_name", "former_names", "html_url", "is_private", "is_archived", "default_branch", "tracked_branch", "status", "last_synced_at", "last_sync_error", "etag", "checked_at", "searched_at", "created_at", "updated_at", "connection_id", "org_id" FROM "source_repositories";
DROP TABLE "source_repositories";
ALTER TABLE "new_source_repositories" RENAME TO "source_repositories";
CREATE UNIQUE INDEX "sourcerepository_connection_id_external_id" ON "source_repositories" ("connection_id", "external_id");
CREATE INDEX "sourcerepository_org_id_full_name_id" ON "source_repositories" ("org_id", "full_name", "id");
CREATE INDEX "sourcerepository_shard_look_due_at" ON "source_repositories" ("shard", "look_due_at");
