// Package demo makes the telemetry of a small shop and sends it through the public ingest API, as twelve services, a browser SDK, a mobile
// application and the receivers of a Collector would.
//
// The telemetry is a function of the seed and of the time. Each minute since 1970 has its own random numbers. The telemetry of
// a window does not depend on the start of the window or on its parts. A back-fill and the live run after it therefore fit
// together, and a repeated run gives the same telemetry with the same ids.
package demo

import (
	"container/heap"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Config selects the shop.
type Config struct {
	// Seed determines all random numbers.
	Seed uint64
	// Rate is the number of user actions that begin in a second, on average over a day. An action has 6 to 7 spans. The number of metrics
	// hardly depends on it.
	Rate float64
	// FaultShift moves the timetable of the planted faults later.
	FaultShift time.Duration
	// Plant replaces the timetable by faults at random times and places: a kind, PlantRandom or PlantNone.
	Plant string
	// Repository is the address of the one repository that has the source code of all services. Empty: each has one of its own, which does
	// not exist.
	Repository string
	// Releases are versions that services run in production from a time on.
	Releases []Release
}

// Release is a version of a service in production.
type Release struct {
	Service, Version, Commit string
	From                     time.Time
	// Mends is the planted fault that does not occur from then on; it may be empty.
	Mends string
}

// DefaultRate gives 1 to 1.5 million spans a day.
const DefaultRate = 2

// leadIn is longer than any session or conversation. Telemetry that is due in a window began at most this many minutes before it.
const leadIn = 15

// resource is a sender: an instance of a service, a host, a receiver.
type resource struct {
	pb    *resourcepb.Resource
	scope *commonpb.InstrumentationScope
}

type (
	spanOf struct {
		from *resource
		span *tracepb.Span
	}
	recordOf struct {
		from   *resource
		record *logspb.LogRecord
	}
	metricOf struct {
		from   *resource
		metric *metricspb.Metric
	}
)

// chunk is a part of a recording.
type chunk struct {
	session    string
	seq        int
	checkpoint bool
	events     []recorded
	duration   time.Duration
}

// Unit is telemetry that a sender sends together: a trace with its logs, a step of a session, the metrics of a minute.
type Unit struct {
	// due is the time of sending, in nanoseconds since 1970.
	due int64
	// order distinguishes units of the same time.
	order int

	spans   []spanOf
	logs    []recordOf
	metrics []metricOf
	// sessions, timeline and products are lines of NDJSON.
	sessions, timeline, products [][]byte
	chunks                       []chunk
}

// Stream gives the units in the order in which they are due.
type Stream struct {
	shop    *shop
	from    int64
	minute  int64 // the next minute to make
	waiting unitHeap
	made    int
}

// NewStream returns a stream that begins after from.
func NewStream(cfg Config, from time.Time) *Stream {
	return &Stream{shop: newShop(cfg), from: from.UnixNano(), minute: from.UnixNano()/nanosPerMinute - leadIn}
}

const nanosPerMinute = int64(time.Minute)

// Take returns the units that are due before until. It returns each unit once.
func (s *Stream) Take(until time.Time) []*Unit {
	end := until.UnixNano()
	for s.minute*nanosPerMinute < end {
		for _, u := range s.shop.makeMinute(s.minute) {
			if u.due > s.from {
				u.order = s.made
				heap.Push(&s.waiting, u)
			}
			s.made++
		}
		s.minute++
	}
	var out []*Unit
	for len(s.waiting) > 0 && s.waiting[0].due <= end {
		out = append(out, heap.Pop(&s.waiting).(*Unit))
	}
	return out
}

type unitHeap []*Unit

func (h unitHeap) Len() int { return len(h) }
func (h unitHeap) Less(i, j int) bool {
	return h[i].due < h[j].due || h[i].due == h[j].due && h[i].order < h[j].order
}
func (h unitHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *unitHeap) Push(x any)   { *h = append(*h, x.(*Unit)) }
func (h *unitHeap) Pop() any {
	last := (*h)[len(*h)-1]
	(*h)[len(*h)-1] = nil
	*h = (*h)[:len(*h)-1]
	return last
}
