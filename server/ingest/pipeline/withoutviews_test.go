package pipeline

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type suspicious struct{}

func (suspicious) Error() string   { return "code 70: inf or nan to integer conversion" }
func (suspicious) Retryable() bool { return true }
func (suspicious) Suspect() bool   { return true }

// viewed is a warehouse whose tables have views. A row with "view!" is stored in its table, then fails in a view. A row with
// "unknown!" fails in the table itself. Neither error shows whether the row or the server is at fault.
type viewed struct{ *warehouse }

func (v viewed) Insert(ctx context.Context, t Table, token string) error {
	text := textOf(t)
	if strings.Contains(text, "unknown!") {
		return suspicious{}
	}
	if err := v.warehouse.Insert(ctx, t, token); err != nil {
		return err
	}
	if strings.Contains(text, "view!") {
		return suspicious{}
	}
	return nil
}

func (v viewed) InsertIgnoringViews(ctx context.Context, t Table, token string) error {
	if strings.Contains(textOf(t), "unknown!") {
		return suspicious{}
	}
	return v.warehouse.Insert(ctx, t, token)
}

func textOf(t Table) string {
	var text strings.Builder
	if _, err := t.WriteTo(&text); err != nil {
		panic(err)
	}
	return text.String()
}

// One record never stops the others, for any reason that the warehouse gives, and no row is stored twice because of it.
func TestSuspectRowsStopNobody(t *testing.T) {
	w := newWarehouse(t)
	r := newRig(t, t.TempDir(), w, func(c *Config) { c.MaxAge, c.Inserter = time.Hour, viewed{w} })
	want := rows(0, 40)
	want[7], want[23] = "view! 7", "unknown! 23"
	for _, row := range want {
		r.append("a", row, true)
	}
	stats := r.p
	r.close()
	want = slices.Delete(want, 23, 24)
	if diff := cmp.Diff(want, w.stored("a")); diff != "" {
		t.Error(diff)
	}
	if s := stats.Stats(); s.Quarantined != 1 || s.StoredWithoutViews == 0 {
		t.Errorf("%d quarantined, %d stored without views", s.Quarantined, s.StoredWithoutViews)
	}
	files, err := filepath.Glob(filepath.Join(r.dir, "quarantine", "*-a.rec"))
	if err != nil || len(files) != 1 {
		t.Fatalf("quarantine: %v, %v", files, err)
	}
	if b, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(b), "unknown! 23") || !strings.Contains(string(b), "code 70") {
		t.Errorf("quarantine file %q, %v", b, err)
	}
}

// While the server itself is at fault, no range is cut up and no record is set aside.
func TestOutageBetweenSuspicions(t *testing.T) {
	w := newWarehouse(t)
	calls := 0
	w.hooks(func(string) error {
		if calls++; calls%suspectAttempts != 0 && calls < 5*suspectAttempts {
			return suspicious{}
		}
		if calls < 5*suspectAttempts {
			return context.DeadlineExceeded
		}
		return nil
	}, nil)
	r := newRig(t, t.TempDir(), w, nil)
	r.flushed(r.append("a", "row", true))
	stats := r.p
	r.close()
	if s := stats.Stats(); s.Quarantined != 0 || !slices.Equal(w.stored("a"), []string{"row"}) {
		t.Errorf("%d quarantined; stored %v", s.Quarantined, w.stored("a"))
	}
}
