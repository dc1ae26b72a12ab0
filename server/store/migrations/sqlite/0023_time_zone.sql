-- Adds the time zone in which a person reads times: that of the browser until another one is chosen.

CREATE TABLE "new_preferences" (
  "id" uuid NOT NULL,
  "theme" text NOT NULL,
  "stack_trace" text NOT NULL,
  "time_zone" text NOT NULL DEFAULT ('browser'),
  "updated_at" datetime NOT NULL,
  "user_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "preferences_users_preferences" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE
);
INSERT INTO "new_preferences" ("id", "theme", "stack_trace", "updated_at", "user_id") SELECT "id", "theme", "stack_trace", "updated_at", "user_id" FROM "preferences";
DROP TABLE "preferences";
ALTER TABLE "new_preferences" RENAME TO "preferences";
CREATE UNIQUE INDEX "preferences_user_id_key" ON "preferences" ("user_id");
