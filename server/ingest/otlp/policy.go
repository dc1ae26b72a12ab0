package otlp

import "github.com/svc-observability/svc/server/limits"

// MappingContext says where a mapping finds its source.
type MappingContext uint8

// The mapping contexts.
const (
	// SpanContext means the attributes of the span itself.
	SpanContext MappingContext = iota
	// ResourceContext means the attributes of the span's resource, as they are stored.
	ResourceContext
)

// Mapping copies an attribute of a span or its resource to another attribute of the span. Mappings apply to traces only. They run
// in the order of their list, and each sees the results of the earlier ones.
type Mapping struct {
	Context MappingContext
	// Source is the key to read. Target is the key to write, always on the span. A span that already has the target keeps it, and
	// keeps its source too.
	Source, Target string
	// Move removes the source if it is an attribute of the span. A resource keeps its attributes.
	Move bool
}

// Sampling decides which spans of an organization are stored. The zero value stores all of them. Spans are dropped by trace: all
// spans of a trace pass or fail the ratio together, on every node and at any time.
type Sampling struct {
	// Ratio is the share of traces to store. 0 means that it is not set. 0, 1 and values outside that range store all traces. Values
	// below MinSampleRatio count as MinSampleRatio.
	Ratio float64
	// KeepErrors stores failed spans regardless of the ratio: spans with the status Error or an HTTP status of 500 or above.
	KeepErrors bool
	// KeepSlowNano stores spans with at least this duration regardless of the ratio. 0 turns the rule off.
	KeepSlowNano uint64
}

// MinSampleRatio is the lowest share that Sampling.Ratio can ask for.
const MinSampleRatio = 1. / limits.LeastSampleParts

// Enabled reports whether the policy can drop a span at all.
func (s Sampling) Enabled() bool { return s.Ratio > 0 && s.Ratio < 1 }
