package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations/github/githubtest"
)

// thrown is a file of a small server with a line that a stack names.
var thrown = map[string]string{
	"src/cart.js":   "// The cart.\nexport function total(items) {\n  return items.map((i) => i.price.amount).sum();\n}\n",
	"src/charge.js": "import { total } from './cart.js';\n\nexport function charge(order) {\n  const sum = total(order.items);\n  return sum;\n}\n",
	"src/server.js": "import { charge } from './charge.js';\n\nfunction handle(req) {\n  // each order is charged once\n  return " +
		"charge(req.order);\n}\n",
}

// stackIn is the stack of an error of these files in a folder.
func stackIn(folder string) string {
	return "TypeError: Cannot read properties of undefined (reading 'amount')\n" +
		"    at total (" + folder + "/src/cart.js:3:42)\n    at charge (" + folder + "/src/charge.js:4:15)\n" +
		"    at handle (" + folder + "/src/server.js:5:10)\n    at Layer.handle (" + folder + "/node_modules/express/lib/router/layer.js:95:5)"
}

// throw sends a span with an exception. It returns the fingerprint under which the error is found.
func (b *sourceBench) throw(service, resource, stack string) string {
	b.t.Helper()
	at := time.Now().UnixNano() // after the commits of the test
	body := fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%q}}%s]},"scopeSpans":[{"spans":[
		{"traceId":"%032x","spanId":"%016x","name":"POST /pay","kind":2,"startTimeUnixNano":"%[3]d","endTimeUnixNano":"%[5]d","status":{"code":2},
		"events":[{"timeUnixNano":"%[3]d","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":"TypeError"}},
		{"key":"exception.stacktrace","value":{"stringValue":%[6]q}}]}]}]}]}]}`, service, resource, at, at, at+1000, stack)
	if err := export(b.t.Context(), b.s.IngestURL+"/v1/traces", b.s.PrivateKey, body); err != nil {
		b.t.Fatal(err)
	}
	var fingerprint string
	eventually(b.t, "the error of "+service+" is stored", func() bool {
		now := time.Now().UTC()
		got := b.rest.call("POST", "/v2/error_events/search", fmt.Sprintf(`{"start_time":%q,"end_time":%q,"filters":{"service_name":%q}}`,
			now.Add(-time.Hour).Format(time.RFC3339), now.Add(time.Minute).Format(time.RFC3339), service), 200)
		data, _ := got["data"].([]any)
		if len(data) == 0 {
			return false
		}
		row, _ := data[0].(map[string]any)
		fingerprint = fmt.Sprint(row["fingerprint_hash"])
		return true
	})
	return fingerprint
}

func resourceText(key, value string) string {
	return `,{"key":` + strconv.Quote(key) + `,"value":{"stringValue":` + strconv.Quote(value) + `}}`
}

// TestSourceFrames shows the source of the calls of an error: at the commit that telemetry names, to callers who may read source code.
func TestSourceFrames(t *testing.T) {
	t.Parallel()
	b := newSourceBench(t)
	old := b.repo.Commit(t, "A server", thrown)
	b.repo.Tag(t, "v2.0.0")
	b.repo.Commit(t, "Two lines more", map[string]string{"src/cart.js": "// New.\n// New.\n" + thrown["src/cart.js"]})
	named := resourceText("vcs.repository.url.full", b.hub.URL+"/acme/shop.git")

	// Without a connected account there is nothing to say, and nothing to ask.
	exact := b.throw("exact", resourceText("vcs.ref.head.revision", old), stackIn("/app"))
	path := "/v2/error_events/" + exact + "?service_name=exact"
	if got := b.rest.call("GET", path, "", 200); len(framesOf(got)) != 4 || got["source_problem"] != nil {
		t.Errorf("without an account: %v %v", got["frames"], got["source_problem"])
	}

	connection, repository := b.connect()
	eventually(t, "the commit is copied", func() bool { return sourceOf(b.rest.call("GET", path, "", 200), 0) != nil })
	got := b.rest.call("GET", path, "", 200)
	first := sourceOf(got, 0)
	if first["path"] != "src/cart.js" || first["commit_sha"] != old || first["confidence"] != "exact" ||
		first["repository_id"] != repository ||
		first["html_url"] != b.hub.URL+"/acme/shop/blob/"+old+"/src/cart.js#L3" || first["start_line"] != 1.0 {
		t.Errorf("the first frame: %v", first)
	}
	lines, _ := first["lines"].([]any)
	if len(lines) != 4 || !strings.Contains(fmt.Sprint(lines[2]), "price.amount") {
		t.Errorf("lines: %q", lines)
	}
	if sourceOf(got, 2)["path"] != "src/server.js" || sourceOf(got, 3) != nil || framesOf(got)[3]["in_app"] != false {
		t.Errorf("other frames: %v", got["frames"])
	}

	// A version that is a tag; none at all: the tracked branch, in which the line has moved and the call is not proven.
	tagged := b.throw("tagged", resourceText("service.version", "2.0.0")+named, stackIn("/srv/shop"))
	eventually(t, "the tag is found", func() bool {
		got := b.rest.call("GET", "/v2/error_events/"+tagged+"?service_name=tagged", "", 200)
		return sourceOf(got, 1)["confidence"] == "tag" && sourceOf(got, 1)["path"] == "src/charge.js"
	})
	moved := b.throw("moved", named, stackIn("/srv/moved"))
	eventually(t, "the branch is read", func() bool {
		got := b.rest.call("GET", "/v2/error_events/"+moved+"?service_name=moved", "", 200)
		return strings.Contains(fmt.Sprint(got["source_problem"]), "No file of acme/shop")
	})
	// A repository that no account has.
	other := b.throw("other", resourceText("vcs.repository.url.full", "https://github.com/acme/secret"), stackIn("/app"))
	got = b.rest.call("GET", "/v2/error_events/"+other+"?service_name=other", "", 200)
	if sourceOf(got, 0) != nil || !strings.Contains(fmt.Sprint(got["source_problem"]), "acme/secret") {
		t.Errorf("a repository that is not connected: %v", got["source_problem"])
	}

	// Agents see the source, and the read is in the audit log.
	called := callTool(t.Context(), t, b.s, b.s.APIKey, "error_detail", map[string]any{"fingerprint": exact, "service": "exact"})
	if called.err != nil || !strings.Contains(string(called.body), "price.amount") ||
		!strings.Contains(string(called.body), `"confidence":"exact"`) {
		t.Errorf("error_detail: %v %s", called.err, called.body)
	}
	if log := fmt.Sprint(b.rest.call("GET", "/v2/audit_log?action=source_code.read", "", 200)["data"]); !strings.Contains(log,
		"error_frames") {
		t.Errorf("the audit log: %s", log)
	}

	// Two repositories with the same files and the same tag: a guess would be wrong half of the time.
	b.repo.Commit(t, "As before", thrown)
	b.repo.Tag(t, "v3.0.0")
	b.hub.AddRepository(t, b.install, "copy", thrown).Tag(t, "v3.0.0")
	if status := b.deliver("more", "installation_repositories", githubtest.WebhookSecret, b.install.ID); status != 202 {
		t.Errorf("a delivery: %d", status)
	}
	b.until("the copy is listed", func() bool { return len(b.repositories()) == 2 })
	twice := b.throw("twice", resourceText("service.version", "3.0.0"), stackIn("/w"))
	eventually(t, "the files are in both", func() bool {
		got := b.rest.call("GET", "/v2/error_events/"+twice+"?service_name=twice", "", 200)
		return sourceOf(got, 0) == nil && strings.Contains(fmt.Sprint(got["source_problem"]), "More than one repository")
	})

	// Another organization names the repository and its commit, and gets nothing of it.
	beside := *b
	beside.s = b.s.NewOrganization(t, "Beside")
	beside.rest = restClient{t, beside.s, beside.s.APIKey}
	crossed := beside.throw("exact", named+resourceText("vcs.ref.head.revision", old), stackIn("/app"))
	got = beside.rest.call("GET", "/v2/error_events/"+crossed+"?service_name=exact", "", 200)
	if len(framesOf(got)) != 4 || sourceOf(got, 0) != nil || !strings.Contains(fmt.Sprint(got["source_problem"]), "No connected account") {
		t.Errorf("another organization: %v %v", got["frames"], got["source_problem"])
	}

	// A key that may read errors and no source code, and an account whose code nobody may read.
	narrow := b.session().call("POST", "/v2/api_keys", `{"name":"errors","scopes":["error_events:read"]}`, 200)
	got = restClient{t, b.s, fmt.Sprint(narrow["secret"])}.call("GET", path, "", 200)
	if len(framesOf(got)) != 4 || sourceOf(got, 0) != nil || got["source_problem"] != nil {
		t.Errorf("a key without integrations:read: %v", got["frames"])
	}
	b.session().call("PATCH", "/v2/integrations/source_connections/"+connection, `{"code_access":"off"}`, 200)
	if got := b.rest.call("GET", path, "", 200); sourceOf(got, 0) != nil ||
		!strings.Contains(fmt.Sprint(got["source_problem"]), "turned off") {
		t.Errorf("code access off: %v", got["source_problem"])
	}
}

func framesOf(detail map[string]any) []map[string]any {
	var out []map[string]any
	list, _ := detail["frames"].([]any)
	for _, f := range list {
		frame, _ := f.(map[string]any)
		out = append(out, frame)
	}
	return out
}

// sourceOf is the source of a frame, or nil.
func sourceOf(detail map[string]any, frame int) map[string]any {
	all := framesOf(detail)
	if frame >= len(all) {
		return nil
	}
	source, _ := all[frame]["source"].(map[string]any)
	return source
}

// TestSuspectCommits finds the commit that brought an error. The commit changed the line that throws. It came after the release that ran
// before, and with the release in which the error began.
func TestSuspectCommits(t *testing.T) {
	t.Parallel()
	b := newSourceBench(t)
	b.repo.Commit(t, "A server", thrown)
	good := b.repo.Commit(t, "Tidy the server", map[string]string{"src/server.js": "// Ours.\n" + thrown["src/server.js"]})
	culprit := b.repo.Commit(t, "Price each item\n\nA long text.", map[string]string{
		"src/cart.js":   strings.Replace(thrown["src/cart.js"], "i.price.amount", "i.price.amount * 1", 1),
		"src/server.js": thrown["src/server.js"],
	})
	b.repo.Commit(t, "Say less", map[string]string{"README.md": "# S\n"})
	head := b.repo.Commit(t, "Name the sum", map[string]string{"src/charge.js": thrown["src/charge.js"] + "// The sum.\n// It is in cents.\n"})
	b.connect()

	// 1.0 ran well for an hour; 1.1 throws.
	now := time.Now().UTC()
	release{"shop", "1.0", good, 70, 5, false}.send(t, b.s, now)
	named := resourceText("service.version", "1.1") + resourceText("vcs.ref.head.revision", head) +
		resourceText("deployment.environment.name", "production")
	b.throw("shop", named, stackIn("/app"))
	list := issuesOf(t, b.rest, "shop", func(l []map[string]any) bool { return len(l) == 1 && l[0]["occurrence_count"] != 0.0 })
	path := "/v2/error_issues/" + fmt.Sprint(list[0]["id"])
	var found []any
	eventually(t, "the suspects are found", func() bool {
		found, _ = b.rest.call("GET", path, "", 200)["suspect_commits"].([]any)
		return len(found) > 0
	})
	first, _ := found[0].(map[string]any)
	reason := fmt.Sprint(first["reason"])
	if first["sha"] != culprit || first["message"] != "Price each item" || first["author_login"] != "ada" || first["path"] != "src/cart.js" ||
		first["is_near"] != true || first["is_assumed"] != false || !strings.Contains(reason, "1.1 ("+head[:7]+")") ||
		!strings.Contains(reason, "1.0 ("+good[:7]+")") {
		t.Errorf("the first suspect: %v", first)
	}
	for _, s := range found {
		c, _ := s.(map[string]any)
		if c["sha"] == good || c["message"] == "A server" || c["message"] == "Say less" {
			t.Errorf("a suspect that the release before had, or that touched no file of the stack: %v", c)
		}
	}

	// The service of this error never ran before, so no release is known. The commits of two weeks are suspects, marked as assumed.
	b.throw("young", resourceText("vcs.ref.head.revision", head), stackIn("/srv"))
	list = issuesOf(t, b.rest, "young", func(l []map[string]any) bool { return len(l) == 1 && l[0]["occurrence_count"] != 0.0 })
	eventually(t, "the assumed suspects are found", func() bool {
		found, _ = b.rest.call("GET", "/v2/error_issues/"+fmt.Sprint(list[0]["id"]), "", 200)["suspect_commits"].([]any)
		return len(found) > 0
	})
	first, _ = found[0].(map[string]any)
	if first["is_assumed"] != true || !strings.HasPrefix(fmt.Sprint(first["reason"]), "Assumed") {
		t.Errorf("an assumed suspect: %v", first)
	}

	called := callTool(t.Context(), t, b.s, b.s.APIKey, "error_detail",
		map[string]any{"issue_id": strings.TrimPrefix(path, "/v2/error_issues/")})
	if called.err != nil || !strings.Contains(string(called.body), `"suspectCommits"`) ||
		!strings.Contains(string(called.body), "Price each item") {
		t.Errorf("error_detail: %v %s", called.err, called.body)
	}
	// A key that may read issues and no source code sees none.
	narrow := b.session().call("POST", "/v2/api_keys", `{"name":"issues","scopes":["error_issues:read"]}`, 200)
	got := restClient{t, b.s, fmt.Sprint(narrow["secret"])}.call("GET", path, "", 200)
	if hidden, _ := got["suspect_commits"].([]any); len(hidden) != 0 || got["suspect_problem"] != nil {
		t.Errorf("a key without integrations:read: %v", got["suspect_commits"])
	}
}
