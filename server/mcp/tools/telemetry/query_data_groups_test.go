package telemetry

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

// figures answers breakdowns with one row and the rest, and the environments with two names.
type figures struct {
	svcv2.QueryServiceClient
	asked []string
}

func (f *figures) QueryBreakdown(
	_ context.Context, req *svcv2.QueryBreakdownRequest, _ ...grpc.CallOption,
) (*svcv2.QueryBreakdownResponse, error) {
	spec := req.GetQueries()[0]
	row := func(value float64, group ...string) *svcv2.QueryRow {
		return &svcv2.QueryRow{Name: strings.Join(group, ", "), Group: group, Values: []*svcv2.QueryCell{{Value: &value}}}
	}
	if slices.Equal(spec.GetGroupBy(), []string{"deployment.environment"}) {
		return &svcv2.QueryBreakdownResponse{Data: []*svcv2.QueryRow{row(9, "production"), row(1, "staging"), row(1, "")}}, nil
	}
	if req.GetQueries()[0].GetName() != "A" { // a look-up of names
		return &svcv2.QueryBreakdownResponse{}, nil
	}
	group := []string{"search", "", "GET"}[:len(spec.GetGroupBy())]
	f.asked = spec.GetGroupBy()
	other := row(1)
	other.Other = true
	return &svcv2.QueryBreakdownResponse{Columns: []*svcv2.QueryColumn{{Unit: "ms"}}, Data: []*svcv2.QueryRow{row(7, group...), other}}, nil
}

// TestQueryDataGroups: several keys have a column each, and an attribute is named by its key.
func TestQueryDataGroups(t *testing.T) {
	for args, want := range map[string]struct {
		fields []string
		head   string
		row    string
	}{
		`"group_by":"service"`: {[]string{"service.name"}, "| service | p95_duration (ms) |", "| search | 7 |"},
		`"group_by":["service","attribute"],"attribute_key":"db.operation.name"`: {
			[]string{"service.name", "attr.db.operation.name"}, "| service | db.operation.name | p95_duration (ms) |", "| search | (none) | 7 |",
		},
		`"group_by":"attribute","attribute_key":"http.route"`: {
			[]string{"attr.http.route"}, "| http.route | p95_duration (ms) |", "| search | 7 |",
		},
		`"group_by":"service,resource.pod,attr.http.method"`: {
			[]string{"service.name", "resource.pod", "attr.http.method"},
			"| service | resource.pod | attr.http.method | p95_duration (ms) |", "| search | (none) | GET | 7 |",
		},
		`"group_by":"none"`: {nil, "| all | p95_duration (ms) |", "| 7 |"},
	} {
		client := &figures{}
		made, err := newQueryData(&tool.Clients{Query: client})
		if err != nil {
			t.Fatal(err)
		}
		raw := `{"source":"traces","kind":"breakdown","metric":"p95_duration",` + args + `}`
		out, err := made.Call(t.Context(), json.RawMessage(raw), tooltest.Now())
		if err != nil {
			t.Fatalf("%s: %v", args, err)
		}
		shown := out.Text.Render("Query")
		if !slices.Equal(client.asked, want.fields) || !strings.Contains(shown, want.head) || !strings.Contains(shown, want.row) {
			t.Errorf("%s: %v\n%s", args, client.asked, shown)
		}
		if !slices.ContainsFunc(out.Text.Notes, func(n string) bool { return strings.Contains(n, "mix the environments production, staging") }) {
			t.Errorf("%s does not name the environments: %q", args, out.Text.Notes)
		}
		if res, ok := out.Data.(*dataResult); !ok || !strings.Contains(res.Counted, "all spans") || len(res.Environments) != 2 {
			t.Errorf("%s: %+v", args, out.Data)
		}
	}
}

func TestQueryDataSaysWhatItCounts(t *testing.T) {
	for args, want := range map[string]string{
		`"source":"traces"`:                        "all spans, not only entry spans, corrected for sampling",
		`"source":"traces","root_spans_only":true`: "root spans, corrected for sampling",
		`"source":"logs"`:                          "records as received",
		`"source":"metrics","metric_name":"m"`:     "data points as received",
		`"source":"product_events"`:                "events as received",
	} {
		a, err := tool.Read[queryDataArgs](`{"kind":"breakdown",`+args+`}`, tooltest.Now())
		if err != nil {
			t.Fatal(err)
		}
		if _, res, err := spec(a, tool.TimeRange{}); err != nil || res.Counted != want {
			t.Errorf("%s: %+v, %v", args, res, err)
		}
	}
}
