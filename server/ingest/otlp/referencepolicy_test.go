package otlp_test

import (
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// policies applies the policies to a span. It returns the span's attributes, the part of the column SampleRate that does not come
// from them, and whether the span is stored.
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

// productEvent adds the row of the product event that a span creates, if it creates one.
func (r *reference) productEvent(res *refResource, at int64, attrs map[string]typed) {
	const prefix = "svc.product_event."
	name, named := attrs[prefix+"name"]
	screen := name.text == "$screen"
	if !named || r.stamp.NoProductEvents || len(name.text) < 1 || len(name.text) > 128 || name.text[0] == '$' && !screen {
		return
	}
	short := func(s string, limit int) string {
		if len(s) > limit {
			s = strings.ToValidUTF8(s[:limit], "")
		}
		return s
	}
	kept := map[string]string{}
	listed := map[string]bool{}
	for key := range strings.SplitSeq(attrs[prefix+"include"].text, ",") {
		if key = strings.TrimSpace(key); key != "" && len(listed) < 128 {
			listed[key] = true
		}
	}
	for key, v := range attrs {
		if listed[key] {
			kept[key] = v.text
		}
	}
	for key, v := range attrs {
		if property, ok := strings.CutPrefix(key, prefix+"prop."); ok {
			kept[property] = v.text
		}
	}
	dropped, n := 0, 0
	for _, key := range slices.Sorted(maps.Keys(kept)) {
		if key == "" || len(key) > 64 || n == 32 {
			delete(kept, key)
			dropped++
			continue
		}
		if n++; len(kept[key]) > 1024 {
			kept[key] = short(kept[key], 1021) + "…"
		}
	}
	if dropped > 0 {
		kept["svc_dropped_attributes_count"] = strconv.Itoa(dropped)
	}
	address, host, path := short(attrs[prefix+"url"].text, 2048), "", ""
	if u, err := url.Parse(address); err == nil {
		host, path = strings.ToLower(u.Hostname()), u.EscapedPath()
	}
	session := attrs["session.id"].text
	if session == "" {
		session = res.all["session.id"].text
	}
	r.events++
	r.tables["product_events"] = append(r.tables["product_events"], row{
		"OrgId": string(r.stamp.Org), "Name": name.text, "Timestamp": at, "Kind": map[bool]string{true: "screen", false: "custom"}[screen],
		"Source": "span", "VisitorId": short(attrs[prefix+"visitor_id"].text, 256), "UserId": short(attrs[prefix+"user_id"].text, 256),
		"GroupId": short(attrs[prefix+"group_id"].text, 256), "SessionId": short(session, 256), "ServiceName": short(res.service, 128),
		"Url": address, "Host": short(host, 256), "PagePath": short(path, 1024), "Attributes": kept, "ResourceAttributes": texts(res.all),
	})
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
