package chdb

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

func busy(err error) bool {
	var e *Exception
	return errors.As(err, &e) && e.Code == CodeOrganizationBusy
}

// TestPlaces: an organization has its share of the places and no more. Beyond it, a read waits for another read of the
// organization to end. SQL has a smaller share of the same places.
func TestPlaces(t *testing.T) {
	p := newPlaces(time.Now, nil)
	take := func(org string, confined bool) (func(), error) {
		_, give, err := p.take(t.Context(), org, confined, time.Millisecond)
		return give, err
	}
	var give []func()
	for i := range limits.SQLStatementsOfOrganization {
		before, f, err := p.take(t.Context(), "a", true, time.Millisecond)
		if err != nil || before != i {
			t.Fatalf("%d before, %v", before, err)
		}
		give = append(give, f)
	}
	if _, err := take("a", true); !busy(err) {
		t.Errorf("one SQL statement too many: %v", err)
	}
	for range limits.ReadsOfOrganization - limits.SQLStatementsOfOrganization {
		f, err := take("a", false)
		if err != nil {
			t.Fatal(err)
		}
		give = append(give, f)
	}
	if _, err := take("a", false); !busy(err) {
		t.Errorf("one read too many: %v", err)
	}
	if f, err := take("b", true); err != nil {
		t.Errorf("another organization: %v", err)
	} else {
		f()
	}
	left, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.take(left, "a", false, time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	waits := make(chan error)
	go func() {
		_, f, err := p.take(t.Context(), "a", true, time.Minute)
		if err == nil {
			f()
		}
		waits <- err
	}()
	give[0]()
	if err := <-waits; err != nil {
		t.Errorf("after one has ended: %v", err)
	}
	for _, f := range give[1:] {
		f()
	}
	if p.all != 0 || p.confined != 0 || len(p.of) != 0 {
		t.Errorf("%d reads, %d SQL statements, %d organizations are left", p.all, p.confined, len(p.of))
	}
}

// TestPlacesOfWork: background work has places when people have taken all of theirs, and the reverse. It has a bound for each organization
// and one for all.
func TestPlacesOfWork(t *testing.T) {
	p := newPlaces(time.Now, nil)
	take := func(org string) (func(), error) { return p.takeForWork(t.Context(), org, time.Millisecond) }
	for range limits.ReadsOfOrganization {
		if _, _, err := p.take(t.Context(), "a", false, time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	var give []func()
	for range limits.WorkReadsOfOrganization {
		f, err := take("a")
		if err != nil {
			t.Fatalf("beside a full dashboard: %v", err)
		}
		give = append(give, f)
	}
	if _, err := take("a"); !busy(err) {
		t.Errorf("one too many of an organization: %v", err)
	}
	for range limits.WorkReads - limits.WorkReadsOfOrganization {
		f, err := take(string(rune('b' + len(give))))
		if err != nil {
			t.Fatal(err)
		}
		give = append(give, f)
	}
	if _, err := take("z"); !busy(err) {
		t.Errorf("one too many of all: %v", err)
	}
	if _, f, err := p.take(t.Context(), "z", false, time.Millisecond); err != nil {
		t.Errorf("people beside full background work: %v", err)
	} else {
		f()
	}
	for _, f := range give {
		f()
	}
	if len(p.work) != 0 {
		t.Errorf("%v is left", p.work)
	}
}

// TestPlacesOfAll: all organizations together have a bound too, and a smaller one for SQL.
func TestPlacesOfAll(t *testing.T) {
	p := newPlaces(time.Now, nil)
	fill := func(confined bool, each int) (n int, err error) {
		for {
			org := string(rune('a'+n/each)) + map[bool]string{true: "s"}[confined]
			if _, _, err = p.take(t.Context(), org, confined, time.Millisecond); err != nil {
				return n, err
			}
			n++
		}
	}
	var e *Exception
	if n, err := fill(true, limits.SQLStatementsOfOrganization); n != limits.SQLStatements || !errors.As(err, &e) {
		t.Errorf("%d SQL statements, then %v", n, err)
	}
	n, err := fill(false, limits.ReadsOfOrganization)
	if n != readsAtOnce-limits.SQLStatements || !errors.As(err, &e) || e.Code != codeTooManyStatements {
		t.Errorf("%d reads beside SQL, then %v", n, err)
	}
}

// TestPause: an organization whose cancelled statement did not end may begin no statement for a while, in the next process too.
func TestPause(t *testing.T) {
	now := time.Now()
	clock := func() time.Time { return now }
	p := newPlaces(clock, nil)
	dir := t.TempDir()
	if err := writePauses(dir, p.pauseFor("a", true)); err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*places{"this process": p, "the next": newPlaces(clock, readPauses(dir))} {
		if _, _, err := p.take(t.Context(), "a", true, time.Minute); !busy(err) {
			t.Errorf("%s: SQL in the pause: %v", name, err)
		}
		if _, give, err := p.take(t.Context(), "a", false, time.Minute); err != nil {
			t.Errorf("%s: another read in the pause: %v", name, err)
		} else {
			give()
		}
	}
	now = now.Add(limits.SQLPause)
	if _, _, err := p.take(t.Context(), "a", true, time.Minute); err != nil {
		t.Errorf("after the pause: %v", err)
	}
	if err := os.WriteFile(pausesFile(dir), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all := readPauses(dir); len(all) != 0 {
		t.Errorf("a damaged file has pauses: %v", all)
	}
}
