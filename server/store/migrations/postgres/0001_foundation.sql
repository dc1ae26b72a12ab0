-- Organizations, users, memberships, credentials, sessions and the counter of changes.
-- Never edit a migration that was released: add the next one.

CREATE TABLE "organizations" (
  "id" text NOT NULL,
  "name" text NOT NULL,
  "slug" text NOT NULL,
  "created_at" timestamptz NOT NULL,
  PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "organizations_slug_key" ON "organizations" ("slug");

CREATE TABLE "users" (
  "id" text NOT NULL,
  "email" text NOT NULL,
  "name" text NOT NULL DEFAULT '',
  "password_hash" text NOT NULL DEFAULT '',
  "created_at" timestamptz NOT NULL,
  PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "users_email_key" ON "users" ("email");

CREATE TABLE "memberships" (
  "id" uuid NOT NULL,
  "role" text NOT NULL,
  "created_at" timestamptz NOT NULL,
  "org_id" text NOT NULL,
  "user_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "memberships_organizations_memberships" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE,
  CONSTRAINT "memberships_users_memberships" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "membership_org_id_user_id" ON "memberships" ("org_id", "user_id");
CREATE INDEX "membership_user_id" ON "memberships" ("user_id");

CREATE TABLE "api_keys" (
  "id" uuid NOT NULL,
  "name" text NOT NULL,
  "description" text NULL,
  "kind" text NOT NULL,
  "scopes" jsonb NULL,
  "key_prefix" text NOT NULL,
  "secret_hash" text NOT NULL,
  "revoked_at" timestamptz NULL,
  "last_used_at" timestamptz NULL,
  "expires_at" timestamptz NULL,
  "created_at" timestamptz NOT NULL,
  "created_by" text NOT NULL,
  "created_by_email" text NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "api_keys_organizations_api_keys" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "api_keys_secret_hash_key" ON "api_keys" ("secret_hash");
CREATE INDEX "apikey_org_id_created_at_id" ON "api_keys" ("org_id", "created_at", "id");

CREATE TABLE "ingest_keys" (
  "id" uuid NOT NULL,
  "kind" text NOT NULL,
  "name" text NOT NULL,
  "key_hash" text NOT NULL,
  "key_prefix" text NOT NULL,
  "signals" jsonb NULL,
  "rate_limit" double precision NULL,
  "resource_attributes" jsonb NULL,
  "disabled_at" timestamptz NULL,
  "expires_at" timestamptz NULL,
  "rotated_at" timestamptz NULL,
  "created_at" timestamptz NOT NULL,
  "created_by" text NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "ingest_keys_organizations_ingest_keys" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "ingest_keys_key_hash_key" ON "ingest_keys" ("key_hash");
CREATE UNIQUE INDEX "ingestkey_org_id_default_kind" ON "ingest_keys" ("org_id", "kind") WHERE kind <> 'custom';
CREATE INDEX "ingestkey_org_id_created_at_id" ON "ingest_keys" ("org_id", "created_at", "id");

CREATE TABLE "sessions" (
  "id" uuid NOT NULL,
  "token_hash" text NOT NULL,
  "user_agent" text NOT NULL DEFAULT '',
  "created_at" timestamptz NOT NULL,
  "last_seen_at" timestamptz NOT NULL,
  "expires_at" timestamptz NOT NULL,
  "revoked_at" timestamptz NULL,
  "org_id" text NULL,
  "user_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "sessions_organizations_sessions" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE,
  CONSTRAINT "sessions_users_sessions" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "sessions_token_hash_key" ON "sessions" ("token_hash");
CREATE INDEX "session_user_id" ON "sessions" ("user_id");
CREATE INDEX "session_org_id" ON "sessions" ("org_id");
CREATE INDEX "session_expires_at" ON "sessions" ("expires_at");

CREATE TABLE "counters" (
  "id" text NOT NULL,
  "value" bigint NOT NULL,
  PRIMARY KEY ("id")
);
