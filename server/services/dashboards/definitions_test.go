package dashboards

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/store"
)

func row(id uuid.UUID, version int, name string) store.Dashboard {
	return store.Dashboard{
		ID: id, Version: version, UpdatedAt: time.Unix(int64(version), 0), Definition: json.RawMessage(fmt.Sprintf(`{"name":%q,"time_range":{"type":"relative","value":"1h"}}`, name)),
	}
}

// TestDefinitions: what is kept is what the row says, whatever changed meanwhile.
func TestDefinitions(t *testing.T) {
	var d definitions
	name := func(r store.Dashboard) string {
		t.Helper()
		def, err := d.of(r)
		if err != nil {
			t.Fatal(err)
		}
		return def.GetName()
	}
	one, two := uuid.New(), uuid.New()
	first, err := d.of(row(one, 1, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := d.of(row(one, 1, "a")); err != nil || again != first {
		t.Errorf("the same state is read twice: %v", err)
	}
	putBack := row(one, 1, "c")
	putBack.UpdatedAt = time.Unix(99, 0)
	for want, r := range map[string]store.Dashboard{"a": row(one, 1, "a"), "b": row(one, 2, "b"), "c": putBack, "d": row(two, 1, "d")} {
		if got := name(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, err := d.of(store.Dashboard{ID: uuid.New(), Definition: json.RawMessage(`{"nope":1}`)}); err == nil {
		t.Error("a definition that cannot be read has a meaning")
	}
}

// TestDefinitionsAreBounded: whoever reads many large dashboards fills no memory, and what is read again and again stays.
func TestDefinitionsAreBounded(t *testing.T) {
	var d definitions
	large := strings.Repeat("x", 1<<20)
	popular := row(uuid.New(), 1, "popular")
	first, err := d.of(popular)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if _, err := d.of(row(uuid.New(), 1, large)); err != nil {
			t.Fatal(err)
		}
		if kept := len(d.newer) + len(d.older); kept > 2*maxDefinitionsBytes>>20 || d.bytes > maxDefinitionsBytes/2 {
			t.Fatalf("after %d: %d definitions, %d bytes", i, kept, d.bytes)
		}
		if again, err := d.of(popular); err != nil || again != first {
			t.Fatalf("after %d: the popular one is gone, %v", i, err)
		}
	}
}

func TestDefinitionsConcurrently(t *testing.T) {
	var d definitions
	ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 200 {
				want := fmt.Sprint(i%3, i%5)
				if def, err := d.of(row(ids[i%3], i%5, want)); err != nil || def.GetName() != want {
					t.Errorf("reader %d: %q, %v", n, def.GetName(), err)
				}
			}
		})
	}
	wg.Wait()
}
