package links

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

func keyOf(text string) string { return text }

// TestPublicReads checks that simultaneous equal reads run once, that different reads wait for each other, and that failures are
// not kept. A reader who leaves does not affect the others.
func TestPublicReads(t *testing.T) {
	p := newPublicReads[*svcv2.WidgetData](limits.SharedData, 0)
	var reads, running, most atomic.Int32
	release := make(chan struct{})
	read := func(context.Context) (*svcv2.WidgetData, error) {
		reads.Add(1)
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		<-release
		return &svcv2.WidgetData{WidgetId: "w"}, nil
	}
	gone, leave := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := p.get(gone, "org_a", keyOf("a"), read); !errors.Is(err, context.Canceled) {
			t.Errorf("the one who left: %v", err)
		}
	})
	for reads.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	leave()
	for range 50 {
		wg.Go(func() {
			if d, err := p.get(t.Context(), "org_a", keyOf("a"), read); err != nil || d.GetWidgetId() != "w" {
				t.Errorf("%v %v", d, err)
			}
		})
	}
	for _, key := range []string{"b", "c", "d", "e", "f", "g", "h", "i"} {
		wg.Go(func() { _, _ = p.get(t.Context(), "org_a", keyOf(key), read) })
	}
	for running.Load() < limits.SharedReads {
		time.Sleep(time.Millisecond)
	}
	close(release)
	wg.Wait()
	if reads.Load() != 9 || most.Load() != limits.SharedReads {
		t.Errorf("%d reads, %d at once", reads.Load(), most.Load())
	}
	fails := 0
	for range 2 {
		_, err := p.get(t.Context(), "org_a", keyOf("bad"), func(context.Context) (*svcv2.WidgetData, error) {
			fails++
			return nil,
				errors.New("no")
		})
		if err == nil {
			t.Error("no error")
		}
	}
	if fails != 2 {
		t.Errorf("a failure is kept: %d reads", fails)
	}
	if _, err := p.get(t.Context(), "org_a", keyOf("panic"), func(context.Context) (*svcv2.WidgetData, error) { panic("in a read") }); err == nil {
		t.Error("a panic is no error")
	}
}

// TestPublicWindow checks that windows are bounded, and rounded so that simultaneous readers ask for the same window.
func TestPublicWindow(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 7, 0, time.UTC)
	of := func(start, end time.Time) (*svcv2.TimeRange, error) {
		return publicWindow(&svcv2.ShareTimeRange{StartTime: timestamppb.New(start), EndTime: timestamppb.New(end)}, now)
	}
	got, err := of(now.Add(-time.Hour), now)
	if err != nil || got.GetEndTime().AsTime().Second() != 0 || got.GetEndTime().AsTime().Sub(got.GetStartTime().AsTime()) != time.Hour {
		t.Errorf("%v %v", got, err)
	}
	if got, err := of(now.Add(-time.Second), now); err != nil || !got.GetEndTime().AsTime().After(got.GetStartTime().AsTime()) {
		t.Errorf("a second: %v %v", got, err)
	}
	if _, err := of(now.Add(-31*24*time.Hour), now); err != nil {
		t.Errorf("31 days: %v", err)
	}
	for _, bad := range [][2]time.Time{
		{now, now},
		{now, now.Add(-time.Hour)},
		{now.Add(-32 * 24 * time.Hour), now},
		{now, now.Add(48 * time.Hour)},
		{time.Unix(-100, 0), time.Unix(100, 0)},
	} {
		_, err := of(bad[0], bad[1])
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != apierr.ShareRangeInvalid {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestPublicReadsEach: the reads of one organization leave a slot to the others.
func TestPublicReadsEach(t *testing.T) {
	p := newPublicReads[int](limits.SharedData, 0)
	stop, begun := make(chan struct{}), make(chan struct{}, publicAtOnce+1)
	var wg sync.WaitGroup
	for i := range publicAtOnce + 1 {
		wg.Go(func() {
			_, _ = p.get(t.Context(), "org_slow", fmt.Sprint(i), func(context.Context) (int, error) {
				begun <- struct{}{}
				<-stop
				return 0, nil
			})
		})
	}
	for range limits.SharedReads {
		<-begun
	}
	if got, err := p.get(t.Context(), "org_b", "b", func(context.Context) (int, error) { return 7, nil }); got != 7 || err != nil {
		t.Errorf("%d %v", got, err)
	}
	if len(begun) != 0 {
		t.Errorf("%d reads of the organization are too many", len(begun))
	}
	close(stop)
	wg.Wait()
	if !p.each.Idle() || len(p.slots) != 0 {
		t.Errorf("slots are left: of organizations %v, of all %d", !p.each.Idle(), len(p.slots))
	}
}
