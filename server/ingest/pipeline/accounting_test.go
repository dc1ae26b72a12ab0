package pipeline

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The records that a run acknowledged are the records of its own that it stored and those that the warehouse refused. Records of
// an earlier run do not count. This must hold for batches of every size, with and without a batch under way.
func TestAccounting(t *testing.T) {
	for _, maxRows := range []int{1, 7, 1000} {
		for _, underWay := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d rows, a batch under way %v", maxRows, underWay), func(t *testing.T) {
				w := newWarehouse(t)
				r := newRig(t, t.TempDir(), w, func(c *Config) {
					c.MaxRows = maxRows
					if !underWay {
						c.MaxAge = time.Hour
					}
				})
				w.hooks(func(string) error { return errors.New("connection refused") }, nil)
				for _, row := range rows(0, 40) {
					r.append("a,b", row, true)
				}
				if underWay {
					time.Sleep(30 * time.Millisecond)
				}
				r.crash()
				w.hooks(nil, nil)
				r.open()
				for i, row := range rows(40, 100) {
					if i == 20 {
						row = "poison@b"
					}
					r.append("a,b", row, i%3 > 0)
				}
				p := r.p
				r.close()
				s := p.Stats()
				for table, want := range map[string]struct{ rows, resumed, refused int64 }{"a": {100, 40, 0}, "b": {99, 40, 1}} {
					got := struct{ rows, resumed, refused int64 }{s.Rows[table], s.Resumed[table], s.Refused[table]}
					if got != want {
						t.Errorf("table %s: %+v, want %+v", table, got, want)
					}
				}
				if got := len(w.stored("a")); got != 100 {
					t.Errorf("%d rows stored", got)
				}
			})
		}
	}
}

// A record of an earlier run that is refused, or that is stored from the retry folder, does not count to this run.
func TestAccountingOfEarlierRefusals(t *testing.T) {
	w := newWarehouse(t)
	r := newRig(t, t.TempDir(), w, func(c *Config) { c.MaxAge = time.Hour })
	w.hooks(func(string) error { return errors.New("connection refused") }, nil)
	for _, row := range []string{"row 0", "poison@a", "row 2"} {
		r.append("a", row, true)
	}
	r.crash()
	w.hooks(nil, nil)
	r.open()
	for _, row := range rows(0, 5) {
		r.append("a", row, true)
	}
	p := r.p
	r.close()
	s := p.Stats()
	want := Stats{Rows: map[string]int64{"a": 7}, Resumed: map[string]int64{"a": 2}, Refused: map[string]int64{}}
	if diff := cmp.Diff(want, Stats{Rows: s.Rows, Resumed: s.Resumed, Refused: s.Refused}); diff != "" {
		t.Error(diff)
	}
	if s.Quarantined != 1 {
		t.Errorf("%d quarantined", s.Quarantined)
	}
}
