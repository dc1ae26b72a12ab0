package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// connector is the output of the command line when it makes the secret of a log push connector.
type connector struct {
	ID, Secret      string
	DestinationConf string  `json:"destination_conf"`
	LastReceivedAt  *string `json:"last_received_at"`
	LastError       *string `json:"last_error"`
}

func adminJSON(t *testing.T, p *testkit.Process, dir string, to any, words ...string) {
	t.Helper()
	args := append([]string{"admin"}, words...)
	if words[0] == "connector" {
		args = append(args, "--ingest-public-url", p.IngestURL)
	}
	cmd := testkit.Command(t, append(args, "--data-dir", dir, "--json")...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", words, err, stderr.String())
	}
	if err := json.Unmarshal(out, to); err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
}

// pushLogs posts lines to a URL as the CDN does, as a gzip file.
func pushLogs(t *testing.T, url string, lines ...string) (status int, answer string) {
	t.Helper()
	var body bytes.Buffer
	zw := gzip.NewWriter(&body)
	if _, err := zw.Write([]byte(strings.Join(lines, "\n"))); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, &body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Encoding", "gzip")
	status, b := roundTrip(t, req)
	return status, string(b)
}

// TestLogpush makes connectors of two organizations on the command line. It pushes through them to the URL that the command
// prints, with a kill of the server in between, and reads the logs back. Each connector is also tried with the credentials of the
// other.
func TestLogpush(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir, "--log-level", "debug")
	var one, two connector
	adminJSON(t, p, dir, &one, "connector", "create", "website", "--zone", "shop.example")
	adminJSON(t, p, dir, &struct{}{}, "org", "create", "Other")
	adminJSON(t, p, dir, &two, "connector", "create", "website", "--zone", "other.example", "--service-name", "edge", "--org", "other")
	if want := p.IngestURL + "/v1/logpush/cloudflare/http_requests/" + one.ID + "?secret=" + one.Secret; one.DestinationConf != want {
		t.Fatalf("destination %q, want %q", one.DestinationConf, want)
	}
	line := func(path string, status int) string {
		now := time.Now().UTC().Format(time.RFC3339)
		return fmt.Sprintf(`{"ClientIP":"192.0.2.1","ClientRequestHost":"shop.example","ClientRequestMethod":"GET","ClientRequestURI":"%s?a=b","EdgeResponseStatus":%d,"EdgeStartTimestamp":"%s","RayID":"91e8a3f0fb2d9a10","EdgeColoCode":"FRA"}`, path, status, now)
	}
	push := func(url, want string, lines ...string) {
		t.Helper()
		if status, answer := pushLogs(t, url, lines...); status != http.StatusOK || answer != want {
			t.Errorf("%d %s, want %s", status, answer, want)
		}
	}
	push(one.DestinationConf, `{"accepted":0}`, `{"content":"tests"}`)
	push(one.DestinationConf, `{"accepted":3}`, line("/ok", 200), line("/gone", 404), line("/down", 502))
	push(two.DestinationConf, `{"accepted":1}`, line("/two", 200))
	base := p.IngestURL + "/v1/logpush/cloudflare/http_requests/"
	refused := map[string]string{}
	for name, url := range map[string]string{
		"secret of the other": base + one.ID + "?secret=" + two.Secret, "id of the other": base + two.ID + "?secret=" + one.Secret,
		"unknown id": base + "cfp_2YKfqZvXTfnB?secret=" + one.Secret, "ingest key": base + one.ID + "?secret=" + p.PrivateKey,
	} {
		status, answer := pushLogs(t, url, line("/forged", 200))
		var e struct {
			Error struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(answer), &e); err != nil || status != http.StatusUnauthorized || e.Error.Code != "ingest_unauthorized" {
			t.Errorf("%s: %d %s", name, status, answer)
		}
		refused[answer] = name
	}
	if len(refused) != 1 {
		t.Errorf("answers tell the reasons apart: %v", refused)
	}

	p.Kill()
	log := p.Log()
	p = testkit.StartProcess(t, dir, "--log-level", "debug")
	var all []connector
	push(strings.Replace(one.DestinationConf, base, p.IngestURL+"/v1/logpush/cloudflare/http_requests/", 1),
		`{"accepted":1,"rejected":1,"reasons":["line 2: EdgeStartTimestamp must be a time: RFC 3339, or Unix seconds or nanoseconds"]}`,
		line("/again", 200), `{"EdgeStartTimestamp":"never"}`)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		adminJSON(t, p, dir, &all, "connector", "list", "--org", p.OrgID)
		if len(all) == 1 && all[0].LastError != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the problem of the last push is not recorded: %+v", all)
		}
	}
	if got := *all[0].LastError; !strings.HasPrefix(got, "1 of 2 lines were not stored. The first problem: line 2:") ||
		all[0].LastReceivedAt == nil {
		t.Errorf("last error %q, received %v", got, all[0].LastReceivedAt)
	}
	adminJSON(t, p, dir, &struct{}{}, "connector", "disable", one.ID, "--org", p.OrgID)
	var status int
	for deadline := time.Now().Add(time.Minute); status != http.StatusUnauthorized && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		status, _ = pushLogs(t, p.IngestURL+"/v1/logpush/cloudflare/http_requests/"+one.ID+"?secret="+one.Secret, "")
	}
	if status != http.StatusUnauthorized {
		t.Errorf("disabled, the answer is %d", status)
	}

	waitFlushed(t, p)
	const sql = `SELECT ServiceName, SeverityText, Body, LogAttributes['client.address'], LogAttributes['cloudflare.edge_colo_code'], LogAttributes['url.query'],
		ResourceAttributes['svc_ingest_key_type'], ResourceAttributes['svc_org_id'] = OrgId FROM logs ORDER BY ServiceName, Body`
	out, err := testkit.Command(t, "admin", "sql", sql, "--data-dir", dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	rest := "\t192.0.2.1\tFRA\ta=b\tconnector\t1\n"
	want := "cloudflare/shop.example\tINFO\tGET shop.example/again 200" + rest + "cloudflare/shop.example\tERROR\tGET shop.example/down 502" +
		rest +
		"cloudflare/shop.example\tWARN\tGET shop.example/gone 404" + rest + "cloudflare/shop.example\tINFO\tGET shop.example/ok 200" + rest +
		"edge\tINFO\tGET shop.example/two 200" + rest
	if string(out) != want {
		t.Errorf("stored\n%s\nwant\n%s", out, want)
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	for _, secret := range []string{one.Secret, two.Secret, p.PrivateKey} {
		if strings.Contains(log+p.Log(), secret) {
			t.Error("the log has a secret")
		}
	}
}

// TestLogpushConnectors makes a connector by REST, pushes to its destination and changes it, with another organization beside it.
func TestLogpushConnectors(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	theirs := s.NewOrganization(t, "Other")
	rest, other := restClient{t, s, s.APIKey}, restClient{t, theirs, theirs.APIKey}
	list := func(c restClient, method, path, body string) []any {
		rows, _ := c.call(method, path, body, 200)["data"].([]any)
		return rows
	}
	const path = "/v2/integrations/logpush_connectors"
	made := rest.call("POST", path, `{"name":" website ","zone_name":"shop.example"}`, 200)
	id, _ := made["id"].(string)
	setup, _ := made["setup"].(map[string]any)
	secret, _ := setup["secret"].(string)
	if want := s.IngestURL + "/v1/logpush/cloudflare/http_requests/" + id + "?secret=" + secret; setup["destination_conf"] != want ||
		!strings.HasPrefix(secret, "svc_cf_") || made["service_name"] != "cloudflare/shop.example" || made["name"] != "website" ||
		made["enabled"] != true {
		t.Fatalf("created: %v", made)
	}
	push := func(destination any, want int) {
		t.Helper()
		line := fmt.Sprintf(`{"ClientRequestHost":"shop.example","ClientRequestMethod":"GET","ClientRequestURI":"/ok","EdgeResponseStatus":200,"EdgeStartTimestamp":%q,"RayID":"91e8a3f0fb2d9a10"}`,
			time.Now().UTC().Format(time.RFC3339))
		deadline := time.Now().Add(20 * time.Second) // a change reaches the gateway a little later
		for {
			status, answer := pushLogs(t, fmt.Sprint(destination), line)
			if status == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("pushed: %d %s, want %d", status, answer, want)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	push(setup["destination_conf"], 200)
	got := rest.call("GET", path+"/"+id, "", 200)
	if text := fmt.Sprint(got); strings.Contains(text, secret) || got["setup"] != nil || got["object"] != "logpush_connector" {
		t.Errorf("the connector shows its secret: %s", text)
	}
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/" + id, ""}, {"PATCH", "/" + id, `{"name":"x"}`}, {"POST", "/" + id + "/rotate", "{}"}, {"DELETE", "/" + id, ""},
	} {
		if got := other.call(c.method, path+c.path, c.body, 404); tagOf(got) != "@svc/http/errors/IntegrationsNotFoundError" {
			t.Errorf("another organization, %s: %v", c.method, got)
		}
	}
	if rows := list(other, "GET", path, ""); len(rows) != 0 {
		t.Errorf("another organization lists %v", rows)
	}
	for body, param := range map[string]string{
		`{"zone_name":"a"}`: "name", `{"name":"a"}`: "zone_name", `{"name":"a","zone_name":"b","service_name":"a\nb"}`: "service_name",
	} {
		if e, _ := rest.call("POST", path, body, 400)["error"].(map[string]any); e["param"] != param {
			t.Errorf("%s: %v", body, e)
		}
	}

	rest.call("PATCH", path+"/"+id, `{"enabled":false}`, 200)
	push(setup["destination_conf"], 401)
	changed := rest.call("PATCH", path+"/"+id, `{"enabled":true,"service_name":"edge"}`, 200)
	if changed["service_name"] != "edge" || changed["name"] != "website" || changed["enabled"] != true {
		t.Errorf("changed: %v", changed)
	}
	rotated := rest.call("POST", path+"/"+id+"/rotate", "{}", 200)
	fresh, _ := rotated["setup"].(map[string]any)
	push(fresh["destination_conf"], 200)
	push(setup["destination_conf"], 401)
	if rotated["secret_rotated_at"] == nil || rotated["id"] != id {
		t.Errorf("rotated: %v", rotated)
	}
	listed := false
	for _, r := range list(rest, "GET", "/v2/integrations", "") {
		row, _ := r.(map[string]any)
		listed = listed || row["id"] == id && row["provider"] == "logpush" && row["status"] == "connected"
	}
	if !listed {
		t.Error("the list of integrations lacks the connector")
	}
	stored := func(service string) bool {
		now := time.Now().UTC()
		return len(list(rest, "POST", "/v2/logs/search", fmt.Sprintf(`{"start_time":%q,"end_time":%q,"filters":{"service_name":%q}}`,
			now.Add(-time.Hour).Format(time.RFC3339), now.Add(time.Minute).Format(time.RFC3339), service))) == 1
	}
	for deadline := time.Now().Add(20 * time.Second); !stored("cloudflare/shop.example") || !stored("edge"); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the pushed logs are not found")
		}
	}
	rest.call("DELETE", path+"/"+id, "", 200)
	push(fresh["destination_conf"], 401)
	rest.call("GET", path+"/"+id, "", 404)
}
