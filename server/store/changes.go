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
	// SubjectOrganization: Org was deleted; its credentials are announced beside this.
	SubjectOrganization Subject = "organization"
	// SubjectOAuthGrant: a grant of User in Org was revoked.
	SubjectOAuthGrant Subject = "oauth_grant"
	// SubjectAny: anything may have changed. Every cached copy must be read again before its next use. See Change.Cause.
	SubjectAny Subject = "any"
)

// Change tells caches that a copy which they hold may be outdated.
type Change struct {
	Subject Subject
	Org     principal.OrgID
	// Hash names the credential; empty for memberships and policies.
	Hash string
	User principal.UserID
	// Gone: the credential is no longer valid, so no copy of it may be served, whatever happens to the database. Otherwise it may
	// still be, and a copy is better than nothing while the database fails.
	Gone bool
	// Cause, of SubjectAny only, says why changes of other processes cannot be followed at the moment: SubjectAny then comes again
	// and again. Without a cause they can be followed, and this one change could not be named.
	Cause error
}

type changes struct {
	mu   sync.RWMutex
	next int
	subs map[int]func(Change)
}

// Subscribe calls fn for every change of a credential or a policy. What this process commits comes after the commit and before
// the mutation returns: when a revocation has returned, no subscriber serves the old state. What other processes commit follows
// within a fraction of a second. fn must be quick and must not call the store. The
// returned function ends the subscription. The first call begins to follow other processes, until Close.
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

// mutate is tx for what caches hold: fn returns what it changes, zero for nothing, which is announced to other processes with
// the commit and published here after it.
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
		// Also after a failure: the database may have committed although its answer was lost. The old state may then still be valid.
		change.Gone = change.Gone && err == nil
		s.publish(change)
	}
	return err
}
