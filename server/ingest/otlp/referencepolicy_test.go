package otlp_test

import (
	"math"
	"strconv"
	"strings"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// refPolicies is what the policies make of a span: its attributes, what of the column SampleRate does not come from them, and whether it
// is stored at all.
func (r *reference) policies(res *refResource, s *tracepb.Span, duration uint64, attrs map[string]typed) (weight float64, stored bool) {
	stamped := false
	weight = 1
	entries := min(len(s.Attributes), 1024)
	if p := r.stamp.Sampling; p.Ratio > 0 && p.Ratio < 1 {
		failed := int32(s.GetStatus().GetCode()) == 2 || refStatus(attrs) >= 500
		ratio := max(p.Ratio, 1e-6)
		switch {
		case p.KeepErrors && failed, p.KeepSlowNano > 0 && duration >= p.KeepSlowNano:
		case otlp.TraceHash(r.stamp.Org, s.TraceId) > uint64(math.Ldexp(ratio, 64)):
			return 0, false
		default:
			weight = 1 / ratio
		}
		_, has := attrs["SampleRate"]
		if weight != 1 && !has && !hasThreshold(s.TraceState) {
			attrs["SampleRate"] = refWeight(weight)
			stamped = true
			entries++
		}
	}
	for _, m := range r.stamp.Mappings {
		source, target := shortened(m.Source, 1024), shortened(m.Target, 1024)
		from := attrs
		if m.Context == otlp.ResourceContext {
			from = res.all
		}
		v, found := from[source]
		if _, taken := attrs[target]; !found || taken || entries >= 1024 {
			continue
		}
		attrs[target] = v
		entries++
		if m.Move && m.Context == otlp.SpanContext {
			delete(attrs, source)
			stamped = stamped && source != "SampleRate"
		}
	}
	if stamped {
		return weight, true
	}
	return weight * refRate(attrs, s.TraceState), true
}

func hasThreshold(state string) bool {
	for member := range strings.SplitSeq(state, ",") {
		value, ok := strings.CutPrefix(strings.Trim(member, " \t"), "ot=")
		if !ok {
			continue
		}
		for f := range strings.SplitSeq(value, ";") {
			if strings.HasPrefix(f, "th:") {
				return true
			}
		}
		return false
	}
	return false
}

func refWeight(weight float64) typed {
	text := strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(weight, 'f', 6, 64), "0"), ".")
	if weight == math.Floor(weight) {
		return typed{text, "int"}
	}
	return typed{text, "double"}
}
