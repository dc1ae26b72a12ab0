package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/testkit"
)

// object is a field of an answer that is an object.
func object(m map[string]any, name string) map[string]any {
	out, _ := m[name].(map[string]any)
	return out
}

func list(m map[string]any, name string) []any {
	out, _ := m[name].([]any)
	return out
}

const countWidget = `{"id":"count","visualization":"stat","data_source":{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"traces","aggregation":"count","where_clause":"service.name = $service"}]},"display":{},"layout":{"x":0,"y":0,"w":3,"h":4}}`

const refusedWidget = `{"id":"refused","visualization":"table","data_source":{"kind":"raw_sql","sql":"SELECT Nothing FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp)"},"display":{},"layout":{"x":3,"y":0,"w":3,"h":4}}`

// TestDashboardData reads the data of a stored widget, a preview, the values of a variable and an inspection through REST. Other
// organizations must get none of it.
func TestDashboardData(t *testing.T) {
	t.Parallel()
	mine, theirs := testkit.Shared(t).NewOrganization(t, "Data mine"), testkit.Shared(t).NewOrganization(t, "Data theirs")
	seedTelemetry(t, mine)
	c, other := restClient{t, mine, mine.APIKey}, restClient{t, theirs, theirs.APIKey}
	made := c.call("POST", "/v2/dashboards", `{"name":"Data","variables":[{"name":"service","type":"query","include_all":true,"source":{"kind":"facet","facet":"service"}}],
		"time_range":{"type":"relative","value":"1h"},"widgets":[`+countWidget+`,`+refusedWidget+`]}`, 200)
	board := "/v2/dashboards/" + fmt.Sprint(made["id"])
	data := board + "/widgets/count/data/search"
	of := func(body string) any { return object(c.call("POST", data, body, 200), "value")["value"] }
	all := of(`{}`)
	if n, _ := all.(float64); n < 1 || of(`{"variable_values":{"service":"__all"}}`) != all ||
		of(`{"variable_values":{"service":"checkout"}}`) == float64(0) ||
		of(`{"variable_values":{"service":"x\" OR service.name != \""}}`) != float64(0) {
		t.Errorf("values: %v, of checkout %v", all, of(`{"variable_values":{"service":"checkout"}}`))
	}
	preview := c.call("POST", "/v2/dashboards/widgets/preview",
		`{"widget":`+strings.ReplaceAll(countWidget, "$service", "checkout")+`,"time_range":{"type":"relative","value":"1h"}}`, 200)
	if got := object(preview, "value")["value"]; got != of(`{"variable_values":{"service":"checkout"}}`) ||
		preview["range_source"] != "override" {
		t.Errorf("preview: %v", preview)
	}
	bad := c.call("POST", "/v2/dashboards/widgets/preview", `{"widget":`+strings.Replace(countWidget, `"result_shape":"timeseries",`, "", 1)+
		`}`, 400)
	if got := object(bad, "error")["param"]; got != "widget.data_source.result_shape" {
		t.Errorf("a bad preview: %v", bad)
	}
	options := c.call("POST", board+"/variables/service/options/search", `{}`, 200)
	if !strings.Contains(fmt.Sprint(options["data"]), "checkout") || options["has_more"] != false {
		t.Errorf("options: %v", options)
	}
	if got := c.call("POST", board+"/widgets/count/inspection/search", `{}`, 200); got["outcome"] != "inspected" ||
		got["verdict"] == "broken" || got["dashboard_name"] != "Data" || !strings.Contains(fmt.Sprint(got["queries"]), "name:A") {
		t.Errorf("inspection: %v", got)
	}
	if got := c.call("POST", board+"/widgets/refused/inspection/search", `{}`, 200); got["outcome"] != "raw_sql" ||
		got["verdict"] != "broken" || !strings.Contains(fmt.Sprint(got["refusal"]), "Nothing") || got["range_source"] != "dashboard" {
		t.Errorf("inspection of what is refused: %v", got)
	}
	if got := c.call("POST", board+"/widgets/count/inspection/search", `{"variable_values":{"service":"nobody"}}`,
		200); got["verdict"] != "broken" || fmt.Sprint(got["flags"]) != "[BUILDER_WARNINGS EMPTY]" {
		t.Errorf("inspection of nothing: %v", got)
	}
	for path, tag := range map[string]string{
		board + "/widgets/nope/data/search":      "DashboardWidgetNotFoundError",
		board + "/variables/nope/options/search": "DashboardVariableNotFoundError",
	} {
		if got := tagOf(c.call("POST", path, `{}`, 404)); got != "@svc/http/errors/"+tag {
			t.Errorf("%s: %v", path, got)
		}
	}
	for body, tag := range map[string]string{
		`{"variable_values":{"nope":"x"}}`:                         "errors/DashboardValidationError",
		`{"time_range":{"type":"relative","value":"99d"}}`:         "v2/TelemetryRangeTooLargeError",
		`{"time_range":{"type":"relative","value":"1 fortnight"}}`: "errors/DashboardValidationError",
		`{"time_range":{"type":"absolute"}}`:                       "errors/DashboardValidationError",
		`{"source":"other"}`:                                       "v2/InvalidRequestError",
		`{"max_data_points":0}`:                                    "v2/InvalidRequestError",
		`{"nope":1}`:                                               "v2/InvalidRequestError",
	} {
		if got := tagOf(c.call("POST", data, body, 400)); got != "@svc/http/"+tag {
			t.Errorf("%s: %v", body, got)
		}
	}
	for _, path := range []string{data, board + "/widgets/count/inspection/search", board + "/variables/service/options/search"} {
		if got := tagOf(other.call("POST", path, `{}`, 404)); got != "@svc/http/errors/DashboardNotFoundError" {
			t.Errorf("of others, %s: %v", path, got)
		}
	}
	if got := object(other.call("POST", "/v2/dashboards/widgets/preview",
		`{"widget":`+strings.ReplaceAll(countWidget, "$service", "checkout")+`}`, 200), "value")["value"]; got != float64(0) {
		t.Errorf("a preview of others: %v", got)
	}
}

// TestShareWidgetData checks that a link gives the data of the widgets that it shows, and of no others.
func TestShareWidgetData(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Share data")
	seedTelemetry(t, s)
	c, public := restClient{t, s, s.APIKey}, restClient{t: t, s: s}
	second := strings.Replace(strings.Replace(countWidget, `"id":"count"`, `"id":"secret"`, 1), "service.name = $service",
		"service.name = checkout", 1)
	broken := strings.Replace(strings.Replace(countWidget, `"id":"count"`, `"id":"broken"`, 1), "service.name = $service",
		"hidden.attribute = $service (", 1)
	text := `{"id":"text","visualization":"markdown","data_source":{"kind":"static"},"display":{"markdown":{"content":"hello"}},"layout":{"x":0,"y":0,"w":4,"h":4}}`
	made := c.call("POST", "/v2/dashboards", `{"name":"Shared","variables":[{"name":"service","type":"custom","options":[{"value":"checkout"},{"value":"nobody"}]}],"widgets":[`+
		strings.Join([]string{countWidget, second, broken, text}, ",")+`]}`, 200)
	board := "/v2/dashboards/" + fmt.Sprint(made["id"])
	whole := fmt.Sprint(c.call("PUT", board+"/share", `{"mode":"public"}`, 200)["token"])
	part := fmt.Sprint(c.call("PUT", board+"/widgets/count/share", `{"mode":"public"}`, 200)["token"])
	now := time.Now().UTC()
	ask := func(token string, values string, length time.Duration, ids ...string) string {
		var requests []string
		for _, id := range ids {
			requests = append(requests, fmt.Sprintf(`{"widget_id":%q}`, id))
		}
		return fmt.Sprintf(`{"token":%q,"requests":[%s],"time_range":{"start_time":%q,"end_time":%q},"variable_values":%s}`, token,
			strings.Join(requests, ","), now.Add(-length).Format(time.RFC3339), now.Add(time.Minute).Format(time.RFC3339), values)
	}
	const path = "/v2/share/widget-data"
	got := public.call("POST", path, ask(whole, `{}`, time.Hour, "count", "secret", "broken", "text"), 200)
	results := list(got, "results")
	result := func(i int) map[string]any { m, _ := results[i].(map[string]any); return m }
	own := object(c.call("POST", board+"/widgets/count/data/search", `{"time_range":{"type":"relative","value":"1h"}}`, 200), "value")["value"]
	if result(0)["ok"] != true || object(object(result(0), "data"), "value")["value"] != own || own == float64(0) {
		t.Errorf("data: %v, want %v", result(0), own)
	}
	if result(2)["ok"] != false || result(2)["reason"] != "failed" || result(3)["reason"] != "unsupported" {
		t.Errorf("failures: %v %v", result(2), result(3))
	}
	for _, word := range []string{"hidden.attribute", "where_clause", "service.name", s.OrgID, "hello"} {
		if text, _ := json.Marshal(got); strings.Contains(string(text), word) {
			t.Errorf("the answer tells %q: %s", word, text)
		}
	}
	if fmt.Sprint(got["variables"]) != "map[service:checkout]" {
		t.Errorf("variables: %v", got["variables"])
	}
	for _, id := range []string{"secret", "text", "nope"} {
		results = list(public.call("POST", path, ask(part, `{}`, time.Hour, id), 200), "results")
		if result(0)["reason"] != "not_found" || result(0)["data"] != nil {
			t.Errorf("%s by the link of another widget: %v", id, result(0))
		}
	}
	results = list(public.call("POST", path, ask(part, `{"service":"nobody"}`, time.Hour, "count"), 200), "results")
	if object(object(result(0), "data"), "value")["value"] != float64(0) {
		t.Errorf("another value: %v", result(0))
	}
	for body, tag := range map[string]string{
		ask(whole, `{"service":"cart"}`, time.Hour, "count"):  "ShareVariableInvalidError",
		ask(whole, `{"service":"__all"}`, time.Hour, "count"): "ShareVariableInvalidError",
		ask(whole, `{"nope":"x"}`, time.Hour, "count"):        "ShareVariableInvalidError",
		ask(whole, `{}`, 32*24*time.Hour, "count"):            "ShareRangeInvalidError",
		ask(whole, `{}`, -time.Hour, "count"):                 "ShareRangeInvalidError",
	} {
		if got := tagOf(public.call("POST", path, body, 400)); got != "@svc/http/errors/"+tag {
			t.Errorf("%s: %v", body, got)
		}
	}
	if got := tagOf(public.call("POST", path, ask("unknown-token", `{}`, time.Hour, "count"),
		404)); got != "@svc/http/errors/ShareNotFoundError" {
		t.Errorf("no link: %v", got)
	}
	public.call("POST", path, ask(whole, `{}`, time.Hour), 400)
	public.call("POST", path, ask(whole, `{}`, time.Hour, "a", "b", "c", "d", "e"), 400)
	c.call("PUT", board+"/share", `{"mode":"org"}`, 200)
	if got := tagOf(public.call("POST", path, ask(part, `{}`, time.Hour, "count"),
		http.StatusForbidden)); got != "@svc/http/errors/ShareSignInRequiredError" {
		t.Errorf("for members: %v", got)
	}
	c.call("DELETE", board+"/share", "", 200)
	public.call("POST", path, ask(whole, `{}`, time.Hour, "count"), 404)
}

// withoutData lists widgets of templates that can be empty on demo data, with the reason.
var withoutData = map[string]string{}

// checkTemplateData reads every widget of every template through REST on the data of the demo. Only the widgets above may be
// empty.
func checkTemplateData(t *testing.T, p *testkit.Process, window string) {
	t.Helper()
	c := restClient{t, &p.Server, p.APIKey}
	asked := 0
	cursor := ""
	for {
		page := c.call("GET", "/v2/dashboards/templates?limit=100"+cursor, "", 200)
		for _, item := range list(page, "data") {
			template, _ := item.(map[string]any)
			values := map[string]any{}
			for _, p := range list(template, "parameters") {
				if parameter, _ := p.(map[string]any); parameter["required"] == true {
					values[fmt.Sprint(parameter["key"])] = parameter["placeholder"]
				}
			}
			body, _ := json.Marshal(map[string]any{"parameters": values})
			made := c.call("POST", "/v2/dashboards/templates/"+fmt.Sprint(template["id"])+"/instantiate", string(body), 200)
			for _, w := range list(made, "widgets") {
				widget, _ := w.(map[string]any)
				name := fmt.Sprintf("%v, %v", template["name"], widget["id"])
				got := c.call("POST", fmt.Sprintf("/v2/dashboards/%v/widgets/%v/data/search", made["id"], widget["id"]),
					`{"time_range":`+window+`,"empty_range_fallback":false}`, 200)
				asked++
				n := 0
				for _, s := range list(object(got, "timeseries"), "series") {
					series, _ := s.(map[string]any)
					n += len(list(series, "points"))
				}
				n += len(list(object(got, "breakdown"), "rows")) + len(list(object(got, "table"), "rows"))
				if v, ok := object(got, "value")["value"].(float64); ok && v != 0 {
					n++
				}
				if n == 0 && withoutData[name] == "" {
					t.Errorf("%s is empty: %v", name, got)
				}
				if warnings := list(got, "warnings"); len(warnings) > 0 {
					t.Logf("%s: %v", name, warnings)
				}
			}
		}
		if page["has_more"] != true {
			break
		}
		cursor = "&cursor=" + fmt.Sprint(page["next_cursor"])
	}
	if asked < 90 {
		t.Errorf("only %d widgets", asked)
	}
}

// loadDashboard reads all widgets of a dashboard at once, as a page does, and returns the total time and the time of each.
func loadDashboard(t *testing.T, c restClient, id string, widgets []any, body string) (whole time.Duration, each []time.Duration) {
	t.Helper()
	each = make([]time.Duration, len(widgets))
	var wg sync.WaitGroup
	start := time.Now()
	for i, w := range widgets {
		wg.Go(func() {
			widget, _ := w.(map[string]any)
			begin := time.Now()
			req, err := http.NewRequestWithContext(t.Context(), "POST",
				fmt.Sprintf("%s/v2/dashboards/%s/widgets/%v/data/search", c.s.BaseURL, id, widget["id"]), strings.NewReader(body))
			if err != nil {
				t.Error(err)
				return
			}
			req.Header.Set("Authorization", "Bearer "+c.key)
			req.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			answer, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode != 200 {
				t.Errorf("%v: %d: %s", widget["id"], res.StatusCode, answer)
			}
			each[i] = time.Since(begin)
		})
	}
	wg.Wait()
	whole = time.Since(start)
	slices.Sort(each)
	return whole, each
}

// checkDashboardLoad measures a dashboard of 30 widgets of all kinds.
func checkDashboardLoad(t *testing.T, p *testkit.Process, window string) {
	t.Helper()
	c := restClient{t, &p.Server, p.APIKey}
	var widgets []string
	for i := range 30 {
		source := []string{
			`{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"traces","aggregation":"count","group_by":["service.name"]}]}`,
			`{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"traces","aggregation":"p95_duration","where_clause":"service.name = catalog"}]}`,
			`{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"logs","aggregation":"count","group_by":["severity"]}]}`,
			`{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"metrics","aggregation":"avg","metric_name":"jvm.memory.used","metric_type":"sum"}]}`,
			`{"kind":"raw_sql","display_type":"line","sql":"SELECT $__timeGroup(Timestamp) AS bucket, count() AS n FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp) GROUP BY bucket"}`,
			`{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"traces","aggregation":"error_rate","where_clause":"attr.http.route exists"}]}`,
		}[i%6]
		widgets = append(widgets, fmt.Sprintf(`{"id":"w%d","visualization":"chart","data_source":%s,"display":{},"layout":{"x":0,"y":%d,"w":4,"h":4}}`, i, source, i))
	}
	made := c.call("POST", "/v2/dashboards", `{"name":"Thirty","widgets":[`+strings.Join(widgets, ",")+`]}`, 200)
	for _, what := range []string{"first", "again"} {
		whole, each := loadDashboard(t, c, fmt.Sprint(made["id"]), list(made, "widgets"), `{"time_range":`+window+`}`)
		t.Logf("30 widgets, %s: %v; each p50 %v, p95 %v", what, whole.Round(time.Millisecond), each[15].Round(time.Millisecond),
			each[28].Round(time.Millisecond))
	}
}

// TestWidgetBounds saves a widget with the largest allowed value of each limit that both the save and the read have, and reads it. A
// larger value is refused when it is saved, because it could not be read.
func TestWidgetBounds(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Widget bounds")
	c := restClient{t, s, s.APIKey}
	groups := func(n int) string {
		keys := []string{"service.name", "span.name", "deployment.environment"}
		for i := range n - len(keys) {
			keys = append(keys, fmt.Sprintf("attr.key_%d", i))
		}
		return `["` + strings.Join(keys, `","`) + `"]`
	}
	board := func(running, off, formulas, groupBy int) string {
		var queries, computed []string
		for i := range running + off {
			queries = append(queries, fmt.Sprintf(`{"id":"q%d","name":"Q%d","enabled":%t,"data_source":"traces","aggregation":"count","group_by":%s}`, i, i, i < running, groups(groupBy)))
		}
		for i := range formulas {
			computed = append(computed, fmt.Sprintf(`{"id":"f%d","name":"F%d","expression":"Q0 + %d","legend":"f"}`, i, i, i))
		}
		return `{"name":"Bounds","time_range":{"type":"relative","value":"1h"},"widgets":[{"id":"all","visualization":"chart","data_source":{"kind":"query","result_shape":"timeseries","queries":[` +
			strings.Join(queries, ",") + `],"formulas":[` + strings.Join(computed, ",") + `]},"display":{},"layout":{"x":0,"y":0,"w":3,"h":4}}]}`
	}
	made := c.call("POST", "/v2/dashboards", board(limits.Queries, limits.StoredQueries-limits.Queries, limits.Queries, limits.GroupBy), 200)
	read := c.call("POST", "/v2/dashboards/"+fmt.Sprint(made["id"])+"/widgets/all/data/search", `{}`, 200)
	if read["kind"] != "timeseries" && object(read, "timeseries") == nil {
		t.Errorf("read: %v", read)
	}
	for what, body := range map[string]string{
		"queries that run": board(limits.Queries+1, 0, 0, 1),
		"27 queries":       board(limits.Queries, limits.StoredQueries-limits.Queries+1, 0, 1),
		"formulas":         board(1, 0, limits.Queries+1, 1),
		"attributes":       board(1, 0, 0, limits.GroupBy+1),
	} {
		if answer := fmt.Sprint(c.call("POST", "/v2/dashboards", body, 400)); !strings.Contains(answer, what) {
			t.Errorf("%s: %s", what, answer)
		}
	}
	day, most := func(n int) string { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC).Format(time.RFC3339) },
		int(limits.TimeseriesWindow/limits.Day)
	relative := func(length string) string { return `{"type":"relative","value":"` + length + `"}` }
	absolute := func(days int) string {
		return `{"type":"absolute","start_time":"` + day(1) + `","end_time":"` + day(1+days) + `"}`
	}
	// widget is a dashboard with one widget. own is the window of the widget.
	widget := func(window, own, visualization, source, display string) string {
		if own != "" {
			own = `,"time_range":` + own
		}
		return `{"name":"Bounds","time_range":` + window + `,"widgets":[{"id":"all","visualization":"` + visualization + `","data_source":` +
			source + `,"display":` + display +
			`,"layout":{"x":0,"y":0,"w":3,"h":4}` + own + `}],"variables":[{"name":"v","type":"textbox","default_value":"x"}]}`
	}
	query := func(more string) string {
		return `{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"traces","aggregation":"count"` + more +
			`}]}`
	}
	filled := func(text string, n int) string { return text + strings.Repeat(" ", n-len(text)) }
	hour := relative("1h")
	chart := func(more string) string { return widget(hour, "", "chart", query(more), "{}") }
	statement := func(n int, text string) string {
		return widget(hour, "", "table", `{"kind":"raw_sql","display_type":"table","sql":"`+filled(text, n)+`"}`, "{}")
	}
	list := func(n int) string {
		source := strings.Replace(query(""), `"result_shape":"timeseries"`, `"result_shape":"list"`, 1)
		return widget(hour, "", "list", source, `{"list_where_clause":"`+filled("service.name = $v", n)+`"}`)
	}
	const count, timed = "SELECT count() FROM traces WHERE $__orgFilter",
		"SELECT count() FROM traces WHERE $__orgFilter AND $__timeFilter(Timestamp)"
	for field, bodies := range map[string][2]string{
		"time_range.value": {
			widget(relative(fmt.Sprintf("%dd", most)), "", "chart", query(""), "{}"),
			widget(relative("60d"), "", "chart", query(""), "{}"),
		},
		"widgets[0].time_range.value": {
			widget(hour, relative("1mo"), "chart", query(""), "{}"),
			widget(hour, relative("2mo"), "chart", query(""), "{}"),
		},
		"time_range.start_time": {
			widget(absolute(most), "", "chart", query(""), "{}"),
			widget(absolute(most+1), "", "chart", query(""), "{}"),
		},
		"widgets[0].data_source.sql":   {statement(limits.SQLText, count), statement(40_124, count)},
		"widgets[0].data_source.sql` ": {statement(limits.SQLText-200, timed), statement(limits.SQLText, timed)},
		"queries[0].having": {
			chart(`,"having":"> 0` + strings.Repeat(" AND > 0", limits.Having-1) + `"`),
			chart(`,"having":"> 0` + strings.Repeat(" AND > 0", limits.Having) + `"`),
		},
		"queries[0].where_clause": {
			chart(`,"where_clause":"` + filled("service.name = $v", limits.WhereText-2) + `"`),
			chart(`,"where_clause":"` + filled("service.name = $v", limits.WhereText+1) + `"`),
		},
		"display.list_where_clause": {list(limits.WhereText - 2), list(limits.WhereText + 1)},
	} {
		made := c.call("POST", "/v2/dashboards", bodies[0], 200)
		c.call("POST", "/v2/dashboards/"+fmt.Sprint(made["id"])+"/widgets/all/data/search", `{}`, 200)
		if answer := fmt.Sprint(c.call("POST", "/v2/dashboards", bodies[1], 400)); !strings.Contains(answer, strings.TrimSpace(field)) {
			t.Errorf("%s: %s", field, answer)
		}
	}
}
