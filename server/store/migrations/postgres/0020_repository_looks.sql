-- The server looks at connected repositories for pull requests that name error issues, and for deployments. The next synchronization begins it.

ALTER TABLE "source_repositories" ADD COLUMN "shard" bigint NOT NULL DEFAULT 0, ADD COLUMN "look_due_at" timestamptz NULL, ADD COLUMN "pulls_etag" text NULL, ADD COLUMN "pulls_seen_at" timestamptz NULL;
CREATE INDEX "sourcerepository_shard_look_due_at" ON "source_repositories" ("shard", "look_due_at");
