package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/paging"
)

// charts are widgets that read telemetry: one that works, one whose queries are all switched off, and one whose statement names
// no column.
var charts = map[string]string{
	"w": `{"id":"w","visualization":"chart","data_source":{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"traces",
		"aggregation":"count"}]},"display":{},"layout":{"x":0,"y":0,"w":4,"h":4}}`,
	"off": `{"id":"off","visualization":"chart","data_source":{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","enabled":false,
		"data_source":"traces","aggregation":"count"}]},"display":{},"layout":{"x":0,"y":4,"w":4,"h":4}}`,
	"sql": `{"id":"sql","visualization":"table","data_source":{"kind":"raw_sql","display_type":"table","sql":"SELECT nothing FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp)"},"display":{},
		"layout":{"x":0,"y":8,"w":4,"h":4}}`,
}

// charts makes a dashboard of these widgets, with a variable `v`.
func (x *matrix) charts(t *testing.T) (id string) {
	t.Helper()
	return fmt.Sprint(x.client(t, x.mine).call("POST", "/v2/dashboards", `{"name":"Charts","widgets":[`+strings.Join(slices.Collect(maps.Values(charts)), ",")+`],
		"variables":[{"name":"v","type":"query","source":{"kind":"facet","facet":"service"}}]}`, 200)["id"])
}

// window is a window that ends now.
func window(length time.Duration) map[string]any {
	return map[string]any{"start_time": stamp(-length), "end_time": stamp(0)}
}

func stamp(from time.Duration) string { return time.Now().UTC().Add(from).Format(time.RFC3339) }

// with makes a provocation that gives fields other values; nil removes a field.
func with(fields map[string]any) provocation {
	return provocation{change: func(_ *operated, _ *testing.T, request map[string]any) {
		for name, value := range fields {
			request[name] = value
			if value == nil {
				delete(request, name)
			}
		}
	}}
}

const ever = 20 * 365 * 24 * time.Hour

// readProvocations are requests for telemetry that are refused before anything is read.
func readProvocations(m *contract.Method) (out []provocation) {
	if !m.ReadsTelemetry {
		return nil
	}
	if strings.HasPrefix(m.HTTP.Path, "/v2/dashboards/") {
		return chartProvocations(m)
	}
	has := func(name string) bool {
		return m.HTTP.Source(name) != contract.InPath && m.Descriptor.Input().Fields().ByName(protoreflect.Name(name)) != nil
	}
	if has("start_time") {
		out = append(out, with(map[string]any{"start_time": stamp(0), "end_time": stamp(-time.Hour)}), with(window(ever)),
			with(map[string]any{"start_time": stamp(-time.Hour), "end_time": nil}))
	}
	for _, name := range []string{"start_time", "timestamp"} {
		if has(name) && m.HTTP.Source(name) == contract.InQuery {
			out = append(out, set(name, "yesterday"))
		}
	}
	for _, name := range []string{"service_name", "deployment_environment"} {
		if has(name) {
			out = append(out, set(name, strings.Repeat("x", 5000)))
		}
	}
	if has("bucket_seconds") {
		fine := window(6 * 24 * time.Hour)
		fine["bucket_seconds"] = 60
		out = append(out, with(fine), set("bucket_seconds", 61), set("bucket_seconds", 1))
	}
	if has("where") {
		out = append(out, set("where", "x ==="))
	}
	if strings.HasSuffix(m.OperationID, "Breakdown") {
		wide := window(2 * 24 * time.Hour)
		wide["where"], wide["filters"] = nil, nil
		if !has("where") {
			delete(wide, "where")
			delete(wide, "filters")
			wide["queries"] = []any{map[string]any{"name": "A", "source": "traces", "aggregation": "count"}}
		}
		out = append(out, with(wide))
	}
	if has("queries") {
		out = append(out, set("queries", []any{map[string]any{"name": "A", "source": "traces", "aggregation": "count", "where": "x ==="}}))
	}
	switch m.OperationID {
	case "listSqlTables":
		out = append(out, set("table", "nobody"))
	case "runSql":
		out = append(out, set("sql", "SELECT nothing FROM spans"))
	case "searchLogs":
		place := paging.LogKey{Ascending: true, Timestamp: time.Unix(1, 0), Record: strings.Repeat("ab", 16), Copy: 1}
		out = append(out, with(map[string]any{"cursor": paging.FormatLog(place), "order": "desc"}))
	case "getLogContext":
		out = append(out, set("before", 101))
	case "searchSpans":
		place := paging.SpanPlace{
			Sort: paging.ByDuration, Start: time.Unix(1, 0), TraceID: strings.Repeat("ab", 16),
			SpanID: strings.Repeat("ab", 8),
		}
		out = append(out, with(map[string]any{"cursor": paging.FormatSpanPlace(place), "order_by": paging.ByStart}))
	case "getTraceSkeleton":
		out = append(out, set("max_spans", 0), set("cursor", "x"))
	case "searchProductEventFunnel":
		out = append(out, set("steps", []any{map[string]any{"kind": "event"}}))
	case "searchProductEventPaths":
		out = append(out, set("anchor", map[string]any{"kind": "event"}))
	case "searchProductEvents":
		out = append(out, set("filters", map[string]any{"session_id": "srep_0"}))
	case "searchSessionReplays", "searchSessionReplayFacets":
		out = append(out, with(map[string]any{"duration_min_ms": 5, "duration_max_ms": 1}))
	}
	return out
}

// chartProvocations are the provocations for the data of dashboards.
func chartProvocations(m *contract.Method) (out []provocation) {
	of := func(fields map[string]any) {
		if m.OperationID != "previewDashboardWidget" {
			if _, has := fields["id"]; !has {
				p := with(fields)
				change := p.change
				p.change = func(o *operated, t *testing.T, request map[string]any) {
					request["id"] = o.board
					change(o, t, request)
				}
				out = append(out, p)
				return
			}
		} else if id, has := fields["widget_id"]; has {
			delete(fields, "widget_id")
			fields["widget"] = json.RawMessage(charts[fmt.Sprint(id)])
		} else {
			fields["widget"] = json.RawMessage(charts["w"])
		}
		out = append(out, with(fields))
	}
	absolute := func(start, end string) map[string]any {
		return map[string]any{"type": "absolute", "start_time": start, "end_time": end}
	}
	of(map[string]any{"time_range": absolute("1950-01-01T00:00:00Z", stamp(0))})
	of(map[string]any{"time_range": absolute(stamp(-ever), stamp(0))})
	of(map[string]any{"time_range": absolute(stamp(0), stamp(-time.Hour))})
	if m.OperationID == "searchDashboardVariableOptions" {
		of(map[string]any{"variable": "nobody"})
		return out
	}
	of(map[string]any{"widget_id": "off"})
	of(map[string]any{"widget_id": "sql"})
	if m.OperationID != "previewDashboardWidget" {
		of(map[string]any{"widget_id": "nobody"})
	}
	return out
}
