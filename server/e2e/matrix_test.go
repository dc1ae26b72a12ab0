package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store/pgtest"
	"github.com/svc-observability/svc/server/testkit"
)

// matrix tries every operation of the contract. Requests and resources come from the contract and its OpenAPI document, so a new
// method is covered as soon as it exists. The three tables below hold what cannot be derived, each entry with its reason.
type matrix struct {
	t        *testing.T
	mine     *testkit.Server // the organization that acts
	theirs   *testkit.Server // the organization whose resources must stay unseen
	contract *contract.Contract
	document document
	// ingest, unusable and foreign are credentials, by description.
	refused map[string]string
	trace   string
	// admins and members sign in.
	admins, members map[*testkit.Server]*person
	// makers have the keys that client uses.
	makers map[*testkit.Server]*person
	// changed counts the requests for differing.
	changed int
	// seen holds the errors that were answered, see uncovered.
	seen   map[listedError]bool
	faults *faults
	// board is a dashboard of mine whose widgets and variables read telemetry.
	board string
	// db is the database of the server.
	db breakable
	// known means that another run asks the warehouse for telemetry with every malformed name. The database takes no part in that.
	known bool
	// source is the source host of the server.
	source *matrixSource
}

// parameterOf gives parameters that no create or list method gives.
func (x *matrix) parameterOf(name string) (string, bool) {
	switch name {
	case "trace_id": // from telemetry
		return x.trace, true
	case "widget_id": // a name within a dashboard, see moreThanExample
		return "w", true
	case "variable": // as widget_id
		return "v", true
	case "provider": // of source code
		return "github", true
	case "connector": // of chats
		return "slack", true
	case "platform": // of hosting
		return "platform_b", true
	case "sha": // a commit of a repository
		return x.source.head, true
	default:
		return "", false
	}
}

// ofTelemetry gives the names of items in collections of telemetry. Only the organization theirs has telemetry.
func (x *matrix) ofTelemetry(collection string) (string, bool) {
	search := func(path, field string) (string, bool) {
		body := fmt.Sprintf(`{"start_time":%q,"end_time":%q}`, time.Now().UTC().Add(-time.Hour).Format(time.RFC3339),
			time.Now().UTC().Format(time.RFC3339))
		data, _ := restClient{x.t, x.theirs, x.theirs.APIKey}.call("POST", path, body, 200)["data"].([]any)
		if len(data) == 0 {
			x.t.Fatalf("%s finds nothing", path)
		}
		first, _ := data[0].(map[string]any)
		return fmt.Sprint(first[field]), true
	}
	switch collection {
	case "/v2/traces/" + x.trace + "/spans":
		return seedChild, true
	case "/v2/logs":
		return search("/v2/logs/search", "id")
	case "/v2/services":
		return "checkout", true
	case "/v2/metrics":
		return "checkout.orders", true
	case "/v2/error_events":
		return search("/v2/error_events/search", "fingerprint_hash")
	case "/v2/alerts/incidents": // see noSuccess
		return publicid.Encode(publicid.AlertIncident, uuid.New()), true
	case "/v2/traces/agent_sessions": // see noSuccess
		return "conv_of_theirs", true
	default:
		return "", false
	}
}

// telemetryID reports whether an operation reads a resource that only telemetry creates.
func telemetryID(m *contract.Method) bool {
	return strings.HasPrefix(m.HTTP.Path, "/v2/traces/{") || strings.HasPrefix(m.HTTP.Path, "/v2/logs/{") ||
		strings.HasPrefix(m.HTTP.Path, "/v2/services/{") || strings.HasPrefix(m.HTTP.Path, "/v2/metrics/{") ||
		strings.HasPrefix(m.HTTP.Path, "/v2/error_events/{")
}

// noSuccess lists operations whose valid request cannot be made from examples, with the reason.
var noSuccess = map[string]string{
	"getAlertIncident":                 "takes an incident, which only the evaluation of a rule opens; TestAlerts has it",
	"getAgentSessionVerdict":           "takes spans of an agent; TestDiagnosis has it",
	"getAgentSessionFigures":           "as getAgentSessionVerdict",
	"signIn":                           "takes the password of a person; TestSessionLife has it",
	"importExternalDashboard":          "takes a document of Perses; TestDashboardImport has it",
	"resolveShare":                     "takes the token of a share link; TestPublicShare has it",
	"resolveShareOgMeta":               "as resolveShare",
	"resolveShareOgCard":               "as resolveShare",
	"resolveAlertChart":                "takes the id of a picture in a message; TestChatAlerts has it",
	"resolveChatChart":                 "takes the id of a picture in a message; TestIssueChart has it",
	"previewDashboardWidget":           "the example of a data source has fields of several kinds; TestDashboardData has it",
	"resolveShareWidgetData":           "as resolveShare; TestShareWidgetData has it",
	"acceptInvitation":                 "takes the token of a link, once; TestInvitationsAndMembers has it",
	"previewInvitation":                "as acceptInvitation; TestInvitationPage has it",
	"redeemCliLogin":                   "takes the code of a login that a person has confirmed; TestCliLogin has it",
	"endCliLogin":                      "takes the key that a login has made; TestCliLogin has it",
	"deleteOrganization":               "would leave nothing to test with; TestOrganizationDelete has it",
	"removeMember":                     "an organization keeps its last administrator; TestInvitationsAndMembers has it",
	"testAlertDestination":             "sends a message to another server; TestAlertDestinations has it",
	"listTelegramChats":                "asks Telegram; TestAlertDestinations has it",
	"changePassword":                   "needs a session, and the password of its user; TestChangePassword has it",
	"getPreferences":                   "needs a session; TestPreferences has it",
	"updatePreferences":                "as getPreferences",
	"heartbeatErrorIssue":              "takes a lease; TestErrorIssues has it",
	"unlinkErrorIssuePullRequest":      "takes a link; TestErrorIssues has it",
	"mergeErrorIssues":                 "takes several issues; TestErrorIssues has it",
	"splitErrorIssue":                  "takes an issue with several fingerprints; TestErrorIssues has it",
	"registerErrorIssueAgent":          "a key cannot register agents; TestErrorIssues has it",
	"disconnectPlanetScaleIntegration": "takes an account; TestPlanetScale has it",
	"listPlanetScaleOrganizations":     "as disconnectPlanetScaleIntegration",
	"selectPlanetScaleOrganization":    "as disconnectPlanetScaleIntegration",
	"setPlanetScaleMetricsToken":       "as disconnectPlanetScaleIntegration",
	"listPlanetScaleDatabases":         "as disconnectPlanetScaleIntegration",
	"queryPlanetScaleQueryInsights":    "as disconnectPlanetScaleIntegration",
	"listPlanetScaleEvents":            "as disconnectPlanetScaleIntegration",
	"startChatIdentityLink":            "needs a session; TestChatIdentity has it",
	"deleteChatIdentity":               "needs a session; TestChatIdentity has it",
	"connectHostingPlatform":           "takes a token that the platform accepts; TestHostingConnect has it",
	"syncHostingPlatform":              "takes a connected account; TestHostingSync has it",
	"disconnectHostingPlatform":        "as syncHostingPlatform; TestHostingConnect has it",
	"searchSourceCode":                 "has a budget of its own; TestSourceCode has it",
	"deleteSourceRepository":           "takes a repository that was removed; TestSourceAccess has it",
	"signOut":                          "ends a session, which an API key has none of",
}

// noOwner lists identifiers and lists that belong to no organization.
var noOwner = map[string]string{
	"template_id":            "templates belong to every organization",
	"widget_id":              "a widget is named within its dashboard, whose id is isolated",
	"variable":               "a variable is named within its dashboard, whose id is isolated",
	"provider":               "the providers are those of the server",
	"platform":               "the platforms are those of the server; TestHostingConnect lets another organization try",
	"connector":              "the connectors are those of the server",
	"sha":                    "a commit is named within its repository, whose id is isolated",
	"listDashboardTemplates": "templates belong to every organization",
}

// moreThanExample holds the fields that created resources need beyond the example of the document.
var moreThanExample = map[string]map[string]any{
	"createDashboard": {"widgets": []any{map[string]any{ // for the operations on one widget
		"id": "w", "visualization": "chart", "data_source": map[string]any{"kind": "static"}, "display": map[string]any{},
		"layout": map[string]any{"x": 0, "y": 0, "w": 4, "h": 4},
	}}, "variables": []any{map[string]any{"name": "v", "type": "query", "source": map[string]any{"kind": "facet", "facet": "service"}}}},
}

// firstDo names the operation, with the same path, that creates what an operation needs.
var firstDo = map[string]string{
	"revokeDashboardShare":       "upsertDashboardShare",
	"revokeDashboardWidgetShare": "upsertDashboardWidgetShare",
	"rotateDashboardShare":       "upsertDashboardShare",
	"rotateDashboardWidgetShare": "upsertDashboardWidgetShare",
}

func newMatrix(t *testing.T, s *testkit.Server, f *faults, source *matrixSource) *matrix {
	x := &matrix{
		t: t, source: source, mine: s.NewOrganization(t, "Matrix mine"), theirs: s.NewOrganization(t, "Matrix theirs"), trace: seedTrace,
		seen: map[listedError]bool{}, faults: f,
	}
	seedTelemetry(t, x.theirs)
	for _, s := range []*testkit.Server{x.mine, x.theirs} {
		seedRecommendation(t, s)
	}
	seedSession(t, x.mine) // while its ingest keys are valid: some operations roll them
	x.contract = theContract(t)
	x.document = readDocument(t, x.mine)
	x.admins, x.members, x.makers = map[*testkit.Server]*person{}, map[*testkit.Server]*person{}, map[*testkit.Server]*person{}
	for _, s := range []*testkit.Server{x.mine, x.theirs} {
		x.admins[s], x.members[s], x.makers[s] = &person{email: s.AdminEmail, password: s.AdminPassword}, join(t, s), &person{}
	}

	keys := restClient{t, x.mine, x.mine.APIKey}
	create := func(body string) (id, secret string) {
		made := keys.call("POST", "/v2/api_keys", body, 200)
		return fmt.Sprint(made["id"]), fmt.Sprint(made["secret"])
	}
	_, mcp := create(`{"name":"mcp","kind":"mcp"}`)
	_, expired := create(`{"name":"expired","expires_in_seconds":1}`)
	due := time.Now().Add(1100 * time.Millisecond)
	id, revoked := create(`{"name":"revoked"}`)
	keys.call("DELETE", "/v2/api_keys/"+id, "", 200)
	id, rolled := create(`{"name":"rolled"}`)
	keys.call("POST", "/v2/api_keys/"+id+"/roll", "", 200)
	custom := keys.call("POST", "/v2/ingest_keys/custom", `{"name":"matrix","allowed_signals":["traces"]}`, 200)
	x.refused = map[string]string{
		"public ingest key": x.mine.PublicKey, "private ingest key": x.mine.PrivateKey, "custom ingest key": fmt.Sprint(custom["secret"]),
		"MCP-only key": mcp, "expired key": expired, "revoked key": revoked, "rolled key": rolled,
		"unknown key": "svc_ak_" + strings.Repeat("A", 43), "unknown session": "svc_st_" + strings.Repeat("A", 43), "no key at all": "secret",
	}
	time.Sleep(time.Until(due))
	return x
}

// key makes an API key for the tests of one operation, which gives them a separate budget of requests.
func (x *matrix) key(s *testkit.Server, scopes ...string) string {
	x.t.Helper()
	body, _ := json.Marshal(map[string]any{"name": "matrix " + strings.Join(scopes, " "), "scopes": scopes})
	if len(scopes) == 0 {
		body = []byte(`{"name":"matrix"}`)
	}
	by := s.APIKey
	if m := x.makers[s]; m != nil && m.uses%200 != 0 { // the operations need more keys than one key may make in a minute
		by = m.token
		m.uses++
	}
	return fmt.Sprint(restClient{x.t, s, by}.call("POST", "/v2/api_keys", string(body), 200)["secret"])
}

// TestMatrix tries every operation with every insufficient credential, every identifier of another organization, and every kind
// of invalid input, over REST and Connect. The answer must always be in the operation's list of errors, and each error of that
// list must be answered.
func TestMatrix(t *testing.T) {
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) { // a separate server, because its database is broken at the end
		t.Parallel()
		f, source := &faults{}, newMatrixSource(t)
		s := testkit.Start(t, source.apps, f.options)
		runMatrix(t, newMatrix(t, s, f, source), brokenSQLite(t, s))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		database := pgtest.Start(t).NewDatabase(t)
		f, source := &faults{}, newMatrixSource(t)
		s := testkit.Start(t, func(c *config.Config) {
			c.DatabaseURL = config.DSN(database)
			source.apps(c)
		}, f.options)
		x := newMatrix(t, s, f, source)
		x.known = true
		runMatrix(t, x, brokenPostgres(t, database))
	})
}

func runMatrix(t *testing.T, x *matrix, db breakable) {
	x.db = db
	tried := 0
	var all []*operated
	for _, m := range x.contract.Methods() {
		if m.NoREST {
			continue
		}
		tried++
		t.Run(m.OperationID, func(t *testing.T) {
			o := x.operation(t, m)
			all = append(all, o)
			for _, c := range []struct {
				name    string
				applies bool
				run     func(*testing.T)
			}{
				{"success", noSuccess[m.OperationID] == "", o.success},
				{"credentials", !m.Public, o.credentials},
				{"sessions", !m.Public && (m.Admin || noSuccess[m.OperationID] == ""), o.sessions},
				{"isolation", true, o.isolation},
				{"paging", o.field("limit") != nil, o.paging},
				{"unknown fields", true, o.unknownFields},
				{"bad bodies", true, o.badBodies},
				{"wrong types", m.HTTP.BodyField != "", o.wrongTypes},
				{"each field", m.HTTP.Method == http.MethodPatch, o.eachField},
				{"missing fields", len(o.spec.required) > 0, o.missingFields},
				{"http", true, o.http},
			} {
				if c.applies {
					t.Run(c.name, c.run)
				}
			}
		})
	}
	if tried < 30 {
		t.Errorf("only %d operations were found", tried)
	}
	t.Run("listed errors", func(t *testing.T) {
		x.board = x.charts(t)
		x.complete(t, all)
		x.provoke(t, all)
		x.reuse(t, all)
		x.failTelemetry(t, all)
		x.late(t, all)
		x.unfinished(t, all, db)
		x.exhaust(t, all)
		x.breakDefinitions(t, all, db)
		x.breakDatabase(t, all, db)
		x.uncovered(t, all)
	})
}

// operated is one operation with a valid request.
type operated struct {
	*matrix
	m       *contract.Method
	spec    specification
	key     string
	request map[string]any
}

func (x *matrix) operation(t *testing.T, m *contract.Method) *operated {
	o := &operated{matrix: x, m: m, spec: x.document.operation(t, m), key: x.key(x.mine)}
	o.request = o.valid(t, x.mine)
	return o
}

// valid returns a request that succeeds in an organization. Its path parameters name resources that are made for it.
func (o *operated) valid(t *testing.T, s *testkit.Server) map[string]any {
	t.Helper()
	request := maps.Clone(o.spec.example)
	if _, has := request["start_time"]; has {
		request["start_time"], request["end_time"] = time.Now().UTC().Add(-time.Hour).Format(time.RFC3339), time.Now().UTC().Format(time.RFC3339)
	}
	if different := differing[o.m.OperationID]; different != nil {
		o.changed++
		different(request, o.changed)
	}
	path := ""
	for _, segment := range strings.Split(strings.TrimPrefix(o.m.HTTP.Path, "/"), "/") {
		name, isParam := strings.CutPrefix(segment, "{")
		if name = strings.TrimSuffix(name, "}"); !isParam {
			path += "/" + segment
			continue
		}
		value, known := o.parameterOf(name)
		if !known {
			value, known = o.ofTelemetry(path)
		}
		if !known {
			value = o.resource(t, s, path)
		}
		request[name] = value
		path += "/" + value
	}
	return request
}

// resource makes a resource in a collection, or takes the first that the collection lists, and returns its id.
func (x *matrix) resource(t *testing.T, s *testkit.Server, collection string) string {
	t.Helper()
	if collection == "/v2/session_replays" { // recorded by browsers
		return seedSession(t, s).id
	}
	if collection == "/v2/error_issues" { // made of telemetry
		return seedIssue(t, x.db, s)
	}
	if place, ok := strings.CutPrefix(collection, "/v2/integrations/"); ok && place != "logpush_connectors" { // made in a browser
		if place == "chat_workspaces" {
			return x.seedWorkspace(t, s)
		}
		connection, repository := x.seedConnection(t, s)
		if place == "source_connections" {
			return connection
		}
		return repository
	}
	for _, m := range x.contract.Route(strings.Split(strings.TrimPrefix(collection, "/"), "/")) {
		client := x.client(t, s)
		switch m.HTTP.Method {
		case http.MethodPost:
			fields := x.document.operation(t, m).example
			maps.Copy(fields, moreThanExample[m.OperationID])
			if different := differing[m.OperationID]; different != nil {
				x.changed++
				different(fields, x.changed)
			}
			body, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			if id, ok := client.call("POST", collection, string(body), 200)["id"].(string); ok {
				return id
			}
		case http.MethodGet:
			if slices.ContainsFunc(x.contract.Route(strings.Split(strings.TrimPrefix(collection, "/"), "/")),
				func(m *contract.Method) bool { return m.HTTP.Method == http.MethodPost }) {
				continue
			}
			data, _ := client.call("GET", collection, "", 200)["data"].([]any)
			if len(data) > 0 {
				first, _ := data[0].(map[string]any)
				if id, ok := first["id"].(string); ok {
					return id
				}
			}
		}
	}
	t.Fatalf("nothing at %s makes or lists a resource: say in matrix.parameterOf where its id comes from", collection)
	return ""
}

// try sends a request through both doors and passes each answer on.
func (o *operated) try(t *testing.T, key string, request map[string]any, check func(door string, a answer)) {
	t.Helper()
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	for _, door := range []string{"rest", "connect"} {
		check(door, o.ask(t, door, o.mine, key, body))
	}
}

// refuses sends a request through both doors. Both must answer with one of the tags, and with the parameter if one is named.
func (o *operated) refuses(t *testing.T, what, key string, request map[string]any, param string, tags ...apierr.Tag) {
	t.Helper()
	o.try(t, key, request, func(door string, a answer) { o.refused1(t, door+": "+what, a, param, tags...) })
}

func (o *operated) refused1(t *testing.T, what string, a answer, param string, tags ...apierr.Tag) {
	t.Helper()
	if a.err == nil {
		t.Errorf("%s: accepted: %.200s", what, a.body)
		return
	}
	tag, known := apierr.Lookup(a.err.Tag)
	if !known || !slices.Contains(tags, tag) {
		t.Errorf("%s: %s (%s), want %v", what, a.err.Tag, a.err.Message, tags)
	}
	if !slices.Contains(o.m.Errors, tag) {
		t.Errorf("%s: %s is not among the errors of %s", what, a.err.Tag, o.m.OperationID)
	}
	if param != "" && a.err.Param != param && !strings.HasPrefix(a.err.Param, param+".") && !strings.HasPrefix(a.err.Param, param+"[") {
		t.Errorf("%s: the error blames %q (%s), want %q", what, a.err.Param, a.err.Message, param)
	}
}

// raw sends a request over REST unchanged, checks the rules for every answer, and returns status, headers and tag.
func (o *operated) raw(t *testing.T, method, query string, header http.Header, body io.Reader) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, o.mine.BaseURL+o.path()+query, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+o.key)
	maps.Copy(req.Header, header)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if ids := res.Header.Values("X-Request-Id"); len(ids) != 1 || ids[0] == "" {
		t.Errorf("%s %s: X-Request-Id %q", method, o.path(), ids)
	}
	if got := res.Header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("%s %s: Cache-Control %q, want no-store", method, o.path(), got)
	}
	var e struct {
		Error wireError `json:"error"`
	}
	if len(text) > 0 && json.Unmarshal(text, &e) != nil && !strings.HasPrefix(string(text), "[") {
		t.Errorf("%s %s: %d is no JSON: %.200s", method, o.path(), res.StatusCode, text)
	}
	if e.Error.Tag != "" && method == o.m.HTTP.Method {
		o.note("rest", &e.Error)
	}
	return res.StatusCode, res.Header, e.Error.Tag
}

func (o *operated) path() string {
	path := o.m.HTTP.Path
	for _, name := range o.m.HTTP.PathParams {
		path = strings.Replace(path, "{"+name+"}", fmt.Sprint(o.request[name]), 1)
	}
	return path
}

func (o *operated) with(field string, value any) map[string]any {
	changed := maps.Clone(o.request)
	changed[field] = value
	return changed
}
