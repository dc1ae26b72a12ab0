-- An attempt to connect an account of a provider knows whether it begins with the installation of the app.

ALTER TABLE "integration_logins" ADD COLUMN "install" boolean NOT NULL DEFAULT false;
