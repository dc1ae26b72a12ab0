-- OAuth of the MCP server: programs that registered themselves, what users allowed them, and their tokens.

CREATE TABLE "oauth_clients" (
  "id" text NOT NULL,
  "name" text NOT NULL,
  "uri" text NOT NULL DEFAULT '',
  "redirect_uris" json NOT NULL,
  "created_at" datetime NOT NULL,
  "used_at" datetime NULL,
  PRIMARY KEY ("id")
);
CREATE INDEX "oauthclient_created_at" ON "oauth_clients" ("created_at");
CREATE INDEX "oauthclient_used_at" ON "oauth_clients" ("used_at");

CREATE TABLE "oauth_grants" (
  "id" uuid NOT NULL,
  "client_id" text NOT NULL,
  "client_name" text NOT NULL,
  "scope" text NOT NULL,
  "resource" text NOT NULL,
  "redirect_uri" text NOT NULL,
  "code_hash" text NOT NULL,
  "code_challenge" text NOT NULL,
  "code_expires_at" datetime NOT NULL,
  "redeemed_at" datetime NULL,
  "created_at" datetime NOT NULL,
  "used_at" datetime NULL,
  "expires_at" datetime NOT NULL,
  "revoked_at" datetime NULL,
  "org_id" text NOT NULL,
  "user_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "oauth_grants_organizations_oauth_grants" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE,
  CONSTRAINT "oauth_grants_users_oauth_grants" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "oauth_grants_code_hash_key" ON "oauth_grants" ("code_hash");
CREATE INDEX "oauthgrant_org_id_user_id" ON "oauth_grants" ("org_id", "user_id");
CREATE INDEX "oauthgrant_user_id" ON "oauth_grants" ("user_id");
CREATE INDEX "oauthgrant_expires_at" ON "oauth_grants" ("expires_at");

CREATE TABLE "oauth_tokens" (
  "id" uuid NOT NULL,
  "kind" text NOT NULL,
  "token_hash" text NOT NULL,
  "created_at" datetime NOT NULL,
  "expires_at" datetime NOT NULL,
  "replaced_at" datetime NULL,
  "grant_id" uuid NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "oauth_tokens_oauth_grants_tokens" FOREIGN KEY ("grant_id") REFERENCES "oauth_grants" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "oauth_tokens_token_hash_key" ON "oauth_tokens" ("token_hash");
CREATE INDEX "oauthtoken_grant_id" ON "oauth_tokens" ("grant_id");
CREATE INDEX "oauthtoken_expires_at" ON "oauth_tokens" ("expires_at");
