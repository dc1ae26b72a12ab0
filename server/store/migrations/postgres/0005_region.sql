-- The region that the database belongs to, in one row, which the first start writes.

CREATE TABLE "installation" (
  "id" bigint NOT NULL CHECK ("id" = 1),
  "region" text NOT NULL,
  PRIMARY KEY ("id")
);
