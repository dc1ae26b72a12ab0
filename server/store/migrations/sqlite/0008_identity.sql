-- The id of the installation and the fingerprint of the secret key that its credentials were made with, in one row, which the first start writes.

CREATE TABLE "installation_identity" (
  "id" integer NOT NULL CHECK ("id" = 1),
  "installation" text NOT NULL,
  "secret_key" text NOT NULL,
  PRIMARY KEY ("id")
);
