-- Investigations: problems with the findings about them, kept for the next shift.

CREATE TABLE "investigations" (
  "id" uuid NOT NULL,
  "title" text NOT NULL,
  "question" text NULL,
  "status" text NOT NULL,
  "issue_id" text NULL,
  "conclusion" text NULL,
  "assignee" text NULL,
  "findings" json NOT NULL,
  "created_at" datetime NOT NULL,
  "created_by" text NOT NULL,
  "updated_at" datetime NOT NULL,
  "org_id" text NOT NULL,
  PRIMARY KEY ("id"),
  CONSTRAINT "investigations_organizations_investigations" FOREIGN KEY ("org_id") REFERENCES "organizations" ("id") ON DELETE CASCADE
);
CREATE INDEX "investigation_org_id_updated_at_id" ON "investigations" ("org_id", "updated_at", "id");
