package outage_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/svc-observability/svc/server/outage"
)

func TestObserve(t *testing.T) {
	var o outage.Outage
	bad := errors.New("bad")
	for i, step := range []struct {
		err  error
		want outage.Change
	}{{nil, outage.None}, {bad, outage.Began}, {bad, outage.None}, {nil, outage.Ended}, {nil, outage.None}, {bad, outage.Began}} {
		if got := o.Observe(step.err); got != step.want || o.Down() != (step.err != nil) {
			t.Errorf("step %d: %v, want %v; down: %v", i, got, step.want, o.Down())
		}
	}
}

func TestOneObserverSeesTheChange(t *testing.T) {
	var o outage.Outage
	var began atomic.Int32
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if o.Observe(errors.New("bad")) == outage.Began {
				began.Add(1)
			}
		})
	}
	wg.Wait()
	if began.Load() != 1 {
		t.Errorf("%d observers saw the beginning", began.Load())
	}
}
