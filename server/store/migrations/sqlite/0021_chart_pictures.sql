-- Adds when a chat service last could not fetch a picture, so that messages have none for a day.

ALTER TABLE "integration_connections" ADD COLUMN "picture_failed_at" datetime NULL;
