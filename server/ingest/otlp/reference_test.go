package otlp_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// The reference is a second implementation of the walk: proto.Unmarshal, then plain Go over the message structs. It shares only
// the primitives of the series hash with the walk.

type row = map[string]any

type reference struct {
	stamp              *otlp.Stamp
	signal             string
	tables             map[string][]row
	keys               map[[4]any]uint64
	catalog            map[[4]any]row
	accepted, rejected int
	sampled, events    int
}

func newReference(stamp *otlp.Stamp) *reference {
	return &reference{stamp: stamp, tables: map[string][]row{}, keys: map[[4]any]uint64{}, catalog: map[[4]any]row{}}
}

// run fills the tables. It reports false if proto.Unmarshal refuses the body.
func (r *reference) run(signal otlp.Signal, body []byte) bool {
	m := newRequest(signal)
	if proto.Unmarshal(body, m) != nil {
		return false
	}
	r.signal = signal.String()
	switch m := m.(type) {
	case *coltracepb.ExportTraceServiceRequest:
		for _, rs := range m.ResourceSpans {
			res := r.resource(rs.Resource)
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					r.span(res, ss.Scope, s)
				}
			}
		}
	case *collogspb.ExportLogsServiceRequest:
		for _, rl := range m.ResourceLogs {
			res := r.resource(rl.Resource)
			for _, sl := range rl.ScopeLogs {
				for _, l := range sl.LogRecords {
					r.record(res, sl.Scope, l)
				}
			}
		}
	case *colmetricspb.ExportMetricsServiceRequest:
		for _, rm := range m.ResourceMetrics {
			res := r.resource(rm.Resource)
			for _, sm := range rm.ScopeMetrics {
				for _, mt := range sm.Metrics {
					r.metric(res, sm.Scope, mt)
				}
			}
		}
	}
	return true
}

type typed struct{ text, typ string }

func typedMap(kvs []*commonpb.KeyValue) map[string]typed {
	m := map[string]typed{}
	for _, kv := range kvs[:min(len(kvs), 1024)] {
		m[shortened(kv.GetKey(), 1024)] = typed{shortened(valueText(kv.GetValue()), 64<<10), valueType(kv.GetValue())}
	}
	return m
}

// shortened returns s, or as many of its characters as fit in limit bytes together with a mark.
func shortened(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const mark = "…[cut]"
	return strings.ToValidUTF8(s[:limit-len(mark)], "") + mark
}

func texts(m map[string]typed) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = v.text
	}
	return out
}

func valueType(v *commonpb.AnyValue) string {
	switch v.GetValue().(type) {
	case *commonpb.AnyValue_IntValue:
		return "int"
	case *commonpb.AnyValue_DoubleValue:
		return "double"
	case *commonpb.AnyValue_BoolValue:
		return "bool"
	case *commonpb.AnyValue_BytesValue:
		return "bytes"
	case *commonpb.AnyValue_ArrayValue:
		return "array"
	case *commonpb.AnyValue_KvlistValue:
		return "kvlist"
	default:
		return "string"
	}
}

func valueText(v *commonpb.AnyValue) string {
	switch x := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return x.StringValue
	case *commonpb.AnyValue_BytesValue:
		return hex.EncodeToString(x.BytesValue)
	case *commonpb.AnyValue_DoubleValue:
		return doubleText(x.DoubleValue)
	case nil, *commonpb.AnyValue_StringValueStrindex:
		return ""
	default:
		return valueJSON(v, 1)
	}
}

func doubleText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case f > math.MaxFloat64:
		return "Infinity"
	case f < -math.MaxFloat64:
		return "-Infinity"
	}
	if a := math.Abs(f); a == 0 || a >= 1e-6 && a < 1e21 {
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}

func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	// encoding/json also escapes two line separators, because of JavaScript.
	out := strings.TrimSuffix(b.String(), "\n")
	if strings.ContainsAny(s, "\u2028\u2029") {
		out = strings.NewReplacer(`\\`, `\\`, `\u2028`, "\u2028", `\u2029`, "\u2029").Replace(out)
	}
	return out
}

func valueJSON(v *commonpb.AnyValue, level int) string {
	var parts []string
	switch x := v.GetValue().(type) {
	case nil:
		return "null"
	case *commonpb.AnyValue_StringValue:
		return quote(x.StringValue)
	case *commonpb.AnyValue_StringValueStrindex:
		return `""`
	case *commonpb.AnyValue_BoolValue:
		return strconv.FormatBool(x.BoolValue)
	case *commonpb.AnyValue_IntValue:
		return strconv.FormatInt(x.IntValue, 10)
	case *commonpb.AnyValue_DoubleValue:
		if math.IsNaN(x.DoubleValue) || math.IsInf(x.DoubleValue, 0) {
			return quote(doubleText(x.DoubleValue))
		}
		return doubleText(x.DoubleValue)
	case *commonpb.AnyValue_BytesValue:
		return quote(hex.EncodeToString(x.BytesValue))
	case *commonpb.AnyValue_ArrayValue:
		if level > 64 {
			return quote("[nested too deep]")
		}
		for _, e := range x.ArrayValue.GetValues() {
			parts = append(parts, valueJSON(e, level+1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *commonpb.AnyValue_KvlistValue:
		if level > 64 {
			return quote("[nested too deep]")
		}
		for _, e := range x.KvlistValue.GetValues() {
			parts = append(parts, quote(e.GetKey())+":"+valueJSON(e.GetValue(), level+1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	panic("unknown value")
}

type refResource struct {
	own, all                         map[string]typed
	service, namespace, version, env string
}

func firstText(m map[string]typed, keys ...string) string {
	for _, k := range keys {
		if m[k].text != "" {
			return m[k].text
		}
	}
	return ""
}

func (r *reference) resource(res *resourcepb.Resource) *refResource {
	own := typedMap(res.GetAttributes())
	for k := range own {
		if k == "org_id" || strings.HasPrefix(k, "svc_") {
			delete(own, k)
		}
	}
	sent := maps.Clone(own)
	always := map[string]typed{}
	for _, a := range r.stamp.Attributes {
		if !a.IfMissing {
			always[a.Key] = typed{a.Value, "string"}
		}
		if _, there := own[a.Key]; !there || !a.IfMissing {
			own[a.Key] = typed{a.Value, "string"}
		}
	}
	out := &refResource{
		own: own, all: map[string]typed{}, service: firstText(own, "service.name"), namespace: firstText(own, "service.namespace"),
		version: firstText(own, "service.version"),
	}
	const old, name = "deployment.environment", "deployment.environment.name"
	out.env = cmp.Or(firstText(sent, old, name), firstText(own, old, name))
	_, oldSet := always[old]
	if _, nameSet := always[name]; oldSet || nameSet {
		out.env = firstText(always, old, name)
	}
	if out.service == "" {
		out.service = "unknown_service"
	}
	for k, v := range own {
		out.all[k] = v
	}
	out.all["svc_org_id"] = typed{string(r.stamp.Org), "string"}
	out.all["svc_ingest_key_type"] = typed{r.stamp.KeyType, "string"}
	out.all["svc_ingest_source"] = typed{"svc-ingest-gateway", "string"}
	if r.stamp.KeyID != "" {
		out.all["svc_ingest_key_id"] = typed{r.stamp.KeyID, "string"}
	}
	return out
}

func (r *reference) count(at int64, scope string, m map[string]typed) {
	for k, v := range m {
		r.keys[[4]any{at / 3600e9 * 3600e9, scope, k, v.typ}]++
	}
}

func (r *reference) base(res *refResource, scope *commonpb.InstrumentationScope) row {
	return row{
		"OrgId": string(r.stamp.Org), "ServiceName": res.service, "ServiceNamespace": res.namespace, "Environment": res.env,
		"ScopeName": shortened(scope.GetName(), 1024), "ScopeVersion": shortened(scope.GetVersion(), 1024),
		"ScopeAttributes": texts(typedMap(scope.GetAttributes())), "ResourceAttributes": texts(res.all),
	}
}

func (r *reference) outside(t uint64, days int64) bool {
	const day = 24 * 3600 * int64(1e9)
	return t > math.MaxInt64 || int64(t) < r.stamp.ReceivedUnixNano-days*day || int64(t) > r.stamp.ReceivedUnixNano+day
}

func hexID(id []byte, size int) string {
	if len(id) != size || bytes.Equal(id, make([]byte, size)) {
		return ""
	}
	return hex.EncodeToString(id)
}

func within(v int32, names ...string) string {
	if v < 0 || int(v) >= len(names) {
		return names[0]
	}
	return names[v]
}

// orElse returns t, or other if t is unset or beyond the range of the column.
func orElse(t uint64, other int64) int64 {
	if t == 0 || t > math.MaxInt64 {
		return other
	}
	return int64(t)
}

// rollups returns the rows of the two aggregated tables, in no particular order.
func (r *reference) rollups() (keys, catalog []row) {
	for k, n := range r.keys {
		keys = append(keys, row{
			"OrgId": string(r.stamp.Org), "Hour": k[0], "Signal": r.signal, "Scope": k[1], "Key": k[2], "ValueType": k[3], "UsageCount": n,
		})
	}
	for _, c := range r.catalog {
		catalog = append(catalog, c)
	}
	return keys, catalog
}

func sortRows(rows []row) []row {
	type printed struct { // Print each value only once: with the race detector, printing takes longer than everything else.
		text string
		row  row
	}
	all := make([]printed, len(rows))
	for i, r := range rows {
		all[i] = printed{fmt.Sprint(r), r}
	}
	slices.SortFunc(all, func(a, b printed) int { return strings.Compare(a.text, b.text) })
	for i, p := range all {
		rows[i] = p.row
	}
	return rows
}
