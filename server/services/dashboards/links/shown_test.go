package links

import (
	"os"
	"strings"
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/services/dashboards/definition"
	"github.com/svc-observability/svc/server/wirejson"
)

// everything is a definition that uses each part.
func everything(t *testing.T) *svcv2.DashboardDefinition {
	t.Helper()
	text, err := os.ReadFile("../definition/testdata/everything.json")
	if err != nil {
		t.Fatal(err)
	}
	def, err := definition.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return def
}

// TestShown checks a dashboard that uses every part: the link shows everything that is drawn, and nothing of the queries.
func TestShown(t *testing.T) {
	def := everything(t)
	text, err := wirejson.Marshal(shown(def, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{
		"service.name", "where_clause", "aggregation", "SELECT", `"sql":`, `"queries"`, `"formulas"`, `"transform"`, `"params"`,
		"list_where_clause",
		"event_name", "page_path", `"anchor":{`, `"exclude"`, `"filters"`, "attribute_key", "k8s.pod.name", `"facet"`, "breakdown_by", `"steps"`,
		`"tags"`,
	} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is shown: %s", secret, text)
		}
	}
	for _, part := range []string{
		`"name":"Everything"`, `"start_time":"2026-01-01T00:00:00Z"`, `"refresh_interval_seconds":60`, `"chart_presentation":{`,
		`"fill_nulls":false`, `"soft_max":2`, `"min_w":2`,
		`"section_id":"s"`, `"content":"# hi"`, `"color_overrides":{"a":"red"}`, `"show_step_percent":true`, `"kind":"raw_sql"`,
		`"include_all":true`, `"options":[{"value":"1","label":"one"}`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is missing in %s", part, text)
		}
	}

	one, err := wirejson.Marshal(shown(def, def.GetWidgets()[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"Everything", "# hi", `"section_id"`, `"name":"c"`, `"title":"S"`} {
		if strings.Contains(string(one), other) {
			t.Errorf("the link to a widget shows %s of the dashboard: %s", other, one)
		}
	}
	if !strings.Contains(string(one), `"name":"service"`) || !strings.Contains(string(one), `"sections":[]`) {
		t.Errorf("the variable of the widget, or the empty sections, are missing: %s", one)
	}
}
