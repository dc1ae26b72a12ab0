package fair_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/fair"
)

func TestOrder(t *testing.T) {
	type push struct {
		owner string
		cost  int64
		n     int
	}
	for _, c := range []struct {
		name   string
		pushes []push
		want   string
	}{
		{"one owner keeps its order", []push{{"a", 9, 4}}, "a0 a1 a2 a3"},
		{"two take turns", []push{{"a", 1, 4}, {"b", 1, 2}}, "a0 b0 a1 b1 a2 a3"},
		{"by cost, not by number", []push{{"a", 4, 3}, {"b", 1, 6}}, "a0 b0 b1 b2 b3 a1 b4 b5 a2"},
		{
			"small ones do not wait behind a flood of giants",
			[]push{{"flood", 64, 3}, {"quiet", 1, 1}, {"other", 2, 1}},
			"flood0 quiet0 other0 flood1 flood2",
		},
		{"free of cost is no way around", []push{{"a", 0, 3}, {"b", 1, 3}}, "a0 b0 a1 b1 a2 b2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var q fair.Queue[string]
			for _, p := range c.pushes {
				for i := range p.n {
					q.Push(p.owner, p.cost, fmt.Sprint(p.owner, i))
				}
			}
			if got := strings.Join(drain(&q), " "); got != c.want {
				t.Errorf("order %q, want %q", got, c.want)
			}
		})
	}
}

func drain(q *fair.Queue[string]) (all []string) {
	for {
		owner, peeked, _ := q.Peek()
		v, ok := q.Pop()
		if !ok {
			return all
		}
		if v != peeked || !strings.HasPrefix(v, owner) {
			panic("Peek and Pop differ")
		}
		all = append(all, v)
	}
}

// TestLateComerIsNext: a new owner does not wait for the backlog of others. An owner that returns still has its past costs while
// others wait.
func TestLateComerIsNext(t *testing.T) {
	var q fair.Queue[string]
	for i := range 100 {
		q.Push("flood", 10, fmt.Sprint("flood", i))
	}
	for range 50 {
		q.Pop()
	}
	q.Push("quiet", 1000, "quiet0")
	if got, _ := q.Pop(); got != "quiet0" {
		t.Fatalf("%s was served before the newcomer", got)
	}
	// This owner received 1000, which equals a hundred items of the other owner, so it does not jump ahead again.
	q.Push("quiet", 1, "quiet1")
	if got, _ := q.Pop(); got == "quiet1" {
		t.Error("coming back made the owner new")
	}
}

func TestRemove(t *testing.T) {
	var q fair.Queue[string]
	q.Push("a", 1, "a0")
	q.Push("a", 1, "a1")
	q.Push("b", 1, "b0")
	if q.Remove("a", "b0") || q.Remove("c", "c0") || !q.Remove("a", "a0") || q.Remove("a", "a0") {
		t.Error("Remove reports wrong")
	}
	if got := drain(&q); cmp.Diff([]string{"a1", "b0"}, got) != "" || q.Len() != 0 {
		t.Errorf("left %v", got)
	}
	q.Push("b", 1, "b1")
	if !q.Remove("b", "b1") || q.Len() != 0 {
		t.Error("the last one was not removed")
	}
	if _, ok := q.Pop(); ok {
		t.Error("an empty queue gave something")
	}
}

// TestShares: owners that always wait receive equal shares, to within the largest item, regardless of the cost and number of
// their items. No item is lost.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var q fair.Queue[int]
	cost := map[int]int64{}
	owners := map[int]string{}
	push := func(owner string, n int64) {
		id := len(cost)
		cost[id], owners[id] = n, owner
		q.Push(owner, n, id)
	}
	const largest = 1000
	names := []string{"a", "b", "c", "d"}
	had := map[string]int64{}
	for _, name := range names {
		for range 3 {
			push(name, 1+r.Int64N(largest))
		}
	}
	for range 10_000 {
		id, ok := q.Pop()
		if !ok {
			t.Fatal("empty")
		}
		had[owners[id]] += cost[id]
		// d has many small items, the others have fewer large ones.
		switch owners[id] {
		case "d":
			push("d", 1)
		default:
			push(owners[id], 1+r.Int64N(largest))
		}
	}
	for _, name := range names[1:] {
		if d := had[name] - had["a"]; d > 2*largest || d < -2*largest {
			t.Errorf("%s had %d, a had %d", name, had[name], had["a"])
		}
	}
	if q.Len() != 12 {
		t.Errorf("%d wait, want 12", q.Len())
	}
}
