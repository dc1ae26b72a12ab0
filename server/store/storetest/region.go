package storetest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/svc-observability/svc/server/store"
)

// testRegion: the first region counts, whoever asks again, and of several that come together one.
func testRegion(t *testing.T, f *fixture) {
	won := make([]error, 4)
	var wg sync.WaitGroup
	for i, region := range []string{"us", "eu", "us", "eu"} {
		wg.Go(func() { won[i] = f.ClaimRegion(t.Context(), region) })
	}
	wg.Wait()
	mine, other := "us", "eu"
	if won[0] != nil {
		mine, other = other, mine
	}
	for _, region := range []string{mine, mine} {
		if err := f.ClaimRegion(t.Context(), region); err != nil {
			t.Error(err)
		}
	}
	if err := f.ClaimRegion(t.Context(), other); !errors.Is(err, store.ErrOtherRegion) || !strings.HasSuffix(err.Error(), mine+", not "+other) {
		t.Errorf("%v", err)
	}
	for i, region := range []string{"us", "eu", "us", "eu"} {
		if (won[i] == nil) != (region == mine) {
			t.Errorf("%s got %v", region, won[i])
		}
	}
}
