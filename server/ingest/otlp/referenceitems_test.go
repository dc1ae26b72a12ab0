package otlp_test

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/ch-go/proto"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/errorgroup"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

func (r *reference) span(res *refResource, scope *commonpb.InstrumentationScope, s *tracepb.Span) {
	if hexID(s.TraceId, 16) == "" || hexID(s.SpanId, 8) == "" || s.StartTimeUnixNano != 0 && r.outside(s.StartTimeUnixNano, 30) {
		r.rejected++
		return
	}
	at, duration := r.stamp.ReceivedUnixNano, uint64(0)
	if s.StartTimeUnixNano != 0 {
		at = int64(s.StartTimeUnixNano)
		const day = 24 * 3600 * int64(1e9)
		if s.EndTimeUnixNano > s.StartTimeUnixNano && s.EndTimeUnixNano <= uint64(r.stamp.ReceivedUnixNano+day) {
			duration = s.EndTimeUnixNano - s.StartTimeUnixNano
		}
	}
	attrs := typedMap(s.Attributes)
	r.productEvent(res, at, attrs)
	rate, stored := r.policies(res, s, duration, attrs)
	if !stored {
		r.sampled++
		return
	}
	r.accepted++
	kind := within(int32(s.Kind), "Unspecified", "Internal", "Server", "Client", "Producer", "Consumer")
	status := within(int32(s.GetStatus().GetCode()), "Unset", "Ok", "Error")
	httpStatus := refStatus(attrs)
	parent := hexID(s.ParentSpanId, 8)
	x := r.base(res, scope)
	x["Timestamp"], x["TraceId"], x["SpanId"], x["ParentSpanId"] = at, hexID(s.TraceId, 16), hexID(s.SpanId, 8), parent
	x["TraceState"], x["Flags"], x["SpanName"], x["SpanKind"] = shortened(s.TraceState, 16<<10), s.Flags, shortened(s.Name, 1024), kind
	x["ServiceVersion"], x["DurationNano"], x["StatusCode"], x["StatusMessage"] = res.version, duration, status,
		shortened(s.GetStatus().GetMessage(), 16<<10)
	x["HasError"], x["IsEntry"] = status == "Error" || httpStatus >= 500, kind == "Server" || kind == "Consumer" || parent == ""
	x["HttpMethod"], x["HttpRoute"], x["HttpStatusCode"] = refMethod(attrs, s.Name), refRoute(attrs, kind == "Client"), httpStatus
	x["SampleRate"], x["SpanAttributes"] = min(rate, 1e9), texts(attrs)
	r.count(at, "resource", res.own)
	r.count(at, "span", attrs)
	var eventTimes []int64
	var eventNames, linkTraces, linkSpans, linkStates []string
	var eventAttrs, linkAttrs []map[string]string
	for _, e := range s.Events[:min(len(s.Events), 1024)] {
		m := typedMap(e.Attributes)
		r.count(at, "event", m)
		eventTimes, eventNames, eventAttrs = append(eventTimes, orElse(e.TimeUnixNano, at)), append(eventNames, shortened(e.Name, 1024)),
			append(eventAttrs, texts(m))
	}
	for _, l := range s.Links[:min(len(s.Links), 1024)] {
		m := typedMap(l.Attributes)
		r.count(at, "link", m)
		linkTraces, linkSpans = append(linkTraces, hexID(l.TraceId, 16)), append(linkSpans, hexID(l.SpanId, 8))
		linkStates, linkAttrs = append(linkStates, shortened(l.TraceState, 16<<10)), append(linkAttrs, texts(m))
	}
	x["EventsTimestamp"], x["EventsName"], x["EventsAttributes"] = eventTimes, eventNames, eventAttrs
	exception := map[string]string{}
	at0 := slices.Index(eventNames, "exception")
	if at0 >= 0 {
		exception = eventAttrs[at0]
	}
	r.errorGroup(x, status == "Error" || at0 >= 0, exception, errorgroup.Exception{
		StatusMessage: x["StatusMessage"].(string), SpanName: x["SpanName"].(string), HTTPStatus: httpStatus,
		GRPCStatus: firstText(attrs, "rpc.grpc.status_code", "rpc.response.status_code"),
	})
	x["LinksTraceId"], x["LinksSpanId"], x["LinksTraceState"], x["LinksAttributes"] = linkTraces, linkSpans, linkStates, linkAttrs
	r.tables["spans"] = append(r.tables["spans"], x)
}

// errorGroup adds the columns of the group of an error.
func (r *reference) errorGroup(x row, failed bool, attrs map[string]string, e errorgroup.Exception) {
	x["ErrorFingerprint"], x["ErrorFrame"], x["ErrorLabel"], x["ErrorVariant"] = uint64(0), "", "", ""
	if !failed {
		return
	}
	e.Org, e.Service = x["OrgId"].(string), x["ServiceName"].(string)
	e.Type, e.Message, e.Stack = attrs["exception.type"], attrs["exception.message"], attrs["exception.stacktrace"]
	g := errorgroup.Of(e)
	x["ErrorFingerprint"], x["ErrorFrame"], x["ErrorLabel"], x["ErrorVariant"] = g.Hash, g.Frame, g.Label, string(g.Variant)
}

func refStatus(m map[string]typed) uint16 {
	s := firstText(m, "http.status_code", "http.response.status_code")
	if !regexp.MustCompile(`^[0-9]{1,3}$`).MatchString(s) {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		panic(err)
	}
	return uint16(n)
}

func refMethod(m map[string]typed, name string) string {
	if s := firstText(m, "http.method", "http.request.method"); s != "" {
		return s
	}
	const methods = `(GET|HEAD|POST|PUT|DELETE|CONNECT|OPTIONS|TRACE|PATCH)`
	if g := regexp.MustCompile(`\A` + methods + ` /`).FindStringSubmatch(name); g != nil {
		return g[1]
	}
	if g := regexp.MustCompile(`\AHTTP ` + methods + `\z`).FindStringSubmatch(name); g != nil {
		return g[1]
	}
	return ""
}

func refRoute(m map[string]typed, client bool) string {
	path := func(s string) string { return regexp.MustCompile(`(?s)[?#].*`).ReplaceAllString(s, "") }
	if s := firstText(m, "http.route"); s != "" || !client {
		if s != "" {
			return s
		}
		return path(firstText(m, "http.target", "url.path"))
	}
	if u := firstText(m, "url.full", "http.url"); u != "" {
		if _, after, ok := strings.Cut(u, "://"); ok {
			u = after
		}
		u = path(u)
		host, rest, slash := strings.Cut(u, "/")
		host = host[strings.LastIndex(host, "@")+1:]
		if slash {
			host += "/" + rest
		}
		return host
	}
	host, p := firstText(m, "server.address", "net.peer.name"), path(firstText(m, "url.path", "http.target"))
	if host == "" || p == "" {
		return p
	}
	return host + p
}

func refRate(m map[string]typed, state string) float64 {
	if v, err := strconv.ParseFloat(m["SampleRate"].text, 64); err == nil && v >= 1 && v <= math.MaxFloat64 {
		return v
	}
	for member := range strings.SplitSeq(state, ",") {
		value, ok := strings.CutPrefix(strings.Trim(member, " \t"), "ot=")
		if !ok {
			continue
		}
		for f := range strings.SplitSeq(value, ";") {
			th, ok := strings.CutPrefix(f, "th:")
			if !ok {
				continue
			}
			if !regexp.MustCompile(`\A[0-9a-f]{1,16}\z`).MatchString(th) {
				return 1
			}
			t, err := strconv.ParseUint(th+strings.Repeat("0", 16-len(th)), 16, 64)
			if err != nil {
				panic(err)
			}
			dropped := new(big.Rat).SetFrac(new(big.Int).SetUint64(t), new(big.Int).Lsh(big.NewInt(1), 64))
			kept, _ := dropped.Sub(big.NewRat(1, 1), dropped).Float64()
			return 1 / max(kept, 1e-4)
		}
		return 1
	}
	return 1
}

func (r *reference) record(res *refResource, scope *commonpb.InstrumentationScope, l *logspb.LogRecord) {
	at := l.TimeUnixNano
	if at == 0 {
		at = l.ObservedTimeUnixNano
	}
	if at == 0 {
		at = uint64(r.stamp.ReceivedUnixNano)
	} else if r.outside(at, 30) {
		r.rejected++
		return
	}
	r.accepted++
	number := int32(l.SeverityNumber)
	if number < 0 || number > 24 {
		number = 0
	}
	severity := strings.ToUpper(strings.TrimSpace(l.SeverityText))
	if severity == "" && number > 0 {
		severity = strings.Fields("TRACE DEBUG INFO WARN ERROR FATAL")[(number-1)/4]
	}
	observed := r.stamp.ReceivedUnixNano
	if l.ObservedTimeUnixNano != 0 && !r.outside(l.ObservedTimeUnixNano, 30) {
		observed = int64(l.ObservedTimeUnixNano)
	}
	attrs := typedMap(l.Attributes)
	x := r.base(res, scope)
	x["Timestamp"], x["ObservedTimestamp"] = int64(at), observed
	x["TraceId"], x["SpanId"], x["Flags"] = hexID(l.TraceId, 16), hexID(l.SpanId, 8), l.Flags
	x["SeverityText"], x["SeverityNumber"], x["ServiceVersion"] = shortened(severity, 1024), uint8(number), res.version
	x["EventName"], x["Body"], x["LogAttributes"] = shortened(l.EventName, 1024), shortened(valueText(l.Body), 1<<20), texts(attrs)
	r.count(int64(at), "resource", res.own)
	r.count(int64(at), "log", attrs)
	_, failed := attrs["exception.type"]
	r.errorGroup(x, failed, texts(attrs), errorgroup.Exception{SpanName: x["EventName"].(string)})
	r.tables["logs"] = append(r.tables["logs"], x)
}

func (r *reference) metric(res *refResource, scope *commonpb.InstrumentationScope, m *metricspb.Metric) {
	m.Name, m.Description, m.Unit = shortened(m.Name, 1024), shortened(m.Description, 16<<10), shortened(m.Unit, 1024)
	temporality := func(t metricspb.AggregationTemporality) string {
		return within(int32(t), "Unspecified", "Delta", "Cumulative")
	}
	optional := func(v *float64) proto.Nullable[float64] {
		if v == nil {
			return proto.Nullable[float64]{}
		}
		return proto.NewNullable(*v)
	}
	switch d := m.Data.(type) {
	case *metricspb.Metric_Gauge:
		for _, p := range d.Gauge.GetDataPoints() {
			r.point(res, scope, m, "gauge", false, p, p.Exemplars, row{"Value": numberValue(p)})
		}
	case *metricspb.Metric_Sum:
		for _, p := range d.Sum.GetDataPoints() {
			r.point(res, scope, m, "sum", d.Sum.IsMonotonic, p, p.Exemplars, row{
				"Value": numberValue(p), "IsMonotonic": d.Sum.IsMonotonic, "AggregationTemporality": temporality(d.Sum.AggregationTemporality),
			})
		}
	case *metricspb.Metric_Histogram:
		for _, p := range d.Histogram.GetDataPoints() {
			r.point(res, scope, m, "histogram", false, p, p.Exemplars, row{
				"Count": p.Count, "Sum": optional(p.Sum), "Min": optional(p.Min), "Max": optional(p.Max), "BucketCounts": p.BucketCounts,
				"ExplicitBounds": p.ExplicitBounds, "AggregationTemporality": temporality(d.Histogram.AggregationTemporality),
			})
		}
	case *metricspb.Metric_ExponentialHistogram:
		for _, p := range d.ExponentialHistogram.GetDataPoints() {
			r.point(res, scope, m, "exponential_histogram", false, p, p.Exemplars, row{
				"Count": p.Count, "Sum": optional(p.Sum), "Min": optional(p.Min), "Max": optional(p.Max), "Scale": p.Scale,
				"ZeroCount": p.ZeroCount, "ZeroThreshold": p.ZeroThreshold,
				"PositiveOffset": p.GetPositive().GetOffset(), "PositiveBucketCounts": p.GetPositive().GetBucketCounts(),
				"NegativeOffset": p.GetNegative().GetOffset(), "NegativeBucketCounts": p.GetNegative().GetBucketCounts(),
				"AggregationTemporality": temporality(d.ExponentialHistogram.AggregationTemporality),
			})
		}
	case *metricspb.Metric_Summary:
		for _, p := range d.Summary.GetDataPoints() {
			var quantiles, values []float64
			for _, q := range p.QuantileValues {
				quantiles, values = append(quantiles, q.Quantile), append(values, q.Value)
			}
			r.point(res, scope, m, "summary", false, p, nil, row{
				"Count": p.Count, "Sum": p.Sum, "QuantilesQuantile": quantiles, "QuantilesValue": values,
			})
		}
	}
}

func numberValue(p *metricspb.NumberDataPoint) float64 {
	if v, ok := p.Value.(*metricspb.NumberDataPoint_AsInt); ok {
		return float64(v.AsInt)
	}
	return p.GetAsDouble()
}

type dataPoint interface {
	GetAttributes() []*commonpb.KeyValue
	GetStartTimeUnixNano() uint64
	GetTimeUnixNano() uint64
	GetFlags() uint32
}

// soundPoint checks the shape of a point against the OTLP data model.
func soundPoint(p dataPoint) bool {
	gap := p.GetFlags()&uint32(metricspb.DataPointFlags_DATA_POINT_FLAGS_NO_RECORDED_VALUE_MASK) != 0
	switch p := p.(type) {
	case *metricspb.NumberDataPoint:
		return p.Value != nil || gap
	case *metricspb.HistogramDataPoint:
		if len(p.BucketCounts) == 0 && gap {
			return true
		}
		shaped := len(p.BucketCounts) == 0 && len(p.ExplicitBounds) == 0 || len(p.BucketCounts)-len(p.ExplicitBounds) == 1
		increasing := slices.Compact(slices.Clone(p.ExplicitBounds))
		return shaped && !slices.ContainsFunc(increasing, math.IsNaN) && len(increasing) == len(p.ExplicitBounds) &&
			slices.IsSorted(p.ExplicitBounds)
	}
	return true
}

func (r *reference) point(
	res *refResource, scope *commonpb.InstrumentationScope, m *metricspb.Metric, typ string, monotonic bool,
	p dataPoint, exemplars []*metricspb.Exemplar, own row,
) {
	if m.Name == "" || !soundPoint(p) || p.GetTimeUnixNano() != 0 && r.outside(p.GetTimeUnixNano(), 90) {
		r.rejected++
		return
	}
	r.accepted++
	at, attrs := orElse(p.GetTimeUnixNano(), r.stamp.ReceivedUnixNano), typedMap(p.GetAttributes())
	x := r.base(res, scope)
	for k, v := range own {
		x[k] = v
	}
	x["MetricName"], x["MetricDescription"], x["MetricUnit"] = m.Name, m.Description, m.Unit
	x["StartTimestamp"], x["Timestamp"], x["Flags"], x["Attributes"] = orElse(p.GetStartTimeUnixNano(), 0), at, p.GetFlags(), texts(attrs)
	sum := func(m map[string]typed) (h uint64) {
		for k, v := range m {
			h += otlp.SeriesEntry([]byte(k), []byte(v.text))
		}
		return h
	}
	x["SeriesHash"] = otlp.SeriesHash([]byte(m.Name), sum(res.own), []byte(shortened(scope.GetName(), 1024)), sum(attrs))
	if typ != "summary" {
		var times []int64
		var values []float64
		var traces, spans []string
		var maps []map[string]string
		for _, e := range exemplars[:min(len(exemplars), 1024)] {
			v := e.GetAsDouble()
			if i, ok := e.Value.(*metricspb.Exemplar_AsInt); ok {
				v = float64(i.AsInt)
			}
			times, values = append(times, orElse(e.TimeUnixNano, at)), append(values, v)
			traces, spans = append(traces, hexID(e.TraceId, 16)), append(spans, hexID(e.SpanId, 8))
			maps = append(maps, texts(typedMap(e.FilteredAttributes)))
		}
		x["ExemplarsTimestamp"], x["ExemplarsValue"], x["ExemplarsTraceId"], x["ExemplarsSpanId"], x["ExemplarsAttributes"] = times, values,
			traces, spans, maps
	}
	r.count(at, "resource", res.own)
	r.count(at, "metric", attrs)
	r.tables["metrics_"+typ] = append(r.tables["metrics_"+typ], x)

	hour := at / 3600e9 * 3600e9
	key := [4]any{hour, m.Name, typ, res.service}
	c, ok := r.catalog[key]
	if !ok {
		c = row{
			"OrgId": string(r.stamp.Org), "Hour": hour, "MetricName": m.Name, "MetricType": typ, "ServiceName": res.service,
			"IsMonotonic": uint8(0), "DataPointCount": uint64(0), "FirstSeen": at, "LastSeen": at,
		}
		r.catalog[key] = c
	}
	c["MetricDescription"], c["MetricUnit"] = m.Description, m.Unit
	if monotonic {
		c["IsMonotonic"] = uint8(1)
	}
	c["DataPointCount"] = c["DataPointCount"].(uint64) + 1
	c["FirstSeen"], c["LastSeen"] = min(c["FirstSeen"].(int64), at), max(c["LastSeen"].(int64), at)
}
