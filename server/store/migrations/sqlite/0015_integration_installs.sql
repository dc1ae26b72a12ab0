-- An attempt to connect an account of a provider knows whether it begins with the installation of the app.

CREATE TABLE "new_integration_logins" (
  "id" uuid NOT NULL,
  "state_hash" text NOT NULL,
  "provider" text NOT NULL,
  "user_id" text NULL,
  "session_id" text NULL,
  "install" bool NOT NULL DEFAULT (false),
  "verifier" blob NOT NULL,
  "return_to" text NULL,
  "offer" blob NULL,
  "created_at" datetime NOT NULL,
  "expires_at" datetime NOT NULL,
  "used_at" datetime NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "integration_logins_organizations_integration_logins" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
INSERT INTO "new_integration_logins" ("id", "state_hash", "provider", "user_id", "session_id", "verifier", "return_to", "offer", "created_at", "expires_at", "used_at", "org_id") SELECT "id", "state_hash", "provider", "user_id", "session_id", "verifier", "return_to", "offer", "created_at", "expires_at", "used_at", "org_id" FROM "integration_logins";
DROP TABLE "integration_logins";
ALTER TABLE "new_integration_logins" RENAME TO "integration_logins";
CREATE UNIQUE INDEX "integration_logins_state_hash_key" ON "integration_logins" ("state_hash");
CREATE INDEX "integrationlogin_expires_at" ON "integration_logins" ("expires_at");
