package ingest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// asked holds the answers to a series of asks. Only the test's own calls change them, without goroutines or a clock.
type asked struct {
	*decoderSlots
	waiters map[string]*waiter
	names   []string
}

// shareOf reads a share from the name of a request: the organization, an exclamation mark if the key is public, and a number.
func shareOf(name string) share {
	org, public := strings.CutSuffix(strings.TrimRight(name, "0123456789"), "!")
	return share{principal.OrgID(org), public}
}

func (a *asked) request(name string, cost int) {
	a.waiters[name] = a.ask(shareOf(name), cost)
	a.names = append(a.names, name)
}

// running lists the requests that have a slot, in the order of asking.
func (a *asked) running() string {
	var all []string
	for _, name := range a.names {
		if w := a.waiters[name]; w == nil || w.done {
			all = append(all, name)
		}
	}
	return strings.Join(all, " ")
}

func (a *asked) end(name string) {
	a.leave(shareOf(name))
	for i, n := range a.names {
		if n == name {
			a.names = append(a.names[:i:i], a.names[i+1:]...)
		}
	}
}

func TestDecoderSlots(t *testing.T) {
	a := &asked{decoderSlots: newDecoderSlots(2), waiters: map[string]*waiter{}}
	step := func(what, want string) {
		t.Helper()
		if got := a.running(); got != want {
			t.Fatalf("%s: running %q, want %q", what, got, want)
		}
	}
	for i := range 6 {
		a.request(fmt.Sprint("flood", i), 100)
	}
	step("a flood alone has every slot that is not reserved", "flood0 flood1")
	a.request("quiet0", 1)
	step("who has none does not wait", "flood0 flood1 quiet0")
	a.request("quiet1", 1)
	step("but has one of them only", "flood0 flood1 quiet0")
	a.request("other0", 1)
	step("as has another", "flood0 flood1 quiet0 other0")
	a.end("flood0")
	step("the reserved ones are given back first", "flood1 quiet0 other0")
	a.end("other0")
	step("then all take turns", "flood1 quiet0")
	a.end("flood1")
	step("and who has had less is next", "flood2 quiet0")
	a.end("quiet0")
	step("by bytes", "flood2 quiet1")
	a.withdraw(a.waiters["flood3"])
	a.end("flood2")
	step("who has gone is passed over", "flood4 quiet1")
	a.end("quiet1")
	step("a flood alone may use all again", "flood4 flood5")
	a.end("flood4")
	a.end("flood5")
	if inUse, waiting := a.state(); inUse != 0 || waiting != 0 || len(a.held) != 0 {
		t.Errorf("%d in use, %d wait, held %v", inUse, waiting, a.held)
	}
}

// TestDecoderSlotsOfPublicKeys: requests with the public key of an organization do not keep its private keys waiting.
func TestDecoderSlotsOfPublicKeys(t *testing.T) {
	a := &asked{decoderSlots: newDecoderSlots(2), waiters: map[string]*waiter{}}
	for i := range 20 {
		a.request(fmt.Sprint("shop!", i), 100)
	}
	a.request("shop0", 100)
	a.request("shop1", 100)
	if got, want := a.running(), "shop!0 shop!1 shop0"; got != want {
		t.Fatalf("running %q, want %q", got, want)
	}
	a.end("shop0")
	a.end("shop!0")
	if got, want := a.running(), "shop!1 shop!2 shop1"; got != want {
		t.Errorf("running %q, want %q", got, want)
	}
	l := newLargeQueue()
	if w, full := l.ask(shareOf("shop!"), 1); w != nil || full {
		t.Fatal("the first large body waits")
	}
	for range largeWaitingOrg {
		if _, full := l.ask(shareOf("shop!"), 1000); full {
			t.Fatal("a large body is refused")
		}
	}
	if _, full := l.ask(shareOf("shop!"), 1000); !full {
		t.Error("large bodies with a public key have no bound")
	}
	private, full := l.ask(shareOf("shop"), 1000)
	if full {
		t.Fatal("the private key is refused because of the public one")
	}
	l.leave()
	l.leave()
	if !private.done {
		t.Error("the private key waits behind more than one body of the public key")
	}
}

// TestWithdrawAfterGrant: if a slot is granted to a request that is just giving up, the next request gets it.
func TestWithdrawAfterGrant(t *testing.T) {
	s := newDecoderSlots(1)
	if s.ask(shareOf("a"), 1) != nil {
		t.Fatal("the first has to wait")
	}
	gone, next := s.ask(shareOf("a"), 1), s.ask(shareOf("a"), 1)
	s.leave(shareOf("a"))
	s.withdraw(gone)
	if !gone.done || !next.done {
		t.Errorf("granted %t, passed on %t", gone.done, next.done)
	}
	s.leave(shareOf("a"))
	if inUse, _ := s.state(); inUse != 0 {
		t.Errorf("%d slots leaked", inUse)
	}
}

// TestDecoderSlotTimesOut: a request that waits for a slot answers at its time limit.
func TestDecoderSlotTimesOut(t *testing.T) {
	g := &Gateway{decoders: newDecoderSlots(1), limits: Limits{Request: time.Millisecond}}
	if fail := g.decoderSlot(t.Context(), shareOf("a"), 1); fail != nil {
		t.Fatal(fail)
	}
	ctx, cancel := context.WithTimeout(t.Context(), g.limits.Request)
	defer cancel()
	if fail := g.decoderSlot(ctx, shareOf("a"), 1); fail == nil || fail.Tag != apierr.IngestRequestTimeout || fail.RetryAfterSeconds() != 5 {
		t.Errorf("%v", fail)
	}
	g.decoders.leave(shareOf("a"))
	if inUse, waiting := g.decoders.state(); inUse != 0 || waiting != 0 {
		t.Errorf("%d in use, %d wait", inUse, waiting)
	}
}

func TestBudget(t *testing.T) {
	b := newBudget(6400)
	fill := func(org principal.OrgID) int {
		for b.take(share{org: org}, 100) == budgetTaken {
		}
		return b.used[share{org: org}]
	}
	if n := fill("a"); n != 3200 {
		t.Errorf("alone it got %d of 6400", n)
	}
	if got := b.take(share{org: "a"}, 100); got != budgetShare {
		t.Errorf("over its share: %d", got)
	}
	if n := fill("b"); n != 1600 {
		t.Errorf("beside a full one, the second got %d", n)
	}
	// However many organizations come, the next one still gets memory. The remaining memory shrinks by halves, down to the floor
	// that every organization gets.
	for i := range 40 {
		fill(principal.OrgID(fmt.Sprint("flood", i)))
	}
	if b.total < 6300 || b.total > b.limit {
		t.Errorf("%d in use", b.total)
	}
	for b.take(share{org: "last"}, 1) == budgetTaken && b.used[share{org: "last"}] < b.floor() {
	}
	b.give(share{org: "a"}, 3200)
	if got := b.take(share{org: "last"}, 100); got != budgetTaken {
		t.Errorf("with room again: %d", got)
	}
	for org, n := range b.used {
		b.give(org, n)
	}
	if b.total != 0 || len(b.used) != 0 {
		t.Errorf("left %d, %v", b.total, b.used)
	}
	if got := b.take(share{org: "large"}, 5000); got != budgetAll {
		t.Errorf("more than the whole budget: %d", got)
	}
	if got := b.take(share{org: "a"}, 3200); got != budgetTaken {
		t.Fatal(got)
	}
	for i := range 64 {
		b.take(share{org: principal.OrgID(fmt.Sprint("small", i))}, 50)
	}
	if got := b.take(share{org: "newcomer"}, 100); got != budgetAll {
		t.Errorf("nothing left: %d", got)
	}
}

// TestBackoffIsBounded: an entry for an organization that was asked to wait ends with the wait. The number of entries is bounded
// anyway.
func TestBackoffIsBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	b := newBackoff(func() time.Time { return now })
	b.add("a", time.Second)
	now = now.Add(time.Second / 2)
	if !b.holds("a") || b.holds("b") {
		t.Error("half a second later, not exactly the organization that was asked waits")
	}
	now = now.Add(time.Second)
	if b.holds("a") {
		t.Error("it waits for too long")
	}
	for i := range 2 * maxBackoffs {
		b.add(principal.OrgID(fmt.Sprint(i)), time.Second)
	}
	if n, _ := b.orgs.Size(); n > maxBackoffs {
		t.Errorf("%d entries", n)
	}
}
