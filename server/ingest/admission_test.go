package ingest

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestPlacesOfShares: the public keys of an organization have places of their own, and bodies that are being read take no place
// from complete ones.
func TestPlacesOfShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := inFlight{limit: 2, of: map[share]*atWork{}}
		public, private := share{"a", true}, share{"a", false}
		ended := 0
		read := func(s share) (*reader, bool) { return f.read(s, func() { ended++ }) }
		var slow []*reader
		for range 2 {
			r, ok := read(public)
			if !ok {
				t.Fatal("a public key has no place")
			}
			slow = append(slow, r)
		}
		if _, ok := read(public); ok {
			t.Error("a public key has too many places")
		}
		var open []*reader
		for range 2 {
			r, ok := read(private)
			if !ok || !f.enter(r) {
				t.Fatal("slow bodies of a public key hold the places of a private key")
			}
			open = append(open, r)
		}
		if _, ok := read(private); ok {
			t.Error("a private key has too many places")
		}

		// After a while, a new request takes the place of the one that has read longest.
		time.Sleep(slowBody)
		r, ok := read(public)
		if !ok || ended != 1 || slow[0].place != nil || slow[1].place == nil {
			t.Fatalf("the oldest keeps its place: %v, %d ended", ok, ended)
		}
		if !f.enter(r) || !f.enter(slow[1]) {
			t.Error("a finished body has no place")
		}
		f.leave(slow[0], false)
		f.leave(slow[1], true)
		f.leave(r, true)
		for _, r := range open {
			f.leave(r, true)
		}
		if len(f.of) != 0 {
			t.Errorf("%d shares are left", len(f.of))
		}
	})
}
