package storetest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// testRegion: the first region stays, whatever is claimed later. Of several concurrent claims one wins.
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
	if err := f.ClaimRegion(t.Context(), other); !errors.Is(err, store.ErrOtherRegion) ||
		!strings.HasSuffix(err.Error(), mine+", not "+other) {
		t.Errorf("%v", err)
	}
	for i, region := range []string{"us", "eu", "us", "eu"} {
		if (won[i] == nil) != (region == mine) {
			t.Errorf("%s got %v", region, won[i])
		}
	}

	org, _ := f.org(t)
	second, _ := f.org(t)
	// A caller that names the recorded, wrong region can correct it, and every organization has an audit entry.
	if err := f.ChangeRegion(t.Context(), other, "ap"); !errors.Is(err, store.ErrOtherRegion) ||
		!strings.HasSuffix(err.Error(), mine+", not "+other) {
		t.Errorf("%v", err)
	}
	if err := f.ChangeRegion(t.Context(), mine, "ap"); err != nil {
		t.Error(err)
	}
	if got, err := f.Region(t.Context()); got != "ap" || err != nil {
		t.Errorf("%q %v", got, err)
	}
	if err := f.ClaimRegion(t.Context(), "ap"); err != nil {
		t.Error(err)
	}
	if err := f.ClaimRegion(t.Context(), mine); !errors.Is(err, store.ErrOtherRegion) {
		t.Errorf("%v", err)
	}
	for _, org := range []principal.OrgID{org, second} {
		all, err := f.ListAuditLogEntries(t.Context(), org, store.AuditFilter{Action: "region.updated"}, 0, 10)
		if err != nil || len(all) != 1 || all[0].Changes == nil || all[0].Changes.Before["region"] != mine ||
			all[0].Changes.After["region"] != "ap" ||
			all[0].ActorType != store.ActorSystem {
			t.Errorf("%s: %+v %v", org, all, err)
		}
	}
}
