-- Who deleted an organization, and what it was called: its own audit log went with it.

ALTER TABLE "deleted_organizations" ADD COLUMN "name" text NOT NULL DEFAULT '';
ALTER TABLE "deleted_organizations" ADD COLUMN "slug" text NOT NULL DEFAULT '';
ALTER TABLE "deleted_organizations" ADD COLUMN "deleted_by" jsonb NULL;
