package integrations

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// SourceHost opens the host of a source account. The error is a problem, or one of the provider's settings.
func (e *Engine) SourceHost(p SourceProvider, c store.IntegrationConnection) (source.Host, error) {
	opened, err := e.Open(c)
	if err != nil {
		return nil, err
	}
	return p.Host(opened, e.renewed)
}

// ErrNoAccess reports that a repository may not be read now: its account is out of order, or a setting forbids it.
var ErrNoAccess = errors.New("the repository may not be read")

// RepositoryHost opens the host of a repository for work that no person waits for, and returns the present name of the repository. The
// error is ErrNoAccess, a problem, or one of the provider's settings.
func (e *Engine) RepositoryHost(ctx context.Context, c store.IntegrationConnection, row store.SourceRepository) (
	host source.Host, name string, err error,
) {
	account, err := source.ReadAccount(c.Settings)
	if err != nil {
		return nil, "", err
	}
	setup, _ := e.Provider(c.Provider)
	provider, ok := setup.Provider.(SourceProvider)
	inOrder := c.State == store.IntegrationConnected || c.State == store.IntegrationError
	if !ok || !inOrder || provider.BaseURL() != c.BaseURL || !account.Admits(row.ExternalID) || account.CodeAccess == source.AccessOff {
		return nil, "", ErrNoAccess
	}
	if host, err = e.SourceHost(provider, c); err != nil {
		return nil, "", err
	}
	name = row.FullName
	if account.Limited {
		// Another repository, which does not count, may have taken the name over.
		seen, changed, err := host.Repository(ctx, row.ExternalID, row.Etag)
		if err != nil {
			return nil, "", err
		}
		if changed {
			name = seen.FullName
		}
	}
	source.Bind(host, name, row.ExternalID)
	return host, name, nil
}

// renewPoll is the pause between two looks at credentials that the worker renews.
const renewPoll = 50 * time.Millisecond

// renewed waits until the worker of an account has stored newer credentials than those of c. Only the worker renews them, because two that
// do so at once would void each other's tokens.
func (e *Engine) renewed(ctx context.Context, c Connection) (Connection, error) {
	var asked time.Time
	tick := time.NewTicker(renewPoll)
	defer tick.Stop()
	for {
		row, err := e.cfg.Store.GetIntegrationConnection(ctx, c.Org, c.ID)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return c, NewProblem(Gone, err, "The account is no longer connected.")
		case err != nil:
			return c, NewProblem(Upstream, err, "The access to the account could not be renewed.")
		case row.State == store.IntegrationReconnectNeeded, row.State == store.IntegrationDisconnected:
			return c, NewProblem(Suspended, nil, "The provider no longer accepts our access.")
		case !bytes.Equal(row.Credentials, c.IntegrationConnection.Credentials):
			return e.Open(row)
		}
		now := e.cfg.Now()
		switch {
		case asked.IsZero() && row.FailingSince != nil && row.SyncDueAt != nil && row.SyncDueAt.After(now): // the provider has its pause
			return c, NewProblem(Upstream, nil, "The provider failed, so the access to the account was not renewed. Try again in some minutes.")
		case asked.IsZero():
			asked = now
			if err := e.cfg.Store.MakeIntegrationDue(ctx, c.Org, c.ID); err != nil {
				return c, NewProblem(Upstream, err, "The access to the account could not be renewed.")
			}
		case row.SyncDueAt == nil, row.SyncDueAt.After(now), now.Sub(asked) >= limits.IntegrationRenewal: // the worker was there, or is busy
			return c, NewProblem(Upstream, nil, "The access to the account could not be renewed. Try again in a minute.")
		}
		select {
		case <-ctx.Done():
			return c, NewProblem(Upstream, ctx.Err(), "The access to the account could not be renewed in time.")
		case <-tick.C:
		}
	}
}
