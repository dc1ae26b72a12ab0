package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// ErrUnknownConnector means that there is no such log push connector, that the secret belongs to another one, or that the
// connector is disabled. The message is safe to show. It is the same for an unknown id and a wrong secret.
var ErrUnknownConnector = errors.New("log push connector refused")

// LogpushStore is the part of the relational store that the authentication of log push connectors needs.
type LogpushStore interface {
	LogpushConnectorByHash(ctx context.Context, id uuid.UUID, hash string) (store.LogpushConnector, error)
	TouchLogpushConnector(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time, problem string) error
	Subscribe(fn func(store.Change)) (unsubscribe func())
}

// LogpushConnector has the facts about a connector that ingest needs.
type LogpushConnector struct {
	Org principal.OrgID
	// ID is the public id, `cfp_…`.
	ID                    string
	ServiceName, ZoneName string
}

// LogpushConfig configures a LogpushAuthenticator.
type LogpushConfig struct {
	Store  LogpushStore
	Hasher *Hasher
	// Logger takes failures that no caller sees. Nil discards them.
	Logger *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// LogpushAuthenticator resolves log push connectors, as IngestAuthenticator resolves ingest keys. It also records the outcome of
// their pushes. It is safe for concurrent use; Close it.
type LogpushAuthenticator struct {
	store       LogpushStore
	hasher      *Hasher
	now         func() time.Time
	connectors  *lookup[store.LogpushConnector]
	touches     *toucher
	unsubscribe func()

	mu sync.Mutex // held from the look at a recorded delivery to its replacement
	// recorded holds the last recorded deliveries.
	recorded *otter.Cache[string, delivery]
}

// NewLogpush returns a LogpushAuthenticator. It runs one goroutine, which records deliveries, until Close.
func NewLogpush(cfg LogpushConfig) *LogpushAuthenticator {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	// A copy is stored under the id and the hash together.
	load := func(ctx context.Context, key string) (store.LogpushConnector, error) {
		id, err := uuid.FromBytes([]byte(key[:16]))
		if err != nil {
			return store.LogpushConnector{}, err
		}
		return cfg.Store.LogpushConnectorByHash(ctx, id, key[16:])
	}
	a := &LogpushAuthenticator{
		store: cfg.Store, hasher: cfg.Hasher, now: cfg.Now, connectors: newLookup(load, cfg.Now, ingestKeyTTL, ingestMaxStale),
		touches: startToucher(cfg.Logger), recorded: otter.Must(&otter.Options[string, delivery]{MaximumSize: maxRecorded}),
	}
	a.unsubscribe = cfg.Store.Subscribe(a.changed)
	return a
}

// changed applies a change at once. A change names no id, so it concerns every copy. Connectors are few and change rarely.
func (a *LogpushAuthenticator) changed(c store.Change) {
	switch {
	case c.Subject == store.SubjectLogpushConnector && c.Gone:
		a.connectors.invalidateAll()
	case c.Subject == store.SubjectLogpushConnector:
		a.connectors.doubtAll(true)
	case c.Subject == store.SubjectAny:
		a.connectors.doubtAll(c.Cause == nil)
	}
}

// Close ends the subscription to changes, writes the deliveries that are still to be recorded, and ends the goroutine. No call
// may follow.
func (a *LogpushAuthenticator) Close() {
	a.unsubscribe()
	a.touches.close()
}

// Lookup resolves the public id and the secret of a connector. Both must belong to the same connector. Errors:
// ErrUnknownConnector, ErrLookupUnavailable.
func (a *LogpushAuthenticator) Lookup(ctx context.Context, publicID, secret string) (LogpushConnector, error) {
	unknown := fmt.Errorf(
		"%w: no connector has this id and this secret; compare the URL with the one that was shown when the secret was created",
		ErrUnknownConnector,
	)
	id, err := publicid.Decode(publicid.LogpushConnector, publicID)
	if err != nil || kindOf(secret) != kindConnector {
		return LogpushConnector{}, unknown
	}
	hash := a.hasher.Hash(secret)
	e, err := a.connectors.get(ctx, string(id[:])+hash)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return LogpushConnector{}, fmt.Errorf("%w: %w", ErrLookupUnavailable, err)
	}
	if err != nil || e.value.ID != id || !equalHash(e.value.SecretHash, hash) {
		return LogpushConnector{}, unknown
	}
	row := &e.value
	if row.DisabledAt != nil {
		return LogpushConnector{}, fmt.Errorf("%w: it is disabled", ErrUnknownConnector)
	}
	return LogpushConnector{Org: row.Org, ID: publicID, ServiceName: row.ServiceName, ZoneName: row.ZoneName}, nil
}

const (
	// problemInterval is the least time for which a recorded problem stays. It keeps the writes few when pushes fail now and
	// then.
	problemInterval = 2 * time.Second
	// maxRecorded bounds the memory of recorded deliveries. Forgetting one costs a few more writes.
	maxRecorded = 10_000
)

// delivery is one push.
type delivery struct {
	at      time.Time
	problem string
}

// Delivered records a push of a connector and its problem; an empty problem means success. It writes once in store.TouchInterval,
// and whenever the problem changes. It does not wait.
func (a *LogpushAuthenticator) Delivered(c LogpushConnector, problem string) {
	id, err := publicid.Decode(publicid.LogpushConnector, c.ID)
	if err != nil {
		return // The connector does not come from Lookup.
	}
	d := delivery{a.now(), problem}
	a.mu.Lock()
	defer a.mu.Unlock()
	if last, found := a.recorded.GetIfPresent(c.ID); found {
		age := d.at.Sub(last.at)
		if age < store.TouchInterval && problem == last.problem || age < problemInterval && last.problem != "" {
			return
		}
	}
	a.recorded.Set(c.ID, d)
	a.touches.add(func(ctx context.Context) error { return a.store.TouchLogpushConnector(ctx, c.Org, id, d.at, problem) })
}
