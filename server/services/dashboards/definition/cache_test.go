package definition

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
		ID: id, Version: version, UpdatedAt: time.Unix(int64(version), 0),
		Definition: json.RawMessage(fmt.Sprintf(`{"name":%q,"time_range":{"type":"relative","value":"1h"}}`, name)),
	}
}

// TestDefinitions checks that a cached definition always equals the row, after every change.
func TestDefinitions(t *testing.T) {
	d := NewCache()
	name := func(r store.Dashboard) string {
		t.Helper()
		def, err := d.Of(r)
		if err != nil {
			t.Fatal(err)
		}
		return def.GetName()
	}
	one, two := uuid.New(), uuid.New()
	first, err := d.Of(row(one, 1, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := d.Of(row(one, 1, "a")); err != nil || again != first {
		t.Errorf("the same state is read twice: %v", err)
	}
	putBack := row(one, 1, "c")
	putBack.UpdatedAt = time.Unix(99, 0)
	for want, r := range map[string]store.Dashboard{"a": row(one, 1, "a"), "b": row(one, 2, "b"), "c": putBack, "d": row(two, 1, "d")} {
		if got := name(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if _, err := d.Of(store.Dashboard{ID: uuid.New(), Definition: json.RawMessage(`{"nope":1}`)}); err == nil {
		t.Error("a definition that cannot be read has a meaning")
	}
}

// TestDefinitionsAreBounded checks that reading many large dashboards does not fill the memory, and that definitions that are
// read often stay cached.
func TestDefinitionsAreBounded(t *testing.T) {
	d := NewCache()
	large := strings.Repeat("x", 1<<20)
	popular := row(uuid.New(), 1, "popular")
	first, err := d.Of(popular)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		if _, err := d.Of(row(uuid.New(), 1, large)); err != nil {
			t.Fatal(err)
		}
		d.kept.CleanUp()
		if kept, bytes := d.kept.EstimatedSize(), d.kept.WeightedSize(); kept > 2*cacheBytes>>20 || bytes > cacheBytes {
			t.Fatalf("after %d: %d definitions, %d bytes", i, kept, bytes)
		}
		if again, err := d.Of(popular); err != nil || again != first {
			t.Fatalf("after %d: the popular one is gone, %v", i, err)
		}
	}
}

func TestDefinitionsConcurrently(t *testing.T) {
	d := NewCache()
	ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 200 {
				want := fmt.Sprint(i%3, i%5)
				if def, err := d.Of(row(ids[i%3], i%5, want)); err != nil || def.GetName() != want {
					t.Errorf("reader %d: %q, %v", n, def.GetName(), err)
				}
			}
		})
	}
	wg.Wait()
}
