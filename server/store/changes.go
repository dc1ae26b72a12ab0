package store

import (
	"sync"

	"github.com/svc-observability/svc/server/principal"
)

// Subject is what a Change is about.
type Subject string

// Subjects of changes.
const (
	SubjectAPIKey    Subject = "api_key"
	SubjectIngestKey Subject = "ingest_key"
	SubjectSession   Subject = "session"
	// SubjectMembership: a role changed, so every session of User is affected.
	SubjectMembership Subject = "membership"
)

// Change tells caches in this process that a credential no longer means what it did.
type Change struct {
	Subject Subject
	Org     principal.OrgID
	// Hash names the credential; empty for memberships.
	Hash string
	User principal.UserID
}

type changes struct {
	mu   sync.RWMutex
	next int
	subs map[int]func(Change)
}

// Subscribe calls fn for every change that this process commits, after the commit and before the mutation returns: when a
// revocation has returned, no subscriber serves the old state. fn must be quick and must not call the store. The returned
// function ends the subscription.
func (s *Store) Subscribe(fn func(Change)) (unsubscribe func()) {
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
