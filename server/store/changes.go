package store

import (
	"context"
	"sync"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/server/principal"
)

// Subject is the kind of thing that a Change is about.
type Subject string

// Subjects of changes.
const (
	SubjectAPIKey    Subject = "api_key"
	SubjectIngestKey Subject = "ingest_key"
	SubjectSession   Subject = "session"
	// SubjectMembership: a role changed, so every session of User is affected.
	SubjectMembership Subject = "membership"
	// SubjectIngestPolicy: the attribute mappings, the sampling policy or the plan of Org changed.
	SubjectIngestPolicy Subject = "ingest_policy"
	// SubjectLogpushConnector names the secret of the connector as it was before the change.
	SubjectLogpushConnector Subject = "logpush_connector"
	// SubjectOrganization: Org was deleted. Its credentials are announced separately.
	SubjectOrganization Subject = "organization"
	// SubjectOAuthGrant: a grant of User in Org was revoked.
	SubjectOAuthGrant Subject = "oauth_grant"
	// SubjectScrapeTarget: a scrape target of Org was created, changed or deleted.
	SubjectScrapeTarget Subject = "scrape_target"
	// SubjectIntegration: a connected account of Org or a repository of one was added, removed or made due. A delivery of a provider may
	// concern several organizations; Org is then empty.
	SubjectIntegration Subject = "integration"
	// SubjectAny: anything may have changed. Every cached copy must be read again before its next use. See Change.Cause.
	SubjectAny Subject = "any"
)

// Change tells caches that a copy that they hold may be outdated.
type Change struct {
	Subject Subject
	Org     principal.OrgID
	// Hash names the credential. It is empty for memberships and policies.
	Hash string
	User principal.UserID
	// Gone says that the credential is no longer valid: no copy of it may be served, whatever happens to the database. If it is
	// false, the credential may still be valid, and a cached copy may be used while the database fails.
	Gone bool
	// Cause is set only with SubjectAny. It says why the store cannot follow changes of other processes at the moment; SubjectAny is
	// then repeated. Without a cause the store can follow them, but it could not identify this one change.
	Cause error
}

type changes struct {
	mu   sync.RWMutex
	next int
	subs map[int]func(Change)
}

// Subscribe calls fn for every change of a credential or a policy. For a change by this process, fn is called after the commit
// and before the mutation returns: when a revocation has returned, no subscriber serves the old state. Changes by other processes
// follow within a fraction of a second. fn must be quick and must not call the store. The returned function ends the
// subscription. The first call of Subscribe starts following other processes, until Close.
func (s *Store) Subscribe(fn func(Change)) (unsubscribe func()) {
	defer s.feed.start(s)
	s.changes.mu.Lock()
	defer s.changes.mu.Unlock()
	if s.changes.subs == nil {
		s.changes.subs = map[int]func(Change){}
	}
	id := s.changes.next
	s.changes.next++
	s.changes.subs[id] = fn
	return func() {
		s.changes.mu.Lock()
		defer s.changes.mu.Unlock()
		delete(s.changes.subs, id)
	}
}

func (s *Store) publish(c Change) {
	s.changes.mu.RLock()
	defer s.changes.mu.RUnlock()
	for _, fn := range s.changes.subs {
		fn(c)
	}
}

// mutate is tx for data that caches hold. fn returns its change, or the zero Change for no change. mutate announces the change to
// other processes with the commit and publishes it in this process after the commit.
func (s *Store) mutate(ctx context.Context, op string, fn func(*ent.Tx) (Change, error)) error {
	var change Change
	err := s.tx(ctx, op, func(tx *ent.Tx) error {
		c, err := fn(tx)
		if err != nil {
			return err
		}
		if c.Subject == "" {
			return nil
		}
		change = c
		return s.announce(ctx, tx, c)
	})
	if change.Subject != "" {
		// Publish also after a failure: the database may have committed although its answer was lost. The old state may then still be
		// valid, so Gone is false.
		change.Gone = change.Gone && err == nil
		s.publish(change)
	}
	return err
}
