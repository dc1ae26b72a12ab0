package warehouse

import (
	"context"
	"fmt"
)

// installationRecord is the name of the row in schema_migrations that records the installation that the telemetry belongs to. The
// newest such row counts.
const installationRecord = "installation"

// Installation returns the id of the installation that the telemetry belongs to. It is empty if none has claimed the warehouse.
func (w *Warehouse) Installation(ctx context.Context) (string, error) {
	found, err := w.texts(ctx, "SELECT Checksum FROM schema_migrations WHERE File = "+quoteText(installationRecord)+
		" ORDER BY AppliedAt DESC LIMIT 1")
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// ClaimInstallation records that the telemetry belongs to an installation.
func (w *Warehouse) ClaimInstallation(ctx context.Context, id string) error {
	sql := fmt.Sprintf("INSERT INTO schema_migrations (File, Statement, Checksum) VALUES (%s, 1, %s)", quoteText(installationRecord),
		quoteText(id))
	return w.exec(ctx, w.endpoint.database, sql, nil)
}

// Empty reports whether the warehouse holds no telemetry.
func (w *Warehouse) Empty(ctx context.Context) (bool, error) {
	tables := "system.tables"
	if w.endpoint.cluster != "" {
		tables = fmt.Sprintf("clusterAllReplicas(%s, system.tables)", quoteText(w.endpoint.cluster))
	}
	found, err := w.texts(ctx, "SELECT name FROM "+tables+" WHERE database = "+quoteText(w.endpoint.database)+
		" AND name != 'schema_migrations' AND total_rows > 0 LIMIT 1")
	return err == nil && len(found) == 0, err
}
