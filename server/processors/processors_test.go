package processors

import (
	"runtime"
	"testing"
)

// TestOversubscribe: the scheduler gets more places, unless the operator has set GOMAXPROCS. Count does not include them.
func TestOversubscribe(t *testing.T) {
	n := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(n)
	t.Setenv("GOMAXPROCS", "3")
	Oversubscribe()
	if got := runtime.GOMAXPROCS(0); got != n {
		t.Errorf("GOMAXPROCS of the environment was changed from %d to %d", n, got)
	}
	t.Setenv("GOMAXPROCS", "")
	for range 2 {
		Oversubscribe()
		if got := runtime.GOMAXPROCS(0); got != n+spare || Count() != n {
			t.Errorf("%d places for %d processors, of which %d are counted", got, n, Count())
		}
	}
}
