package e2e

import (
	"encoding/json"
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
			return `{` + window + `,"aggregation":"count","where":` + jsonText(longFilter(letter, n)) + `}`
		}},
		"value in where": {"/v2/logs/timeseries", limits.FilterValue, func(letter string, n int) string {
			return `{` + window + `,"aggregation":"count","where":"body = \"` + strings.Repeat(letter, n) + `\""}`
		}},
		"key in where": {"/v2/logs/timeseries", limits.FieldKey, func(letter string, n int) string {
			return `{` + window + `,"aggregation":"count","where":"attributes.` + strings.Repeat(letter, n) + ` = x"}`
		}},
		"attribute key": {"/v2/logs/search", limits.FieldKey, func(letter string, n int) string {
			return attribute("attributes", strings.Repeat(letter, n), "x")
		}},
		"attribute value": {
			"/v2/logs/search", limits.FilterValue,
			func(letter string, n int) string { return attribute("attributes", "k", strings.Repeat(letter, n)) },
		},
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
			return `{` + window + `,"steps":[{"kind":"event","event_name":"a","attribute_equals":{"` + strings.Repeat(letter, n) +
				`":"x"}},{"kind":"event","event_name":"b"}]}`
		}},
		"variable value": {
			"/v2/dashboards/" + fmt.Sprint(made["id"]) + "/widgets/w/data/search", limits.VariableValue,
			func(letter string, n int) string {
				return `{"variable_values":{"v":"` + strings.Repeat(letter, n) + `"}}`
			},
		},
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

// longFilter is a filter of n characters whose values are made of the letter.
func longFilter(letter string, n int) string {
	const joint, value = ` OR `, 900
	condition := `body = "` + strings.Repeat(letter, value) + `"`
	written := len(`body = ""`) + value
	parts := []string{condition}
	for length := written; length+len(joint)+written <= n; length += len(joint) + written {
		parts = append(parts, condition)
	}
	text := strings.Join(parts, joint)
	return text + strings.Repeat(" ", n-len(parts)*(written+len(joint))+len(joint))
}

func jsonText(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

// TestLengthsOfDashboards makes dashboards with texts of the largest number of characters and of one more, through REST, Connect and
// MCP. A filter that the reads of logs accept can be saved.
func TestLengthsOfDashboards(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Lengths of dashboards")
	m := operation(t, "createDashboard")
	doors := map[string]func(request string) answer{
		"REST":    func(request string) answer { return callREST(t, s, s.APIKey, m, json.RawMessage(request)) },
		"Connect": func(request string) answer { return callConnect(t, s, s.APIKey, m, json.RawMessage(request)) },
		"MCP": func(request string) answer {
			var given struct {
				Name string `json:"name"`
			}
			if err := json.Unmarshal([]byte(request), &given); err != nil {
				t.Fatal(err)
			}
			return callTool(t.Context(), t, s, s.APIKey, "create_dashboard", map[string]any{
				"name": given.Name, "dashboard_json": json.RawMessage(request), "validate": false,
			})
		},
	}
	const layout = `"layout":{"x":0,"y":0,"w":3,"h":4}`
	chart := func(query string) string {
		return `{"name":"n","widgets":[{"id":"w","visualization":"chart","data_source":{"kind":"query","result_shape":"timeseries","queries":[` +
			`{"id":"a","name":"A","data_source":"logs","aggregation":"count",` + query + `}]},"display":{},` + layout + `}]}`
	}
	for name, of := range map[string]struct {
		limit int
		body  func(letter string, n int) string
	}{
		"name": {limits.DashboardName, func(letter string, n int) string { return `{"name":"` + strings.Repeat(letter, n) + `","widgets":[]}` }},
		"description": {limits.DashboardText, func(letter string, n int) string {
			return `{"name":"n","description":"` + strings.Repeat(letter, n) + `","widgets":[]}`
		}},
		"where_clause": {limits.WhereText, func(letter string, n int) string {
			return chart(`"where_clause":` + jsonText(longFilter(letter, n)))
		}},
		"where_clause of a query that is switched off": {limits.WhereText, func(letter string, n int) string {
			return chart(`"enabled":false,"where_clause":` + jsonText(longFilter(letter, n)))
		}},
		"markdown": {limits.DashboardMarkdown, func(letter string, n int) string {
			return `{"name":"n","widgets":[{"id":"w","visualization":"markdown","data_source":{"kind":"static"},"display":{"markdown":{"content":"` +
				strings.Repeat(letter, n) + `"}},` + layout + `}]}`
		}},
	} {
		for door, call := range doors {
			for _, letter := range []string{"s", "ä", "𝄞"} {
				if out := call(of.body(letter, of.limit)); out.err != nil {
					t.Errorf("%s of %d times %q over %s: %+v", name, of.limit, letter, door, out.err)
				}
				if out := call(of.body(letter, of.limit+1)); out.err == nil || strings.Contains(out.err.Message, " bytes") {
					t.Errorf("%s of %d times %q over %s: %+v", name, of.limit+1, letter, door, out.err)
				}
			}
		}
	}
}
