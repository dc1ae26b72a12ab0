package corpus

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

const day = uint64(24 * time.Hour)

// partial returns well-formed requests with items that are not stored or are changed. It covers every reason for a rejection, and
// every warning about a stored item.
func (m maker) partial() []Case {
	var all []Case
	// The faulty item follows a valid one. The valid item is stored, and the path names the second.
	refuse := func(signal otlp.Signal, name string, item []byte, message string) {
		path := itemPath(signal, 1)
		if signal == otlp.Metrics {
			path += ".data_points[0]"
		}
		all = append(all, both(Case{
			Name: "rejected: " + name, Signal: signal, Body: request(m.item(signal, "valid rest"), item), Want: OK,
			Rejected: 1, Message: path + message, Stored: []string{"valid rest"},
		})...)
	}
	warn := func(signal otlp.Signal, name string, item []byte, message string) {
		all = append(all, both(Case{
			Name: "warning: " + name, Signal: signal, Body: request(item), Want: OK, Message: message, Stored: []string{"kept"},
		})...)
	}
	const ids, tooOld, tooNew = "span rejected: must be ", "rejected: the time is further back",
		"rejected: the time is more than 24 hours ahead"
	for name, id := range map[string][]byte{
		"missing": nil, "zero": make([]byte, 16), "15 bytes": make([]byte, 15), "17 bytes": traceIDOf(17),
		"8 bytes": spanID(), "a megabyte": traceIDOf(1 << 20),
	} {
		refuse(otlp.Traces, "trace id "+name, m.span("x", nest(id, 1)), ".trace_id: "+ids+"16 bytes")
	}
	for name, id := range map[string][]byte{
		"missing": nil, "zero": make([]byte, 8), "7 bytes": make([]byte, 7), "9 bytes": traceIDOf(9),
		"16 bytes": traceID(),
	} {
		refuse(otlp.Traces, "span id "+name, m.span("x", nest(id, 2)), ".span_id: "+ids+"8 bytes")
	}
	// A field with a wrong wire type counts as an unknown field, so the id is missing.
	noTrace := join(varint(1, 5), nest(spanID(), 2), text(5, "x"), fixed64(7, m.now))
	refuse(otlp.Traces, "trace id as number", noTrace, ".trace_id: "+ids+"16 bytes")
	refuse(otlp.Traces, "span id as fixed number", join(nest(traceID(), 1), fixed64(2, 7), text(5, "x"), fixed64(7, m.now)),
		".span_id: "+ids+"8 bytes")
	for name, c := range map[string]struct {
		at   uint64
		want string
	}{
		"1 ns after 1970": {1, tooOld}, "in seconds": {m.now / 1e9, tooOld}, "in milliseconds": {m.now / 1e6, tooOld},
		"in microseconds": {m.now / 1e3, tooOld},
		"100 days ago":    {m.now - 100*day, tooOld}, "2 days ahead": {m.now + 2*day, tooNew}, "in the year 2200": {7258118400e9, tooNew},
		"largest signed": {math.MaxInt64, tooNew}, "beyond signed": {math.MaxInt64 + 1, tooNew}, "largest": {math.MaxUint64, tooNew},
	} {
		refuse(otlp.Traces, "start "+name, m.span("x", fixed64(7, c.at)), ".start_time_unix_nano: "+c.want)
		refuse(otlp.Logs, "time "+name, m.record("x", fixed64(1, c.at)), ".time_unix_nano: "+c.want)
		refuse(otlp.Metrics, "time "+name, gauge("x", m.point(fixed64(3, c.at))), ".time_unix_nano: "+c.want)
	}
	refuse(otlp.Logs, "observed time alone, 2 days ahead", m.record("x", fixed64(1, 0), fixed64(11, m.now+2*day)),
		".observed_time_unix_nano: "+tooNew)

	warn(otlp.Traces, "start not set", m.span("kept", fixed64(7, 0)), "start_time_unix_nano: is not set")
	warn(otlp.Traces, "end before start", m.span("kept", fixed64(8, m.now-1)), "end_time_unix_nano: is before the start")
	warn(otlp.Traces, "end not set", m.span("kept", fixed64(8, 0)), "end_time_unix_nano: is before the start")
	warn(otlp.Traces, "end 2 days ahead", m.span("kept", fixed64(8, m.now+2*day)), "end_time_unix_nano: is more than 24 hours ahead")
	warn(otlp.Traces, "end largest", m.span("kept", fixed64(8, math.MaxUint64)), "end_time_unix_nano: is more than 24 hours ahead")
	warn(otlp.Traces, "parent of 7 bytes", m.span("kept", nest(make([]byte, 7), 4)), "parent_span_id: must be 8 bytes")
	warn(otlp.Traces, "link of 3 bytes", m.span("kept", nest(nest([]byte("abc"), 1), 13)), "links: trace_id must be 16 bytes")
	warn(otlp.Traces, "event beyond signed", m.span("kept", nest(fixed64(1, math.MaxUint64), 11)), "events.time_unix_nano: is out of range")
	warn(otlp.Logs, "trace id of 3 bytes", m.record("kept", nest([]byte("abc"), 9)), "trace_id must be 16 bytes")
	warn(otlp.Logs, "observed beyond signed", m.record("kept", fixed64(11, math.MaxUint64)),
		"observed_time_unix_nano: is more than 30 days back or 24 hours ahead")
	warn(otlp.Logs, "observed in 32 years", m.record("kept", fixed64(11, m.now+32*365*day)),
		"observed_time_unix_nano: is more than 30 days back or 24 hours ahead")
	warn(otlp.Logs, "unknown severity", m.record("kept", varint(2, 99)), "severity_number: is a number that OTLP does not define")
	warn(otlp.Metrics, "time not set", gauge("kept", m.point(fixed64(3, 0))), "time_unix_nano: is not set")
	warn(otlp.Metrics, "start beyond signed", gauge("kept", m.point(fixed64(2, math.MaxUint64))), "start_time_unix_nano: is out of range")
	warn(otlp.Metrics, "exemplar id of 3 bytes", gauge("kept", m.point(nest(nest([]byte("abc"), 5), 5))),
		"exemplars: trace_id must be 16 bytes")
	warn(otlp.Metrics, "exemplar beyond signed", gauge("kept", m.point(nest(fixed64(2, math.MaxUint64), 5))),
		"exemplars.time_unix_nano: is out of range")

	const rejectedPoint = ".data_points[0]"
	refusePoint := func(name string, metric []byte, message string) {
		all = append(all, both(Case{
			Name: "rejected: " + name, Signal: otlp.Metrics, Body: request(m.item(otlp.Metrics, "valid rest"), metric), Want: OK,
			Rejected: 1, Message: itemPath(otlp.Metrics, 1) + message, Stored: []string{"valid rest"},
		})...)
	}
	refusePoint("metric without a name", gauge("", m.point()), ".name: rejected: a metric must have a name")
	refusePoint("gauge without a value", gauge("x", fixed64(3, m.now)), rejectedPoint+".value: rejected: neither as_double nor as_int is set")
	refusePoint("gauge with another flag and no value", gauge("x", join(fixed64(3, m.now), varint(8, 2))), rejectedPoint+".value: rejected")
	refusePoint("sum without a value", m.aggregated("x", 7, 2, nil), rejectedPoint+".value: rejected")
	for name, c := range map[string]struct {
		counts, bounds []uint64
		message        string
	}{
		"counts and bounds of one length": {[]uint64{1, 2}, []uint64{1, 2}, ".bucket_counts: rejected: there must be one more"},
		"too many counts":                 {[]uint64{1, 2, 3}, []uint64{1}, ".bucket_counts: rejected"},
		"bounds without counts":           {nil, []uint64{1}, ".bucket_counts: rejected"},
		"counts without bounds":           {[]uint64{1, 2}, nil, ".bucket_counts: rejected"},
		"descending bounds":               {[]uint64{1, 2, 3}, []uint64{2, 1}, ".explicit_bounds: rejected: must be strictly increasing"},
		"equal bounds":                    {[]uint64{1, 2, 3}, []uint64{2, 2}, ".explicit_bounds: rejected"},
	} {
		refusePoint("histogram with "+name, m.aggregated("x", 9, 2, histogram(c.counts, c.bounds)), rejectedPoint+c.message)
	}
	const noTemporality = "metrics[0].aggregation_temporality: must be 1 (delta) or 2 (cumulative)"
	warn(otlp.Metrics, "sum without temporality", m.aggregated("kept", 7, 0, fixed64(6, 3)), noTemporality)
	warn(otlp.Metrics, "histogram without temporality", m.aggregated("kept", 9, 0, nil), noTemporality)
	warn(otlp.Metrics, "exponential histogram of an unknown temporality", m.aggregated("kept", 10, 3, nil), noTemporality)
	for name, metric := range map[string][]byte{
		"gap in a gauge": gauge("kept", join(fixed64(3, m.now), varint(8, 1))), "gap in a sum": m.aggregated("kept", 7, 2, varint(8, 1)),
		"gap in a histogram with its bounds": m.aggregated("kept", 9, 2, join(histogram(nil, []uint64{1, 2}), varint(10, 1))),
		"histogram without buckets":          m.aggregated("kept", 9, 1, nil),
		"histogram with one bucket":          m.aggregated("kept", 9, 1, histogram([]uint64{4}, nil)),
	} {
		all = append(all, both(Case{Name: name, Signal: otlp.Metrics, Body: request(metric), Want: OK, Stored: []string{"kept"}})...)
	}
	warn(otlp.Logs, "no time at all", m.record("kept", fixed64(1, 0)),
		"log_records[0].time_unix_nano: is not set: the receive time stands for it")
	all = append(all, both(Case{
		Name: "record with its observed time alone", Signal: otlp.Logs, Body: request(m.record("kept", fixed64(1, 0), fixed64(11, m.now))),
		Want: OK, Stored: []string{"kept"},
	})...)

	long := func(n int) string { return strings.Repeat("é", n/2+1) }
	const longName, longText = ": is longer than 1024 bytes and was cut", ": is longer than 16384 bytes and was cut"
	for name, c := range map[string]struct {
		signal otlp.Signal
		item   []byte
		want   string
	}{
		"trace state of 16 KiB": {otlp.Traces, m.span("kept", text(3, long(16<<10))), "spans[0].trace_state" + longText},
		"status of a mebibyte":  {otlp.Traces, m.span("kept", nest(text(2, long(1<<20)), 15)), "spans[0].status.message" + longText},
		"event name of 1 KiB":   {otlp.Traces, m.span("kept", nest(text(2, long(1<<10)), 11)), "spans[0].events.name" + longName},
		"link state of 20 KiB":  {otlp.Traces, m.span("kept", nest(text(3, long(20<<10)), 13)), "spans[0].links.trace_state" + longText},
		"1,025 events": {
			otlp.Traces, m.span("kept", bytes.Repeat([]byte{0x5a, 0}, 1025)),
			"spans[0].events: there are more than 1024 on one item",
		},
		"100,000 links": {otlp.Traces, m.span("kept", bytes.Repeat([]byte{0x6a, 0}, 100_000)), "left out (98976 times in this request)"},
		"severity text": {otlp.Logs, m.record("kept", text(3, long(1<<10))), "log_records[0].severity_text" + longName},
		"event name":    {otlp.Logs, m.record("kept", text(12, long(1<<10))), "log_records[0].event_name" + longName},
		"description":   {otlp.Metrics, join(gauge("kept", m.point()), text(2, long(16<<10))), "metrics[0].description" + longText},
		"unit":          {otlp.Metrics, join(gauge("kept", m.point()), text(3, long(1<<10))), "metrics[0].unit" + longName},
		"1,030 exemplars": {
			otlp.Metrics, gauge("kept", m.point(bytes.Repeat([]byte{0x2a, 0}, 1030))),
			"data_points[0].exemplars: there are more than 1024",
		},
	} {
		warn(c.signal, "long: "+name, c.item, c.want)
	}
	cutName := strings.Repeat("n", 1024-len("…[cut]")) + "…[cut]"
	for signal, path := range map[otlp.Signal]string{otlp.Traces: "spans[0].name", otlp.Metrics: "metrics[0].name"} {
		all = append(all, both(Case{
			Name: "warning: " + signal.String() + " name of 1,025 bytes", Signal: signal, Body: request(m.item(signal, strings.Repeat("n", 1025))),
			Want: OK, Message: path + longName, Stored: []string{cutName},
		})...)
	}
	for _, signal := range signals() {
		all = append(all, both(Case{
			Name: "warning: " + signal.String() + " scope of long name and version", Signal: signal, Want: OK,
			Message: "[0].scope.name" + longName + ": it ends with …[cut] (2 times in this request)",
			Body:    nest(join(nest(join(text(1, long(1<<10)), text(2, long(1<<10))), 1), nest(m.item(signal, "kept"), 2)), 1, 2),
			Stored:  []string{"kept"},
		})...)
	}

	var crowd [][]byte
	for i := range 1100 {
		crowd = append(crowd, keyValue(fmt.Sprint("key ", i), text(1, "v")))
	}
	for name, c := range map[string]struct {
		attributes [][]byte
		want       string
	}{
		"value of a mebibyte": {
			[][]byte{keyValue("a", text(1, strings.Repeat("é", 1<<19)))},
			"a value is longer than 65536 bytes as text and was cut",
		},
		"bytes of 40 KiB": {
			[][]byte{keyValue("a", nest(make([]byte, 40<<10), 7))},
			"a value is longer than 65536 bytes as text and was cut",
		},
		"list of a mebibyte": {
			[][]byte{keyValue("a", nest(bytes.Repeat([]byte{0x0a, 0}, 1<<19), 5))},
			"a value is longer than 65536 bytes as text and was cut",
		},
		"key of 2 KiB":         {[][]byte{keyValue(strings.Repeat("k", 2<<10), text(1, "v"))}, "a key is longer than 1024 bytes and was cut"},
		"1,100 attributes":     {crowd, "there are more than 1024 attributes"},
		"value nested 70 deep": {[][]byte{keyValue("a", deepValue(70))}, "a value is nested more than 64 deep"},
		"value nested deepest": {[][]byte{keyValue("a", deepValue(4_900))}, "a value is nested more than 64 deep"},
	} {
		for signal, field := range map[otlp.Signal]number{otlp.Traces: 9, otlp.Logs: 6, otlp.Metrics: 7} {
			var own, resource []byte
			for _, a := range c.attributes {
				own, resource = append(own, nest(a, field)...), append(resource, nest(a, 1)...)
			}
			item := map[otlp.Signal][]byte{
				otlp.Traces: m.span("kept", own), otlp.Logs: m.record("kept", own),
				otlp.Metrics: gauge("kept", m.point(own)),
			}[signal]
			warn(signal, name, item, c.want)
			all = append(all, both(Case{
				Name: "warning: resource " + name, Signal: signal, Body: resourceRequest(resource, m.item(signal, "kept")), Want: OK,
				Message: names(signal)[0] + "[0].resource", Stored: []string{"kept"},
			})...)
		}
	}
	for _, signal := range signals() {
		all = append(all, both(Case{Name: "empty request", Signal: signal, Want: OK})...)
		all = append(all, both(Case{Name: "empty resource", Signal: signal, Body: []byte{0x0a, 0}, Want: OK})...)
		all = append(all, both(Case{Name: "unknown fields only", Signal: signal, Body: join(varint(999, 1), text(1000, "x")), Want: OK})...)
	}
	all = append(all, both(Case{
		Name: "spans without anything", Signal: otlp.Traces, Body: request(nil, nil, nil), Want: OK, Rejected: 3,
		Message: "(3 times in this request)",
	})...)
	all = append(all, Case{
		Name: "traces rejected, JSON", Signal: otlp.Traces, Header: jsonHeader(),
		Body: []byte(jsonRequest(otlp.Traces, m.jsonSpan(`,"spanId":""`))), Want: OK,
		Rejected: 1, Message: "spans[0].span_id: span rejected",
	})
	return all
}

func traceIDOf(n int) []byte { return bytes.Repeat([]byte{7}, n) }
