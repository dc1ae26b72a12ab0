-- Adds the time zone in which a person reads times: that of the browser until another one is chosen.

ALTER TABLE "preferences" ADD COLUMN "time_zone" text NOT NULL DEFAULT 'browser';
