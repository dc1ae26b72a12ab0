package repositories

import (
	"context"
	"database/sql"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations/github"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// TestJoinedLocks: accounts that report deployments wait for each other before they hold anything, and do not wait for somebody who adds
// another row to the organization.
func TestJoinedLocks(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).NewDatabase(t)
	b := open(t, store.Config{URL: url})
	db := must[*sql.DB](t)(sql.Open("pgx", url))
	t.Cleanup(func() { _ = db.Close() })
	platform := b.platform("vercel")
	all := must[[]store.IntegrationConnection](t)(b.ListIntegrations(t.Context(), b.orgs[0]))
	host := all[slices.IndexFunc(all, func(c store.IntegrationConnection) bool { return c.Provider == github.ID })]
	list := func(id string) store.HostingList {
		return store.HostingList{
			Deployments: []store.HostingDeployment{ready(id, "web", "", strings.Repeat("a", 40), b.now)}, KeepSince: b.now.Add(-limits.Day),
		}
	}
	project := store.HostingProject{ExternalID: "web", Name: "web", Repository: "acme/shop", Environments: []string{}, Services: []string{}}
	for name, one := range map[string]struct {
		of    store.IntegrationConnection
		store func(context.Context, string) error
	}{
		"the platform": {platform, func(ctx context.Context, id string) error {
			return b.SyncHosting(ctx, b.fences[store.WorkIntegrations+strconv.Itoa(platform.Shard)], platform, list(id), b.now)
		}},
		"the host": {host, func(ctx context.Context, id string) error {
			return b.SyncDeployments(ctx, b.fences[store.WorkRepositories+strconv.Itoa(b.shard(0))], host, project, list(id), b.now)
		}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		tx := must[*sql.Tx](t)(db.BeginTx(ctx, nil))
		lock := func(statement, id string) {
			t.Helper()
			if _, err := tx.ExecContext(ctx, statement, id); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		lock("SELECT id FROM organizations WHERE id = $1 FOR KEY SHARE", string(b.orgs[0])) // as a new row of it does
		short, end := context.WithTimeout(ctx, 10*time.Second)
		if err := one.store(short, "d1"); err != nil {
			t.Errorf("%s waits for a new row: %v", name, err)
		}
		end()
		_ = tx.Rollback()

		tx = must[*sql.Tx](t)(db.BeginTx(ctx, nil))
		lock("SELECT id FROM organizations WHERE id = $1 FOR NO KEY UPDATE", string(b.orgs[0])) // as another account does
		done := make(chan error, 1)
		go func() { done <- one.store(ctx, "d2") }()
		for waiting := 0; waiting == 0 && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
			const count = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
			if err := db.QueryRowContext(ctx, count).Scan(&waiting); err != nil {
				t.Fatal(err)
			}
		}
		lock("SELECT id FROM organizations WHERE id = $1 FOR UPDATE NOWAIT", string(b.orgs[0]))
		if !t.Failed() {
			lock("SELECT id FROM integration_connections WHERE id = $1 FOR UPDATE NOWAIT", one.of.ID.String())
		}
		_ = tx.Rollback()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
	}
}
