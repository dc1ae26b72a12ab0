package e2e

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // breaks the database of a server
	_ "modernc.org/sqlite"             // like pgx

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/testkit"
)

// listedError is an error in the list of an operation, as one door answers it.
type listedError struct {
	door, operation string
	tag             apierr.Tag
}

// ask sends a request through a door and records the error of the answer.
func (o *operated) ask(t *testing.T, door string, s *testkit.Server, key string, body []byte) answer {
	t.Helper()
	a := doors[door](t, s, key, o.m, body)
	o.note(door, a.err)
	return a
}

func (o *operated) note(door string, e *wireError) {
	if e == nil {
		return
	}
	if tag, known := apierr.Lookup(e.Tag); known {
		o.seen[listedError{door, o.m.OperationID, tag}] = true
	}
}

// exemption is an error that operations list but the matrix does not cause. It names the test that does, or the reason why no
// test can.
type exemption struct {
	// operations and tag are patterns of names; door is empty for both.
	operations, tag, door, reason string
}

var exemptions = []exemption{
	{`.*`, `ResponseSchemaError|UnexpectedError`, "", "a defect of the server: TestErrors in server/rpc"},
	{`listErrorIssues`, `TimeRangeInvalidError`, "", "takes both times, which are optional: TestErrorIssues"},
	{`listErrorIncidents`, `ErrorIssueNotFoundError`, "", "takes the id of an issue that does not exist: TestErrorIssues"},
	{`.*ErrorIssue.*`, `ErrorIssue(Transition|LeaseConflict|PullRequestInvalid|PullRequestNotFound)Error|ActorNotFoundError|ErrorForbiddenError|CursorSortMismatchError`, "", "takes an issue in another state, or another actor: TestErrorIssues"},
	{
		`.*(ErrorIssue|ErrorNotificationPolicy|ErrorEscalationPolicy).*`, `ErrorValidationError|ErrorForbiddenError`, "",
		"takes values that only the service knows: TestErrorIssues",
	},
	{
		`.*Source.*|setTrackedBranch`, `Integrations(Forbidden|Revoked|Upstream)Error|Vcs(RateLimited|NotReady)Error`, "",
		"takes a source host that refuses or fails: TestSourceFailures",
	},
	{
		`(create|update)AlertDestination`, `Integrations(Revoked|Upstream|Persistence|Validation)Error`, "",
		"takes a chat that refuses or fails: TestChatAlerts",
	},
	{
		`connectHostingPlatform`, `IntegrationsConfigurationError|IntegrationsUpstreamError`, "",
		"a setting of the server, and a platform that fails: TestHostingOff, TestHostingConnect",
	},
	{
		`(create|rotate)LogpushConnector`, `IntegrationsConfigurationError`, "",
		"a server that does not know its ingest gateway: TestAddressed in server/services/logpushconnectors",
	},
	{
		`startChatIdentityLink`, `Integrations(Validation|NotFound|Persistence)Error`, "",
		"takes a session: TestChatIdentity, and installChatConnector, which begins in the same way",
	},
	{`deleteChatIdentity`, `Integrations(NotFound|Persistence)Error`, "", "takes a session: TestChatIdentity"},
	{`listChatWorkspaceDestinations`, `IntegrationsNotConnectedError`, "", "takes a workspace whose access was withdrawn: TestChatRefresh"},
	{
		`.*PlanetScale.*`, `Integrations(Revoked|Upstream|Validation)Error|ScrapeTargetValidationError`, "",
		"takes an account that was selected, refused or fails: TestPlanetScale, TestPlanetScaleAccess",
	},
	{`.*PlanetScale.*`, `ScrapeTargetPersistenceError`, "", "the account is read before its target, and the database of both is one"},
	{`probeScrapeTarget`, `ScrapeTargetValidationError`, "", "takes a target of an integration: TestPlanetScale"},
	{
		`installSourceHost|connectPlanetScaleIntegration|installChatConnector|startChatIdentityLink`,
		`CallbackHostUnavailableError|IntegrationsConfigurationError`, "",
		"a setting of the server: TestIntegrationSettings, and TestAddressProblem in server/integrations",
	},
	{`deleteScrapeTarget`, `ScrapeTargetValidationError`, "", "takes a target of an integration: testScrapeTargetRules in " +
		"server/store/storetest"},
	{
		`.*`, `PayloadTooLargeError|UnsupportedMediaTypeError`, "connect",
		"the protocol has its own answers to these; TestUnreadableMessages in server/rpc",
	},
	{`getLogContext`, `LogQueryInvalidError`, "", "takes a record that lacks what the scope names: TestLogContext in server/services/logs"},
	{`inspectDashboardWidget`, `WarehouseQueryError`, "", "a widget whose query is refused is a verdict, inside a success: failTelemetry"},
	{
		`listEnvironments|getMetric|getService|getServiceMap|getTrace|getSpan|diagnoseService|getTraceCriticalPath|getAgentSession(Verdict|Figures)`, `ParameterInvalidError`, "connect",
		"only their times can be invalid, and Connect cannot read a message with such a one: InvalidRequestError",
	},
	{
		`getSessionReplayEvents`, `SessionReplayRangeTooLargeError`, "",
		"takes a recording of more than 8 MB: TestEventsTooLarge in server/services/sessionreplays",
	},
	{`resolve.*`, `ShareRateLimitedError`, "", "TestShareLimits in server/services/dashboards/links"},
	{`resolve(Alert|Chat)Chart`, `SharePersistenceError`, "", "takes a chart whose subject cannot be read: TestCharts in " +
		"server/services/dashboards/links"},
	{`(create|update)AlertDestination`, `AlertDestinationEncryptionError`, "", "sealing fails only without random numbers"},
	{
		`(create|update)AlertDestination`, `AlertRecipientSelectionError|AlertMemberDirectoryUnavailableError`, "",
		"takes a mail server: TestEmailDestination",
	},
	{
		`updateAlertDestination`, `AlertMemberDirectoryNotConfiguredError|IntegrationsNotConnectedError`, "",
		"such a destination cannot be created here",
	},
	{
		`testAlertDestination`, `AlertDelivery.*Error|AlertDestinationDecryptionError`, "",
		"takes a destination that answers so: TestAlertDestinations",
	},
	{
		`testAlertRule`, `AlertDelivery.*Error|AlertDestination(Decryption|StoredConfigInvalid)Error`, "",
		"takes a destination that answers so: TestAlertDestinations",
	},
	{`testAlertRule`, `AlertPersistenceError`, "", "a test without a message reads no rule"},
	{`deleteAlertDestination`, `AlertDestinationInUseError`, "", "takes a rule: alertdestination_test.go in server/store"},
	{`signIn|changePassword|acceptInvitation`, `SignInThrottledError`, "", "after many attempts: TestSignInFlood"},
	{`endCliLogin`, `ApiKeyPersistenceError`, "", "takes the key of a login, which is revoked as by revokeApiKey: TestCliLogin"},
	{`redeemCliLogin`, `CliLogin(Pending|SlowDown|Denied)Error`, "", "what people do meanwhile: TestCliLogin"},
	{
		`signIn|acceptInvitation|previewInvitation|(start|redeem)CliLogin|resolve.*`, `RateLimitError`, "",
		"public: the budget is that of a credential",
	},
	{`signIn`, `ApiKeyLookupPersistenceError`, "", "public: who asks is not looked up"},
	{
		`acceptInvitation|previewInvitation|(start|redeem)CliLogin|resolve.*`, `AuthorizationUnavailableError|ApiKeyLookupPersistenceError`, "",
		"public: who asks is not looked up",
	},
}

func (e *exemption) covers(l listedError) bool {
	return (e.door == "" || e.door == l.door) && regexp.MustCompile("^(?:"+e.operations+")$").MatchString(l.operation) &&
		regexp.MustCompile("^(?:"+e.tag+")$").MatchString(nameOf(l.tag))
}

// uncovered fails for each error that an operation lists and that no answer had, and for exemptions that are not needed.
func (x *matrix) uncovered(t *testing.T, all []*operated) {
	listed, answered, exempt, missing := 0, 0, make([]int, len(exemptions)), []string{}
	for _, o := range all {
		for _, tag := range o.m.Errors {
			for _, door := range []string{"rest", "connect"} {
				listed++
				l := listedError{door, o.m.OperationID, tag}
				if x.seen[l] {
					answered++
					continue
				}
				if i := slices.IndexFunc(exemptions, func(e exemption) bool { return e.covers(l) }); i >= 0 {
					exempt[i]++
					continue
				}
				missing = append(missing, fmt.Sprintf("%s: %s lists %s", door, o.m.OperationID, nameOf(tag)))
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("%d of %d listed errors were not answered. Bring each about in provocations, or name the reason in exemptions:\n%s",
			len(missing), listed, strings.Join(missing, "\n"))
	}
	for i, e := range exemptions {
		if exempt[i] == 0 {
			t.Errorf("every %s of %s was answered: it needs no exemption", e.tag, e.operations)
		}
		t.Logf("%d exempt: %s of %s: %s", exempt[i], e.tag, e.operations, e.reason)
	}
	t.Logf("%d listed errors of %d operations, over two doors: %d answered, %d exempt", listed, len(all), answered,
		listed-answered-len(missing))
}

// nameOf is the last part of a tag.
func nameOf(tag apierr.Tag) string { return path.Base(apierr.Spec(tag).GetTag()) }

// every sends the request of each operation through both doors; credential returns the credential of the caller.
func (x *matrix) every(t *testing.T, all []*operated, credential func(o *operated) string) {
	t.Helper()
	for _, o := range all {
		key := credential(o)
		o.try(t, key, o.request, func(string, answer) {})
	}
}

// exhaust sends every request with a key that has used up its budget.
func (x *matrix) exhaust(t *testing.T, all []*operated) {
	key := x.key(x.mine, "traces:read")
	for range 600 {
		if status, _ := as(t, x.mine, key, "", http.MethodGet, "/v2/api_keys", ""); status == http.StatusTooManyRequests {
			break
		}
	}
	x.every(t, all, func(*operated) string { return key })
}

// reuse sends every request that can be repeated with the Idempotency-Key of another one.
func (x *matrix) reuse(t *testing.T, all []*operated) {
	const used = "the key of another request"
	key := x.key(x.mine)
	send := func(o *operated, door, path string, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.mine.BaseURL+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "Idempotency-Key": {used}}
		if status, text := roundTrip(t, req); status == http.StatusConflict && bytes.Contains(text, []byte("used for another request")) {
			o.note(door, &wireError{Tag: apierr.Spec(apierr.IdempotencyKeyReused).GetTag()})
		} else if o.m.OperationID != "createApiKey" {
			t.Errorf("%s: %s with a used Idempotency-Key: %d %.300s", door, o.m.OperationID, status, text)
		}
	}
	for _, o := range all {
		if o.m.OperationID == "createApiKey" {
			send(o, "rest", "/v2/api_keys", []byte(`{"name":"first"}`))
		}
	}
	for _, o := range all {
		if !o.m.IdempotencyKey || o.m.Public {
			continue
		}
		body, err := json.Marshal(o.request)
		if err != nil {
			t.Fatal(err)
		}
		send(o, "connect", o.m.Procedure, body)
		rest, err := io.ReadAll(o.body(t))
		if err != nil {
			t.Fatal(err)
		}
		send(o, "rest", o.path(), rest)
	}
}

// breakable is the database of a server.
type breakable struct {
	db *sql.DB
	// tables is the query that lists all tables.
	tables string
	// freeze makes the table of idempotency keys accept only new rows; thaw ends that.
	freeze, thaw []string
}

func (b breakable) exec(t *testing.T, statement string) {
	t.Helper()
	if _, err := b.db.ExecContext(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// only removes all tables except some. These return if they were removed before.
func (b breakable) only(t *testing.T, kept ...string) {
	t.Helper()
	const mark = "gone_"
	for _, name := range b.list(t) {
		base, gone := strings.CutPrefix(name, mark)
		switch keep := slices.Contains(kept, base); {
		case keep && gone:
			b.exec(t, fmt.Sprintf(`ALTER TABLE %q RENAME TO %q`, name, base))
		case !keep && !gone:
			b.exec(t, fmt.Sprintf(`ALTER TABLE %q RENAME TO %q`, name, mark+name))
		}
	}
}

func (b breakable) list(t *testing.T) (names []string) {
	t.Helper()
	rows, err := b.db.QueryContext(t.Context(), b.tables)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return names
}

func breakDown(t *testing.T, driver, source string, b breakable) breakable {
	t.Helper()
	var err error
	if b.db, err = sql.Open(driver, source); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.db.Close() })
	return b
}

func brokenPostgres(t *testing.T, url string) breakable {
	t.Helper()
	return breakDown(t, "pgx", url, breakable{
		tables: "SELECT tablename FROM pg_tables WHERE schemaname = 'public'",
		freeze: []string{
			"CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
			"CREATE TRIGGER stay BEFORE UPDATE OR DELETE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION stay()",
		},
		thaw: []string{"DROP TRIGGER stay ON idempotency_keys"},
	})
}

func brokenSQLite(t *testing.T, s *testkit.Server) breakable {
	t.Helper()
	return breakDown(t, "sqlite", "file:"+filepath.Join(s.DataDir, "svc.db")+"?_pragma=busy_timeout(5000)", breakable{
		tables: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
		freeze: []string{
			"CREATE TRIGGER stay_unchanged BEFORE UPDATE ON idempotency_keys BEGIN SELECT RAISE(IGNORE); END",
			"CREATE TRIGGER stay BEFORE DELETE ON idempotency_keys BEGIN SELECT RAISE(IGNORE); END",
		},
		thaw: []string{"DROP TRIGGER stay_unchanged", "DROP TRIGGER stay"},
	})
}

// breakDefinitions leaves stored dashboards that cannot be read, with their links, and scrape targets whose credentials are lost.
func (x *matrix) breakDefinitions(t *testing.T, all []*operated, db breakable) {
	var concerned []*operated
	for _, o := range all {
		switch {
		case strings.HasPrefix(o.m.OperationID, "resolveShare"):
			o.request = o.link(t, "public")
		case slices.Contains(o.m.Errors, apierr.DashboardStoredConfigInvalid),
			slices.Contains(o.m.Errors, apierr.ScrapeTargetStoredConfigInvalid),
			slices.Contains(o.m.Errors, apierr.AlertDestinationStoredConfigInvalid),
			slices.Contains(o.m.Errors, apierr.AlertRuleStoredConfigInvalid):
			o.request = o.valid(t, x.mine)
		default:
			continue
		}
		concerned = append(concerned, o)
	}
	// A version that was valid once.
	credential := func(o *operated) string {
		if o.m.Public {
			return ""
		}
		return o.client(t, x.mine).key
	}
	db.exec(t, `UPDATE dashboard_versions SET snapshot = '{"name":"n","description":null,"tags":[" "],"time_range":{"type":"relative","value":"12h"},"widgets":[],`+
		`"sections":[],"variables":[],"refresh_interval_seconds":null}'`)
	x.every(t, concerned, credential)
	db.exec(t, "UPDATE scrape_targets SET credentials = NULL")
	db.exec(t, "UPDATE alert_destinations SET config = '[]'")
	db.exec(t, `UPDATE alert_rules SET destination_ids = '["x"]'`)
	db.exec(t, "UPDATE dashboards SET definition = '[]', version = version + 1000")
	db.exec(t, "UPDATE dashboard_versions SET snapshot = '[]'")
	x.every(t, concerned, credential)
}

// breakDatabase removes tables in four steps: those of links; all except those that identify the owner of a key; all except those
// that identify the signed-in person; all. Public operations run at the end only, since attempts to sign in are counted.
func (x *matrix) breakDatabase(t *testing.T, all []*operated, db breakable) {
	admin := x.admins[x.mine]
	session := func() string { return signIn(t, x.mine, admin.email, admin.password, x.mine.OrgID) }
	key, known, fresh, unknown := x.key(x.mine), session(), x.key(x.mine), session()
	var private, links []*operated
	for _, o := range all {
		if o.m.Public {
			continue
		}
		private = append(private, o)
		if slices.Contains(o.m.Extra, apierr.SharePersistence) {
			o.request = o.valid(t, x.mine)
			links = append(links, o)
		}
	}
	db.only(t, slices.DeleteFunc(db.list(t), func(name string) bool { return name == "dashboard_shares" })...)
	x.every(t, links, func(*operated) string { return key })
	db.only(t, "api_keys")
	x.every(t, private, func(*operated) string { return key })
	db.only(t, "sessions", "users", "memberships")
	for _, credential := range []string{known, fresh} {
		x.every(t, private, func(*operated) string { return credential })
	}
	db.only(t)
	x.every(t, all, func(*operated) string { return unknown })
}

// complete adds to requests the fields that they need beyond their examples to reach the database.
func (x *matrix) complete(t *testing.T, all []*operated) {
	for _, o := range all {
		switch o.m.OperationID {
		case "importExternalDashboard":
			document, err := os.ReadFile("../services/dashboards/perses/testdata/complete.json")
			if err != nil {
				t.Fatal(err)
			}
			o.request["dashboard"] = json.RawMessage(document)
		case "changePassword":
			o.request["current_password"], o.request["new_password"] = "the one of before", "a long enough password"
		case "deleteOrganization":
			o.request["confirm"] = x.mine.OrgID
		}
	}
}

// provoke sends what brings about errors that need more than a bad request of the other cases.
func (x *matrix) provoke(t *testing.T, all []*operated) {
	theirs := x.admins[x.theirs]
	stranger := signIn(t, x.theirs, theirs.email, theirs.password, x.theirs.OrgID)
	for _, o := range all {
		for _, p := range provocations(o.m) {
			request := maps.Clone(o.spec.example)
			if !o.m.Public {
				request = o.valid(t, x.mine)
			}
			if p.change != nil {
				p.change(o, t, request)
			}
			key := ""
			switch p.by {
			case "":
				if !o.m.Public {
					key = o.client(t, x.mine).key
				}
			case "stranger":
				key = stranger
			}
			o.try(t, key, request, func(string, answer) {})
		}
		if o.m.Public {
			continue
		}
		// The matrix sends this header over REST only.
		body, err := json.Marshal(o.request)
		if err != nil {
			t.Fatal(err)
		}
		o.note("connect", callConnectIn(t, x.mine, o.key, x.theirs.OrgID, o.m, body).err)
	}
}

// provocation turns a valid request into one that causes an error that its operation lists. The sender is a stranger with a
// session of the other organization, or an API key, or a caller without a credential if the operation is public.
type provocation struct {
	by     string
	change func(o *operated, t *testing.T, request map[string]any)
}

func set(field string, value any) provocation {
	return provocation{change: func(_ *operated, _ *testing.T, request map[string]any) { request[field] = value }}
}

// takenName gives a saved view the name of another one.
func takenName(o *operated, t *testing.T, request map[string]any) {
	request["name"] = fmt.Sprint("Taken ", time.Now().UnixNano())
	body := fmt.Sprintf(`{"page":%q,"name":%q,"visibility":"shared"}`, request["page"], request["name"])
	o.client(t, o.mine).call("POST", "/v2/saved_views", body, 200)
}

func provocations(m *contract.Method) []provocation {
	if strings.HasSuffix(m.OperationID, "Chart") {
		return []provocation{set("chart_id", "nobody-knows-this-chart")}
	}
	if strings.HasPrefix(m.OperationID, "resolveShare") {
		open := func(mode string) func(*operated, *testing.T, map[string]any) {
			return func(o *operated, t *testing.T, request map[string]any) { maps.Copy(request, o.link(t, mode)) }
		}
		out := []provocation{set("token", "nobody-knows-this-token"), {change: open("org")}, {by: "stranger", change: open("org")}}
		switch m.OperationID {
		case "resolveShareOgCard":
			out[0] = set("og_id", "nobody-knows-this-card")
		case "resolveShareWidgetData":
			out[0].change = func(o *operated, t *testing.T, request map[string]any) {
				maps.Copy(request, o.link(t, "public"))
				request["token"] = "nobody-knows-this-token"
			}
			out = append(out, provocation{change: func(o *operated, t *testing.T, request map[string]any) {
				maps.Copy(request, o.link(t, "public"))
				request["time_range"] = map[string]any{"start_time": "2026-01-02T00:00:00Z", "end_time": "2026-01-01T00:00:00Z"}
			}}, provocation{change: func(o *operated, t *testing.T, request map[string]any) {
				maps.Copy(request, o.link(t, "public"))
				request["variable_values"] = map[string]any{"v": strings.Repeat("x", 100_000)}
			}})
		}
		return out
	}
	invited := func(email string) func(*operated, *testing.T, map[string]any) {
		return func(o *operated, t *testing.T, request map[string]any) {
			body := "{}"
			if email != "" {
				body = fmt.Sprintf(`{"email":%q}`, email)
			}
			made := o.client(t, o.mine).call("POST", "/v2/organization/invitations", body, 200)
			request["token"] = strings.TrimPrefix(fmt.Sprint(made["link"]), o.mine.BaseURL+"/invite/")
			request["email"], request["password"] = o.mine.AdminEmail, "not the password of this user"
		}
	}
	switch m.OperationID {
	case "createDashboard", "updateDashboard":
		return []provocation{set("tags", []any{" "}), set("expected_updated_at", "2020-01-01T00:00:00Z")}
	case "importExternalDashboard":
		return []provocation{set("dashboard", map[string]any{"kind": "Dashboard"})}
	case "instantiateDashboardTemplate", "previewDashboardTemplate":
		return []provocation{
			set("parameters", map[string]any{"nonsense": "x"}), set("name", "\u0007"),
			{change: func(o *operated, _ *testing.T, request map[string]any) {
				request["template_id"], request["parameters"] = publicid.EncodeText(publicid.DashboardTemplate, "metric-overview"), map[string]any{}
			}},
			set("template_id", publicid.EncodeText(publicid.DashboardTemplate, "nobody")),
		}
	case "rotateDashboardShare", "rotateDashboardWidgetShare":
		return []provocation{{}} // for something that is not shared
	case "upsertDashboardWidgetShare":
		return []provocation{set("widget_id", "nobody")}
	case "createCustomIngestKey", "updateCustomIngestKey":
		return []provocation{set("resource_attributes", []any{map[string]any{"key": "svc_x", "value": "x", "mode": "always_set"}})}
	case "createLogpushConnector", "updateLogpushConnector":
		return []provocation{set("zone_name", "a\nb")}
	case "createAttributeMapping", "updateAttributeMapping":
		return []provocation{{change: func(_ *operated, _ *testing.T, request map[string]any) {
			request["source_context"], request["source_key"], request["target_key"] = "span", "a", "a"
		}}}
	case "createInvestigation":
		return []provocation{set("issue_id", "nothing")}
	case "updateInvestigation":
		return []provocation{set("title", "a\nb")}
	case "addInvestigationFinding":
		return []provocation{set("request", map[string]any{"x": strings.Repeat("x", 8<<10)})}
	case "getSourceHost":
		return []provocation{set("provider", "nobody")}
	case "installSourceHost":
		return []provocation{set("provider", "nobody"), set("return_to", "//evil.example")}
	case "startChatIdentityLink", "deleteChatIdentity":
		return []provocation{set("connector", "slack")} // by a key
	case "listChatWorkspaceDestinations":
		return []provocation{set("q", strings.Repeat("x", 201))}
	case "getHostingPlatform", "syncHostingPlatform", "disconnectHostingPlatform", "listHostingProjects", "listHostingDeployments":
		return []provocation{set("platform", "platform_z"), set("platform", "platform_b")}
	case "connectHostingPlatform":
		return []provocation{set("platform", "platform_z"), set("token", "no-such-token")}
	case "connectPlanetScaleIntegration":
		return []provocation{set("return_to", "//evil.example")}
	case "queryPlanetScaleQueryInsights", "listPlanetScaleEvents":
		return []provocation{
			{change: func(_ *operated, _ *testing.T, request map[string]any) {
				request["start_time"], request["end_time"] = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
			}}, {}, // without an account
		}
	case "selectPlanetScaleOrganization", "setPlanetScaleMetricsToken", "listPlanetScaleOrganizations", "listPlanetScaleDatabases",
		"disconnectPlanetScaleIntegration":
		return []provocation{{}} // without an account
	case "installChatConnector":
		return []provocation{set("connector", "irc"), set("return_to", "//evil.example")}
	case "updateChatWorkspace":
		return []provocation{set("settings", map[string]any{"color": "red"})}
	case "setTrackedBranch":
		return []provocation{set("tracked_branch", "nobody")}
	case "deleteSourceRepository":
		return []provocation{{}} // it is active
	case "searchSourceCode":
		return []provocation{set("query", "repo:acme/shop"), set("ref", "nobody")}
	case "readSourceFile":
		return []provocation{set("path", "../x"), set("path", "nobody.go"), set("ref", "nobody")}
	case "getSourceCommit":
		return []provocation{set("sha", "zz"), set("sha", strings.Repeat("0", 40))}
	case "compareSourceCommits":
		return []provocation{set("base", "nobody")}
	case "createMarker", "updateMarker":
		return []provocation{{change: func(_ *operated, _ *testing.T, request map[string]any) {
			request["occurred_at"], request["ended_at"] = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
		}}}
	case "listMarkers":
		return []provocation{{change: func(_ *operated, _ *testing.T, request map[string]any) {
			request["start_time"], request["end_time"] = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
		}}}
	case "createSavedView":
		return []provocation{set("state", "q=%zz"), {change: takenName}}
	case "updateSavedView":
		return []provocation{set("state", "q=%zz"), {change: func(o *operated, t *testing.T, request map[string]any) {
			request["page"] = "services"
			takenName(o, t, request)
			delete(request, "page")
		}}}
	case "createScrapeTarget":
		return []provocation{set("labels_json", `{"job":"x"}`), {change: func(_ *operated, _ *testing.T, request map[string]any) {
			request["target_type"] = "planetscale"
			delete(request, "url")
		}}}
	case "updateScrapeTarget":
		return []provocation{set("labels_json", `{"job":"x"}`)}
	case "listScrapeTargetChecks":
		return []provocation{{change: func(_ *operated, _ *testing.T, request map[string]any) {
			request["since"], request["until"] = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
		}}}
	case "summarizeAlertRuleChecks":
		return []provocation{set("group_key", strings.Repeat("g", 1001)), {change: func(_ *operated, _ *testing.T, request map[string]any) {
			request["since"], request["until"] = "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"
		}}}
	case "createAlertRule", "updateAlertRule":
		return []provocation{set("window_minutes", 1441), set("destination_ids", []any{"dest_nobody"})}
	case "testAlertRule", "previewAlertRule":
		in := func(field string, value any) provocation {
			return provocation{change: func(_ *operated, _ *testing.T, request map[string]any) {
				rule, _ := request["rule"].(map[string]any)
				rule = maps.Clone(rule)
				rule[field] = value
				request["rule"] = rule
			}}
		}
		return []provocation{
			in("window_minutes", 1441), in("destination_ids", []any{"dest_nobody"}),
			{change: func(o *operated, _ *testing.T, request map[string]any) {
				if o.m.OperationID == "previewAlertRule" {
					request["end_time"] = request["start_time"]
				}
			}},
		}
	case "createAlertDestination":
		alone := func(kind string) provocation {
			return provocation{change: func(_ *operated, _ *testing.T, request map[string]any) {
				clear(request)
				request["name"], request["type"] = "x", kind
			}}
		}
		return []provocation{set("url", "http://127.0.0.1/"), alone("chat"), alone("hazel-oauth"), alone("email")}
	case "updateAlertDestination":
		return []provocation{set("url", "http://127.0.0.1/")}
	case "listTelegramChats":
		return []provocation{set("bot_token", "nobody")}
	case "removeMember":
		return []provocation{{}} // the first one is the administrator
	case "updateMember":
		return []provocation{set("role", "org:member")}
	case "deleteOrganization":
		return []provocation{set("confirm", "org_nobody")}
	case "acceptInvitation":
		return []provocation{
			{change: invited("")},
			{change: invited("somebody.else@example.com")},
			{change: func(o *operated, t *testing.T, request map[string]any) {
				invited("")(o, t, request)
				request["token"] = "svc_iv_nobody"
			}},
		}
	case "previewInvitation":
		return []provocation{set("token", "svc_iv_nobody")}
	case "signIn":
		return []provocation{
			{change: func(o *operated, _ *testing.T, request map[string]any) {
				request["email"], request["password"] = o.mine.AdminEmail, "not the password of this user"
			}},
			{change: func(o *operated, _ *testing.T, request map[string]any) {
				request["email"], request["password"], request["org_id"] = o.mine.AdminEmail, o.mine.AdminPassword, o.theirs.OrgID
			}},
		}
	case "changePassword":
		return []provocation{{change: func(_ *operated, _ *testing.T, request map[string]any) {
			request["current_password"], request["new_password"] = "the one of before", "a long enough password"
		}}}
	case "signOut":
		return []provocation{{}}
	case "redeemCliLogin":
		return []provocation{set("device_code", "nobody-knows-this-code")}
	default:
		return readProvocations(m)
	}
}

// link shares a dashboard and returns the fields of the operation's request that open the link.
func (o *operated) link(t *testing.T, mode string) map[string]any {
	t.Helper()
	client := o.client(t, o.mine)
	board := "/v2/dashboards/" + o.resource(t, o.mine, "/v2/dashboards") + "/share"
	token := fmt.Sprint(client.call("PUT", board, `{"mode":"public"}`, 200)["token"])
	fields := map[string]any{"token": token}
	switch o.m.OperationID {
	case "resolveShareOgCard":
		meta := client.call("POST", "/v2/share/og-meta", fmt.Sprintf(`{"token":%q}`, token), 200)
		fields = map[string]any{"og_id": strings.TrimPrefix(fmt.Sprint(meta["image_path"]), "/share/og/")}
	case "resolveShareWidgetData":
		fields["requests"] = []any{map[string]any{"widget_id": "w"}}
		fields["time_range"] = map[string]any{
			"start_time": time.Now().UTC().Add(-time.Hour).Format(time.RFC3339), "end_time": time.Now().UTC().Format(time.RFC3339),
		}
		fields["variable_values"] = map[string]any{}
	}
	if mode != "public" {
		client.call("PUT", board, fmt.Sprintf(`{"mode":%q}`, mode), 200)
	}
	return fields
}

// TestMatrixNames checks that the names in the tables of the matrix exist.
func TestMatrixNames(t *testing.T) {
	sources := map[string]string{}
	for _, dir := range []string{
		".", "../app", "../integrations", "../rpc", "../services/organization", "../services/dashboards/links", "../services/logs",
		"../services/logpushconnectors", "../services/sessionreplays",
	} {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sources[f] = string(text)
		}
	}
	reasons := slices.Concat(slices.Collect(maps.Values(noSuccess)), slices.Collect(maps.Values(notAudited)))
	for _, e := range exemptions {
		reasons = append(reasons, e.reason)
	}
	for _, reason := range reasons {
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(reason, -1) {
			found := false
			for _, text := range sources {
				found = found || strings.Contains(text, "func "+name+"(")
			}
			if !found {
				t.Errorf("%q names %s, which does not exist", reason, name)
			}
		}
	}
}
