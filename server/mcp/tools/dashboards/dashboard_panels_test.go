package dashboards

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// TestPanels: panel types may be in the words of agents, and widgets get the fields that they lack.
func TestPanels(t *testing.T) {
	widgets, err := decodeWidgets("widgets", json.RawMessage(`[
		{"panel_type":"Area","data_source":{"kind":"static"}},
		{"id":"b","visualization":"bar","data_source":{"kind":"static"},"display":{"title":"B"}},
		{"visualization":"stat","data_source":{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"traces","aggregation":"count"}]}},
		{"visualization":"pie","data_source":{"kind":"query","result_shape":"breakdown","queries":[{"id":"a","name":"A","data_source":"traces","aggregation":"count"}]},"layout":{"x":0,"y":20,"w":12,"h":3}},
		{"visualization":"chart","data_source":{"kind":"static"}}
	]`))
	if err != nil {
		t.Fatal(err)
	}
	type place struct {
		id, panel, visualization string
		x, y                     float64
	}
	want := []place{
		{"w1", "area", "chart", 0, 0},
		{"b", "bar", "chart", 6, 0},
		{"w3", "stat", "stat", 0, 4},
		{"w4", "pie", "pie", 0, 20},
		{"w5", "line", "chart", 0, 23},
	}
	for i, x := range widgets {
		if got := (place{x.GetId(), panelOf(x), x.GetVisualization(), x.GetLayout().GetX(), x.GetLayout().GetY()}); got != want[i] {
			t.Errorf("widget %d is %+v, want %+v", i+1, got, want[i])
		}
	}
	if title := widgets[1].GetDisplay().GetTitle(); title != "B" {
		t.Errorf("the title is %q", title)
	}
	warned := renderWarnings(widgets...)
	if len(warned) != 2 || !strings.Contains(warned[0], "w3") || !strings.Contains(warned[0], "reduce_to_value") ||
		!strings.Contains(warned[1], "w4") || !strings.Contains(warned[1], "group_by") {
		t.Errorf("%q", warned)
	}
	if _, err := decodeWidgets("widgets", json.RawMessage(`[{"visualization":"line","data_source":{"kinds":"none"}}]`)); err == nil ||
		!strings.Contains(err.Error(), "widgets, widget 1") {
		t.Errorf("%v", err)
	}
	for _, panel := range allPanels() {
		if panel == "chart" || !slices.Contains(append(drawings(), panelTypes()...), panel) {
			t.Errorf("%s is no panel type", panel)
		}
	}
}

func TestChangedWidget(t *testing.T) {
	old, err := decodeWidgets("widgets", json.RawMessage(`[{"id":"a","visualization":"line","data_source":{"kind":"static"},"display":{"title":"Before"}}]`))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ args, panel, title string }{
		"chart_id":   {`{"chart_id":"query-builder-bar"}`, "bar", "Before"},
		"panel type": {`{"patch_json":{"panel_type":"area"}}`, "area", "Before"},
		"title":      {`{"patch":{"display":{"description":"x"}},"title":"After"}`, "line", "After"},
		"whole":      {`{"widget":"{\"visualization\":\"gauge\",\"data_source\":{\"kind\":\"static\"},\"display\":{},\"layout\":{\"x\":0,\"y\":0,\"w\":1,\"h\":1}}"}`, "gauge", ""},
	} {
		args := map[string]any{}
		if err := json.Unmarshal([]byte(tc.args), &args); err != nil {
			t.Fatal(err)
		}
		args["dashboard_id"], args["widget_id"] = "dash_x", "a"
		raw, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		a, err := tool.Read[updateDashboardWidgetArgs](string(raw), time.Now())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		x, err := changedWidget(old[0], a)
		if err != nil || x.GetId() != "a" || panelOf(x) != tc.panel || x.GetDisplay().GetTitle() != tc.title || len(a.Notes) > 0 {
			t.Errorf("%s: %v %v %q", name, x, err, a.Notes)
		}
	}
}

func TestWidgetSources(t *testing.T) {
	read := func(text string) (chosen string, source *svcv2.WidgetDataSource, err error) {
		a, err := tool.Read[addDashboardWidgetArgs](`{"dashboard_id":"dash_x",`+text+`}`, time.Now())
		if err != nil {
			return "", nil, err
		}
		if chosen, err = panel(a); err != nil {
			return chosen, nil, err
		}
		source, err = dataSource(a, chosen)
		return chosen, source, err
	}
	panel, source, err := read(`"panel_type":"AREA","sql":"SELECT 1","granularity_seconds":60`)
	if err != nil || panel != "area" || source.GetKind() != "raw_sql" || source.GetDisplayType() != "area" ||
		source.GetGranularitySeconds() != 60 {
		t.Errorf("%s %v %v", panel, source, err)
	}
	if panel, source, err = read(`"display_type":"table","sql":"SELECT 1"`); err != nil || panel != "table" ||
		source.GetDisplayType() != "table" {
		t.Errorf("%s %v %v", panel, source, err)
	}
	if panel, source, err = read(`"visualization":"chart","data_source":{"kind":"static"}`); err != nil || panel != "chart" ||
		source.GetKind() != "static" {
		t.Errorf("%s %v %v", panel, source, err)
	}
	if _, source, err = read(`"panel_type":"markdown"`); err != nil || source.GetKind() != "static" {
		t.Errorf("%v %v", source, err)
	}
	for text, parameter := range map[string]string{
		`"sql":"SELECT 1"`: "panel_type", `"visualization":"cube"`: "visualization", `"panel_type":"line"`: "data_source_json",
		`"panel_type":"line","sql":"SELECT 1","data_source_json":{"kind":"static"}`: "sql",
		`"panel_type":"line","sql":"SELECT 1","display_type":"cube"`:                "display_type",
	} {
		_, _, err := read(text)
		if e, ok := err.(*tool.InputError); !ok || e.Parameter != parameter { //nolint:errorlint // made here
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTimeRangeText(t *testing.T) {
	p := timeRangeJSON(nil)
	for text, want := range map[string]string{"6h": "6h", "now-7d": "7d", "last 12 h": "12h", "-1mo": "1mo"} {
		if got, ok := p.Short(text); !ok || !strings.Contains(string(got), `"value":"`+want+`"`) {
			t.Errorf("%q is %s", text, got)
		}
	}
	if _, ok := p.Short("yesterday"); ok {
		t.Error("any text is taken")
	}
}
