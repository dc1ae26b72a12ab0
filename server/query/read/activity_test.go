package read_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestActivityIsOfTheDuration checks that the active and the idle time of a session add up to its duration, by the exact times of
// its events.
func TestActivityIsOfTheDuration(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	org := fresh(t)
	r := rand.New(rand.NewPCG(17, 1))
	start := time.Now().UTC().Add(-time.Hour)
	var sessions, events [][]any
	active := map[string]float64{}
	for i := range 20 {
		id := fmt.Sprintf("s%02d", i)
		begin := start.Add(time.Duration(r.Int64N(int64(time.Minute))))
		length := time.Duration(r.Int64N(int64(5 * time.Minute)))
		sent := uint32(0)
		if i%2 > 0 {
			sent = uint32(length.Milliseconds()) + 1 // the page sends a rounded value
		}
		sessions = append(sessions, []any{string(org), id, uint32(1), begin, begin.Add(length), sent})
		lasted := float64(length) / 1e6
		if sent > 0 {
			lasted = float64(sent)
		}
		times := []float64{0, lasted}
		for n := range 1 + r.IntN(20) {
			at := time.Duration(r.Int64N(int64(length + 2*time.Second))) // some events come after the end
			events = append(events, []any{string(org), id, begin.Add(at), uint32(n), "click"})
			times = append(times, min(float64(at)/1e6, lasted))
		}
		slices.Sort(times)
		for n := range times[1:] {
			if gap := times[n+1] - times[n]; gap <= float64(limits.SessionPause.Milliseconds()) {
				active[id] += gap
			}
		}
	}
	for table, rows := range map[string]struct {
		columns []string
		rows    [][]any
	}{
		"session_replays": {[]string{"OrgId", "SessionId", "Version", "StartTime", "EndTime", "DurationMs"}, sessions},
		"session_events":  {[]string{"OrgId", "SessionId", "Timestamp", "Seq", "Type"}, events},
	} {
		if err := w.InsertRows(t.Context(), table, rows.columns, rows.rows, ""); err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range active {
		rows, err := read.All[reads.SessionDetailRow](t.Context(), w, org, reads.Session(id, reads.Bounds{}))
		if err != nil || len(rows) != 1 {
			t.Fatalf("%s: %d rows, %v", id, len(rows), err)
		}
		s := rows[0]
		if math.Abs(s.ActiveMs-want) > 1e-5 || math.Abs(s.ActiveMs+s.IdleMs-s.Duration) > 1e-5 || s.ActiveMs > s.Duration || s.IdleMs < 0 {
			t.Errorf("%s lasted %v ms: %v active, %v idle, want %v active", id, s.Duration, s.ActiveMs, s.IdleMs, want)
		}
	}
}
