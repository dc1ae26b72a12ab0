-- Recommendations about the names of attributes.

CREATE TABLE "recommendations" (
  "id" uuid NOT NULL,
  "number" integer NOT NULL,
  "recommendation_key" text NOT NULL,
  "kind" text NOT NULL,
  "source_key" text NOT NULL,
  "canonical_key" text NULL,
  "status" text NOT NULL,
  "usage_count" integer NOT NULL,
  "opened_at" datetime NOT NULL,
  "updated_at" datetime NOT NULL,
  "resolved_at" datetime NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "recommendations_organizations_recommendations" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "recommendation_org_id_recommendation_key" ON "recommendations" ("org_id", "recommendation_key");
CREATE UNIQUE INDEX "recommendation_org_id_number" ON "recommendations" ("org_id", "number");
