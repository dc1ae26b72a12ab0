package integrations_test

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// oneAccount is the store of an organization with one source account, whose worker does something when the account is due.
type oneAccount struct {
	integrations.Store

	mu   sync.Mutex
	row  store.IntegrationConnection
	gone bool
	due  int
	// work is the work of the worker on the row; nil: it is busy.
	work func(row *store.IntegrationConnection)
}

func (s *oneAccount) GetIntegrationConnection(context.Context, principal.OrgID, uuid.UUID) (store.IntegrationConnection, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return store.IntegrationConnection{}, store.ErrNotFound
	}
	return s.row, nil
}

func (s *oneAccount) MakeIntegrationDue(context.Context, principal.OrgID, uuid.UUID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.due++
	s.row.SyncDueAt = new(time.Now())
	if s.work == nil {
		return nil
	}
	time.AfterFunc(120*time.Millisecond, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.work(&s.row)
		s.row.SyncDueAt = new(time.Now().Add(time.Hour))
	})
	return nil
}

// capture is a source provider that keeps its arguments.
type capture struct {
	integrations.SourceProvider

	c     integrations.Connection
	renew integrations.Renew
}

func (p *capture) Host(c integrations.Connection, renew integrations.Renew) (source.Host, error) {
	p.c, p.renew = c, renew
	return nil, nil
}

// TestRenewed checks that a call with refused credentials gets those that the worker has stored or stores, and learns soon if it stores
// no new ones.
func TestRenewed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before func(*oneAccount)
		work   func(*store.IntegrationConnection)
		want   string
		kind   integrations.Kind
		due    int
		within time.Duration
	}{
		"stored already": {func(s *oneAccount) { s.row.Credentials = []byte("newer") }, nil, "newer", 0, 0, 4 * time.Second},
		"stored soon":    {nil, func(r *store.IntegrationConnection) { r.Credentials = []byte("newer") }, "newer", 0, 1, 4 * time.Second},
		"nothing newer":  {nil, func(*store.IntegrationConnection) {}, "", integrations.Upstream, 1, 4 * time.Second},
		"a person is needed": {
			nil, func(r *store.IntegrationConnection) { r.State = store.IntegrationReconnectNeeded }, "",
			integrations.Suspended, 1, 4 * time.Second,
		},
		"the worker is busy":  {nil, nil, "", integrations.Upstream, 1, 20 * time.Second},
		"disconnected by now": {func(s *oneAccount) { s.gone = true }, nil, "", integrations.Gone, 0, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row := store.IntegrationConnection{
				ID: uuid.New(), Org: "org_a", Provider: "gitlab", State: store.IntegrationConnected, Credentials: []byte("older"),
				SyncDueAt: new(time.Now().Add(time.Hour)),
			}
			rows := &oneAccount{row: row, work: c.work}
			engine := integrations.New(integrations.Config{Store: rows, Sealer: open{}, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
			provider := &capture{}
			if _, err := engine.SourceHost(provider, row); err != nil || string(provider.c.Credentials) != "older" {
				t.Fatalf("%s %v", provider.c.Credentials, err)
			}
			if c.before != nil {
				c.before(rows)
			}
			began := time.Now()
			got, err := provider.renew(t.Context(), provider.c)
			if took := time.Since(began); took > c.within {
				t.Errorf("after %s", took)
			}
			if c.want == "" && !integrations.IsKind(err, c.kind) || c.want != "" && (err != nil || string(got.Credentials) != c.want) {
				t.Errorf("%s, %v", got.Credentials, err)
			}
			if rows.due != c.due {
				t.Errorf("made due %d times, want %d", rows.due, c.due)
			}
		})
	}
}

// TestRenewedCancelled: a caller who leaves is not kept.
func TestRenewedCancelled(t *testing.T) {
	t.Parallel()
	row := store.IntegrationConnection{ID: uuid.New(), Org: "org_a", State: store.IntegrationConnected, Credentials: []byte("older")}
	engine := integrations.New(integrations.Config{
		Store: &oneAccount{row: row}, Sealer: open{}, Logger: slog.New(slog.DiscardHandler),
		Now: time.Now,
	})
	provider := &capture{}
	if _, err := engine.SourceHost(provider, row); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := provider.renew(ctx, provider.c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// TestHookSecret: the secret of an account's webhooks is a key of 32 bytes, its own, and not the token of the address.
func TestHookSecret(t *testing.T) {
	t.Parallel()
	engine := integrations.New(integrations.Config{Hash: func(text string) string { return "keyed " + text }})
	a, b := store.IntegrationConnection{ID: uuid.New(), Org: "org_a"}, store.IntegrationConnection{ID: uuid.New(), Org: "org_a"}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(engine.HookSecret(a), "whsec_"))
	if err != nil || len(key) != 32 || !strings.HasPrefix(engine.HookSecret(a), "whsec_") {
		t.Errorf("%s: %v", engine.HookSecret(a), err)
	}
	if engine.HookSecret(a) == engine.HookSecret(b) || strings.Contains(engine.HookToken(a), base64.RawURLEncoding.EncodeToString(key)) {
		t.Error("the secrets of two accounts, or of one account's address and signature, are the same")
	}
}
