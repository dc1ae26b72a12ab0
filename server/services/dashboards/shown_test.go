package dashboards

import (
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/wirejson"
)

// TestShown: of a dashboard that uses every part, nothing of what is asked is shown, and all of what is drawn.
func TestShown(t *testing.T) {
	def := full(t)
	text, err := wirejson.Marshal(shown(def, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{
		"service.name", "whereClause", "where_clause", "aggregation", "SELECT", `"sql":`, `"queries"`, `"formulas"`, `"transform"`, `"params"`, "listWhereClause",
		"eventName", "pagePath", `"anchor"`, `"exclude"`, `"filters"`, "attributeKey", "k8s.pod.name", `"facet"`, "breakdownBy", `"steps"`, `"tags"`,
	} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%s is shown: %s", secret, text)
		}
	}
	for _, part := range []string{
		`"name":"Everything"`, `"startTime":"2026-01-01T00:00:00Z"`, `"refreshIntervalSeconds":60`, `"chartPresentation":{`, `"fillNulls":false`, `"softMax":2`, `"minW":2`,
		`"sectionId":"s"`, `"content":"# hi"`, `"colorOverrides":{"a":"red"}`, `"showStepPercent":true`, `"kind":"raw_sql"`, `"includeAll":true`, `"options":[{"label":"one","value":"1"}`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is missing in %s", part, text)
		}
	}

	one, err := wirejson.Marshal(shown(def, def.GetWidgets()[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"Everything", "# hi", `"sectionId"`, `"name":"c"`, `"title":"S"`} {
		if strings.Contains(string(one), other) {
			t.Errorf("the link to a widget shows %s of the dashboard: %s", other, one)
		}
	}
	if !strings.Contains(string(one), `"name":"service"`) || !strings.Contains(string(one), `"sections":[]`) {
		t.Errorf("the variable of the widget, or the empty sections, are missing: %s", one)
	}
}
