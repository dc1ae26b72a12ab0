package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/testkit"
)

// TestLengthsAreInCharacters sends texts of queries that have the largest number of characters and one more. The answer must not
// depend on the bytes of a character: "s" has one, "ä" has two, "𝄞" has four.
func TestLengthsAreInCharacters(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Lengths")
	c := restClient{t, s, s.APIKey}
	now := time.Now().UTC()
	window := fmt.Sprintf(`"start_time":%q,"end_time":%q`, now.Add(-time.Hour).Format(time.RFC3339), now.Format(time.RFC3339))
	const widget = `{"id":"w","visualization":"chart","data_source":{"kind":"query","result_shape":"timeseries","queries":[` +
		`{"id":"a","name":"A","data_source":"logs","aggregation":"count","where_clause":"body = $v"}]},"display":{},"layout":{"x":0,"y":0,"w":3,"h":4}}`
	made := c.call("POST", "/v2/dashboards", `{"name":"Lengths","widgets":[`+widget+`],"variables":[{"name":"v","type":"textbox"}]}`, 200)
	// filter is a filter of n characters whose values are made of the letter.
	filter := func(letter string, n int) string {
		const joint, value = ` OR `, 900
		condition := `body = \"` + strings.Repeat(letter, value) + `\"`
		written := len(`body = ""`) + value
		parts := []string{condition}
		for length := written; length+len(joint)+written <= n; length += len(joint) + written {
			parts = append(parts, condition)
		}
		text := strings.Join(parts, joint)
		return text + strings.Repeat(" ", n-len(parts)*(written+len(joint))+len(joint))
	}
	attribute := func(scope, key, value string) string {
		return `{` + window + `,"filters":{"` + scope + `":[{"key":"` + key + `","operator":"equals","value":"` + value + `"}]}}`
	}
	spec := func(more string) string {
		return `{` + window + `,"queries":[{"name":"A","source":"logs","aggregation":"count"` + more + `}]}`
	}
	for name, of := range map[string]struct {
		path  string
		limit int
		body  func(letter string, n int) string
	}{
		"where": {"/v2/logs/timeseries", limits.WhereText, func(letter string, n int) string {
			return `{` + window + `,"aggregation":"count","where":"` + filter(letter, n) + `"}`
		}},
		"value in where": {"/v2/logs/timeseries", limits.FilterValue, func(letter string, n int) string {
			return `{` + window + `,"aggregation":"count","where":"body = \"` + strings.Repeat(letter, n) + `\""}`
		}},
		"key in where": {"/v2/logs/timeseries", limits.FieldKey, func(letter string, n int) string {
			return `{` + window + `,"aggregation":"count","where":"attributes.` + strings.Repeat(letter, n) + ` = x"}`
		}},
		"attribute key":   {"/v2/logs/search", limits.FieldKey, func(letter string, n int) string { return attribute("attributes", strings.Repeat(letter, n), "x") }},
		"attribute value": {"/v2/logs/search", limits.FilterValue, func(letter string, n int) string { return attribute("attributes", "k", strings.Repeat(letter, n)) }},
		"resource attribute key": {"/v2/logs/search", limits.FieldKey, func(letter string, n int) string {
			return attribute("resource_attributes", strings.Repeat(letter, n), "x")
		}},
		"body_search": {"/v2/logs/search", limits.SearchText, func(letter string, n int) string {
			return `{` + window + `,"filters":{"body_search":"` + strings.Repeat(letter, n) + `"}}`
		}},
		"service_name of logs": {"/v2/logs/search", limits.FilterValue, func(letter string, n int) string {
			return `{` + window + `,"filters":{"service_name":"` + strings.Repeat(letter, n) + `"}}`
		}},
		"group key": {"/v2/query/timeseries", limits.FieldKey, func(letter string, n int) string {
			return spec(`,"group_by":["attr.` + strings.Repeat(letter, n) + `"]`)
		}},
		"value of a query": {"/v2/query/timeseries", limits.FilterValue, func(letter string, n int) string {
			return spec(`,"filter":{"field":"body","operator":"=","value":"` + strings.Repeat(letter, n) + `"}`)
		}},
		"attribute_equals": {"/v2/product_events/funnels/search", limits.FieldKey, func(letter string, n int) string {
			return `{` + window + `,"steps":[{"kind":"event","event_name":"a","attribute_equals":{"` + strings.Repeat(letter, n) + `":"x"}},{"kind":"event","event_name":"b"}]}`
		}},
		"variable value": {"/v2/dashboards/" + fmt.Sprint(made["id"]) + "/widgets/w/data/search", limits.VariableValue, func(letter string, n int) string {
			return `{"variable_values":{"v":"` + strings.Repeat(letter, n) + `"}}`
		}},
	} {
		for _, letter := range []string{"s", "ä", "𝄞"} {
			for n, want := range map[int]int{of.limit: http.StatusOK, of.limit + 1: http.StatusBadRequest} {
				status, answer := c.try("POST", of.path, of.body(letter, n))
				if status != want {
					t.Errorf("%s of %d times %q: %d, want %d: %.300s", name, n, letter, status, want, answer)
				}
				if strings.Contains(answer, " bytes") {
					t.Errorf("%s of %d times %q: the message counts bytes: %.300s", name, n, letter, answer)
				}
			}
		}
	}
}
