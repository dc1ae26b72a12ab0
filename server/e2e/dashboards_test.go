package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/testkit"
)

// statWidget is the JSON of a widget that counts spans.
func statWidget(id string, row int) string {
	return fmt.Sprintf(`{"id":%q,"visualization":"stat","data_source":{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A",
		"aggregation":"count","data_source":"traces"}],"transform":{"reduce_to_value":{"field":"value","aggregate":"sum"}}},
		"display":{"title":"Spans"},"layout":{"x":0,"y":%d,"w":3,"h":4}}`, id, row)
}

// TestDashboardLife follows a dashboard through REST, from its creation to its end.
func TestDashboardLife(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Dashboards")
	c := restClient{t, s, s.APIKey}
	made := c.call("POST", "/v2/dashboards", `{"name":"Life","widgets":[`+statWidget("w1", 0)+`]}`, 200)
	path := "/v2/dashboards/" + fmt.Sprint(made["id"])
	if made["object"] != "dashboard" || made["txid"] == nil || !cmp.Equal(made["time_range"],
		any(map[string]any{"type": "relative", "value": "12h"})) {
		t.Errorf("created: %v", made)
	}
	read := c.call("GET", path, "", 200)
	delete(made, "txid")
	if diff := cmp.Diff(made, read); diff != "" {
		t.Errorf("read (-created +read):\n%s", diff)
	}
	if list := c.call("GET", "/v2/dashboards?limit=1", "", 200)["data"].([]any); len(list) != 1 || !cmp.Equal(list[0], any(read)) {
		t.Errorf("the list differs from the dashboard: %v", list)
	}

	c.call("PATCH", path, `{"description":"note","refresh_interval_seconds":60}`, 200)
	changed := c.call("PATCH", path, `{"name":"Renamed","description":null}`, 200)
	if changed["name"] != "Renamed" || changed["description"] != nil || changed["refresh_interval_seconds"] != 60.0 ||
		len(changed["widgets"].([]any)) != 1 {
		t.Errorf("changed: %v", changed)
	}
	if same := c.call("PATCH", path, `{"name":"Renamed"}`, 200); same["txid"] != nil || same["updated_at"] != changed["updated_at"] {
		t.Errorf("a change to what it is: %v", same)
	}
	stale := c.call("PATCH", path, fmt.Sprintf(`{"name":"x","expected_updated_at":%q}`, made["updated_at"]), 409)
	if tagOf(stale) != "@svc/http/errors/DashboardConcurrencyError" {
		t.Errorf("a stale change: %v", stale)
	}
	c.call("PATCH", path, fmt.Sprintf(`{"tags":["t"],"expected_updated_at":%q}`, changed["updated_at"]), 200)

	versions := c.call("GET", path+"/versions?limit=2", "", 200)
	page := versions["data"].([]any)
	if len(page) != 2 || versions["has_more"] != true || versions["next_cursor"] != "ver_3" {
		t.Fatalf("versions: %v", versions)
	}
	rest := c.call("GET", path+"/versions?cursor=ver_3", "", 200)["data"].([]any)
	var kinds []string
	for _, v := range append(page, rest...) {
		kinds = append(kinds, fmt.Sprint(v.(map[string]any)["change_kind"]))
	}
	if diff := cmp.Diff([]string{"tags_changed", "multiple", "multiple", "created"}, kinds); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	first := fmt.Sprint(rest[1].(map[string]any)["id"])
	detail := c.call("GET", path+"/versions/"+first, "", 200)
	if diff := cmp.Diff(any(read), detail["snapshot"]); diff != "" {
		t.Errorf("the first version (-created +snapshot):\n%s", diff)
	}
	restored := c.call("POST", path+"/versions/"+first+"/restore", "", 200)
	if restored["name"] != "Life" || restored["refresh_interval_seconds"] != nil || restored["txid"] == nil {
		t.Errorf("restored: %v", restored)
	}
	newest := c.call("GET", path+"/versions?limit=1", "", 200)["data"].([]any)[0].(map[string]any)
	if newest["change_kind"] != "restored" || newest["source_version_id"] != first || newest["change_summary"] != "Restored from v1" {
		t.Errorf("the version of the restoration: %v", newest)
	}

	entries := c.call("GET", "/v2/audit_log?resource_id="+url.QueryEscape(fmt.Sprint(made["id"])), "", 200)["data"].([]any)
	var actions []string
	for _, e := range entries {
		actions = append(actions, fmt.Sprint(e.(map[string]any)["action"]))
	}
	if diff := cmp.Diff([]string{
		"dashboard.version_restored", "dashboard.updated", "dashboard.updated", "dashboard.updated",
		"dashboard.created",
	}, actions); diff != "" {
		t.Errorf("audit log (-want +got):\n%s", diff)
	}
	if fields, _ := at(entries[0], "changes", "fields").([]any); !cmp.Equal(fields, []any{"name", "refresh_interval_seconds", "tags"}) {
		t.Errorf("the entry of the restoration: %v", entries[0])
	}
	if created := fmt.Sprint(entries[4]); !strings.Contains(created, "widgets:<updated>") || strings.Contains(created, "aggregation") {
		t.Errorf("the entry of the creation: %s", created)
	}

	gone := c.call("DELETE", path, "", 200)
	if gone["deleted"] != true || gone["object"] != "dashboard" || gone["id"] != made["id"] || gone["txid"] == nil {
		t.Errorf("deleted: %v", gone)
	}
	for _, request := range [][2]string{
		{"GET", ""},
		{"PATCH", ""},
		{"DELETE", ""},
		{"GET", "/versions"},
		{"GET", "/versions/" + first},
		{"POST", "/versions/" + first + "/restore"},
	} {
		body := ""
		if request[0] == "PATCH" {
			body = `{"name":"x"}`
		}
		if got := tagOf(c.call(request[0], path+request[1], body, 404)); got != "@svc/http/errors/DashboardNotFoundError" {
			t.Errorf("%s %s of a deleted dashboard: %v", request[0], request[1], got)
		}
	}
}

// TestDashboardIsolation checks that a dashboard of another organization gets the same answer as a dashboard that does not exist.
func TestDashboardIsolation(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Owner")
	owner := restClient{t, s, s.APIKey}
	made := owner.call("POST", "/v2/dashboards", `{"name":"Mine"}`, 200)
	path := "/v2/dashboards/" + fmt.Sprint(made["id"])
	version := fmt.Sprint(owner.call("GET", path+"/versions", "", 200)["data"].([]any)[0].(map[string]any)["id"])
	o := testkit.Shared(t).NewOrganization(t, "Stranger")
	stranger := restClient{t, o, o.APIKey}
	own := "/v2/dashboards/" + fmt.Sprint(stranger.call("POST", "/v2/dashboards", `{"name":"Other"}`, 200)["id"])
	never := "/v2/dashboards/" + exampleDashboard
	for _, request := range [][3]string{
		{"GET", "", ""},
		{"PATCH", "", `{"name":"taken"}`},
		{"DELETE", "", ""},
		{"GET", "/versions", ""},
		{"GET", "/versions/" + version, ""},
		{"POST", "/versions/" + version + "/restore", ""},
	} {
		crossing := stranger.call(request[0], path+request[1], request[2], 404)
		unknown := stranger.call(request[0], never+request[1], request[2], 404)
		if diff := cmp.Diff(unknown, crossing); diff != "" || tagOf(crossing) != "@svc/http/errors/DashboardNotFoundError" {
			t.Errorf("%s %s: %v (-unknown +another organization's):\n%s", request[0], request[1], tagOf(crossing), diff)
		}
	}
	if got := tagOf(stranger.call("GET", own+"/versions/"+version, "", 404)); got != "@svc/http/errors/DashboardVersionNotFoundError" {
		t.Errorf("another dashboard's version: %v", got)
	}
	if list := stranger.call("GET", "/v2/dashboards", "", 200)["data"].([]any); len(list) != 1 {
		t.Errorf("a stranger lists %d dashboards, not its one", len(list))
	}
	if got := owner.call("GET", path, "", 200)["name"]; got != "Mine" {
		t.Errorf("the dashboard is now called %v", got)
	}
}

// exampleDashboard is an id that belongs to no dashboard.
const exampleDashboard = "dash_YoyM27RZv6BZLTbZ2kvNcS"

// TestDashboardsAtOnce checks that simultaneous changes of different fields all take effect.
func TestDashboardsAtOnce(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "At once")
	c := restClient{t, s, s.APIKey}
	path := "/v2/dashboards/" + fmt.Sprint(c.call("POST", "/v2/dashboards", `{"name":"n"}`, 200)["id"])
	bodies := []string{
		`{"name":"changed"}`, `{"description":"changed"}`, `{"tags":["changed"]}`, `{"time_range":{"type":"relative","value":"7d"}}`,
		`{"widgets":[` + statWidget("w", 0) + `]}`, `{"variables":[{"name":"v","type":"textbox"}]}`, `{"sections":[{"id":"s","title":"S"}]}`,
		`{"refresh_interval_seconds":5}`,
	}
	var wg sync.WaitGroup
	for _, body := range bodies {
		wg.Go(func() { c.call("PATCH", path, body, 200) })
	}
	wg.Wait()
	got := c.call("GET", path, "", 200)
	if got["name"] != "changed" || got["description"] != "changed" || len(got["tags"].([]any)) != 1 || len(got["widgets"].([]any)) != 1 ||
		len(got["variables"].([]any)) != 1 || len(got["sections"].([]any)) != 1 || got["refresh_interval_seconds"] != 5.0 ||
		got["time_range"].(map[string]any)["value"] != "7d" {
		t.Errorf("a change was lost: %v", got)
	}
	if n := len(c.call("GET", path+"/versions", "", 200)["data"].([]any)); n != 1+len(bodies) {
		t.Errorf("%d versions of %d changes", n, len(bodies))
	}
}

// TestDashboardTemplates lists, previews and instantiates every template through REST. The dashboard must have the widgets of the
// preview.
func TestDashboardTemplates(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Templates")
	c := restClient{t, s, s.APIKey}
	var all []any
	for path := "/v2/dashboards/templates?limit=8"; path != ""; {
		page := c.call("GET", path, "", 200)
		all = append(all, page["data"].([]any)...)
		path = ""
		if page["has_more"] == true {
			path = "/v2/dashboards/templates?limit=8&cursor=" + fmt.Sprint(page["next_cursor"])
		}
	}
	if len(all) != 20 {
		t.Fatalf("%d templates", len(all))
	}
	for _, each := range all {
		template := each.(map[string]any)
		path := "/v2/dashboards/templates/" + fmt.Sprint(template["id"])
		parameters := map[string]any{}
		for _, p := range template["parameters"].([]any) {
			if p := p.(map[string]any); p["required"] == true {
				parameters[fmt.Sprint(p["key"])] = p["placeholder"]
			}
		}
		if len(parameters) > 0 {
			if got := tagOf(c.call("POST", path+"/instantiate", `{}`, 400)); got != "@svc/http/v2/ParameterMissingError" {
				t.Errorf("%v without its parameters: %v", template["name"], got)
			}
		}
		text, err := json.Marshal(map[string]any{"parameters": parameters})
		if err != nil {
			t.Fatal(err)
		}
		preview := c.call("POST", path+"/preview", string(text), 200)
		made := c.call("POST", path+"/instantiate", string(text), 200)
		read := c.call("GET", "/v2/dashboards/"+fmt.Sprint(made["id"]), "", 200)
		for _, field := range []string{"name", "time_range", "widgets", "variables"} {
			if diff := cmp.Diff(preview[field], read[field]); diff != "" {
				t.Errorf("%v: %s (-preview +stored):\n%s", template["name"], field, diff)
			}
		}
		if tiles := template["preview"].([]any); len(tiles) != len(read["widgets"].([]any)) {
			t.Errorf("%v: %d tiles for %d widgets", template["name"], len(tiles), len(read["widgets"].([]any)))
		}
	}
	if named := c.call("POST", "/v2/dashboards/templates/"+fmt.Sprint(all[0].(map[string]any)["id"])+"/instantiate", `{"name":"Mine"}`,
		200); named["name"] != "Mine" {
		t.Errorf("a name of its own: %v", named["name"])
	}
}

// TestDashboardImport imports the test document of the converter through REST.
func TestDashboardImport(t *testing.T) {
	s := testkit.Shared(t).NewOrganization(t, "Import")
	c := restClient{t, s, s.APIKey}
	document, err := os.ReadFile("../services/dashboards/perses/testdata/complete.json")
	if err != nil {
		t.Fatal(err)
	}
	answer := c.call("POST", "/v2/dashboards/import/perses", `{"dashboard":`+string(document)+`}`, 200)
	made := answer["dashboard"].(map[string]any)
	if answer["object"] != "dashboard_import" || made["name"] != "Shop Overview" || made["txid"] == nil ||
		len(made["widgets"].([]any)) != 18 || len(answer["warnings"].([]any)) == 0 {
		t.Errorf("imported: %v", answer)
	}
	read := c.call("GET", "/v2/dashboards/"+fmt.Sprint(made["id"]), "", 200)
	delete(made, "txid")
	if diff := cmp.Diff(made, read); diff != "" {
		t.Errorf("stored (-answered +stored):\n%s", diff)
	}
}
