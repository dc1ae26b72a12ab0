package storetest

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/svc-observability/svc/server/store"
)

// watch collects all changes except SubjectAny.
func watch(f *fixture) (got func() []store.Change, unsubscribe func()) {
	var mu sync.Mutex
	var list []store.Change
	unsubscribe = f.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectAny { // the feed of other processes has started
			return
		}
		mu.Lock()
		defer mu.Unlock()
		list = append(list, c)
	})
	return func() []store.Change {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}, unsubscribe
}

// expect ends the collection and compares the collected changes.
func expect(t *testing.T, got func() []store.Change, unsubscribe func(), want ...store.Change) {
	t.Helper()
	unsubscribe()
	if diff := cmp.Diff(want, got()); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}
