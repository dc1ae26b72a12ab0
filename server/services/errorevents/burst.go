package errorevents

import (
	"math"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
)

// burst finds the time in which an error was most frequent: the five minutes with the most occurrences, and the time around them in which
// each five minutes have at least a quarter as many. One quieter stretch of five minutes may lie between. It returns nil if
// the occurrences are spread over the window as chance spreads them. The minutes are in order and have occurrences.
func burst(w query.Window, minutes []reads.ErrorPointRow) *svcv2.ErrorEventBurst {
	const step = 5 * 60
	counts, total, peak := map[int64]uint64{}, uint64(0), int64(0)
	for _, m := range minutes {
		at := m.Bucket.Unix() / step
		counts[at] += m.Count
		total += m.Count
		if peak == 0 || counts[at] > counts[peak] {
			peak = at
		}
	}
	reach := func(direction int64) int64 {
		end := peak
		for at := peak + direction; at-end <= 2 && end-at <= 2; at += direction {
			if counts[at] > 0 && 4*counts[at] >= counts[peak] {
				end = at
			}
		}
		return end
	}
	first, last := reach(-1)*step, (reach(1)+1)*step
	var b *svcv2.ErrorEventBurst
	for _, m := range minutes {
		if at := m.Bucket.Unix(); at < first || at >= last {
			continue
		}
		if b == nil {
			b = &svcv2.ErrorEventBurst{StartTime: timestamppb.New(m.Bucket)}
		}
		b.EndTime = timestamppb.New(m.Bucket.Add(time.Minute))
		b.Count += float64(m.Count)
		b.EstimatedCount += m.Estimated
	}
	if b == nil {
		return nil
	}
	// In a window without bursts, the count of this time would vary around its share by about its square root.
	const deviations, least = 5, 4
	expected := float64(total) * float64(last-first) / max(w.Length().Seconds(), float64(last-first))
	if b.GetCount()-expected < deviations*math.Sqrt(expected)+least {
		return nil
	}
	return b
}
