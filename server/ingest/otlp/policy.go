package otlp

// MappingContext says where a mapping finds its source.
type MappingContext uint8

// Mapping contexts.
const (
	// SpanContext is the attributes of the span itself.
	SpanContext MappingContext = iota
	// ResourceContext is the attributes of the span's resource, as they are stored.
	ResourceContext
)

// Mapping copies an attribute of a span or its resource to another attribute of the span. Mappings apply to traces only, in the order of
// their list, each to what those before it have made of the span.
type Mapping struct {
	Context MappingContext
	// Source is the key to read; Target is the key to write, always on the span. A span that has the target already keeps it, and its
	// source too.
	Source, Target string
	// Move removes the source when it is an attribute of the span. A resource keeps its attributes.
	Move bool
}

// Sampling is which spans of an organization are stored. The zero value stores all of them. Spans are dropped by trace: all spans of a
// trace pass or fail the ratio together, on every node and whenever they come.
type Sampling struct {
	// Ratio is the share of traces to store. 0, which is not set, 1 and whatever is no share mean all; below MinSampleRatio means that.
	Ratio float64
	// KeepErrors stores spans that failed whatever the ratio says: those with the status Error or an HTTP status from 500 on.
	KeepErrors bool
	// KeepSlowNano stores spans that took at least so long whatever the ratio says. 0 means no such rule.
	KeepSlowNano uint64
}

// MinSampleRatio is the lowest share that Sampling.Ratio can ask for.
const MinSampleRatio = 1e-6

// Enabled reports whether the policy can drop a span at all.
func (s Sampling) Enabled() bool { return s.Ratio > 0 && s.Ratio < 1 }
