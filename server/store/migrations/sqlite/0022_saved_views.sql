-- Saved views: states of pages under a name, private or shared. Preferences: settings of users for the web application.

CREATE TABLE "preferences" (
  "id" uuid NOT NULL,
  "theme" text NOT NULL,
  "stack_trace" text NOT NULL,
  "updated_at" datetime NOT NULL,
  "user_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "preferences_users_preferences" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "preferences_user_id_key" ON "preferences" ("user_id");
CREATE TABLE "saved_views" (
  "id" uuid NOT NULL,
  "page" text NOT NULL,
  "name" text NOT NULL,
  "description" text NULL,
  "state" text NOT NULL,
  "visibility" text NOT NULL,
  "created_at" datetime NOT NULL,
  "updated_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  "user_id" text NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "saved_views_organizations_saved_views" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE,
  CONSTRAINT "saved_views_users_saved_views" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "savedview_private_name" ON "saved_views" ("org_id", "user_id", "page", "name") WHERE visibility = 'private';
CREATE UNIQUE INDEX "savedview_shared_name" ON "saved_views" ("org_id", "page", "name") WHERE visibility = 'shared';
CREATE INDEX "savedview_org_id_name_id" ON "saved_views" ("org_id", "name", "id");
CREATE INDEX "savedview_user_id" ON "saved_views" ("user_id");
