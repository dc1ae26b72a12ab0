package warehouse_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// userServer stands for a ClickHouse server with users: it keeps users and their roles, and checks passwords. The embedded engine runs
// the statements. A user sees the rows that its row policy would show: the engine compares the name of a database in its place.
type userServer struct {
	*httptest.Server

	mu       sync.Mutex
	hashes   map[string]string // by user
	granted  map[string]bool
	made     []string // statements about users
	refusal  string   // the code with which statements about users fail
	policies bool     // the server has the row policy of TenantGrants
	// Answers to the questions about a cluster: the users of its configuration, and of its running statements.
	configured, running string
}

var (
	identifiedPattern = regexp.MustCompile(`^(?:CREATE|ALTER) USER IF (?:NOT )?EXISTS (\w+)(?: ON CLUSTER '\w+')? IDENTIFIED WITH sha256_hash BY '([0-9a-f]{64})'$`)
	grantPattern      = regexp.MustCompile(`^GRANT(?: ON CLUSTER '\w+')? (\w+) TO (\w+)$`)
	dropPattern       = regexp.MustCompile(`^DROP USER IF EXISTS (\w+)(?: ON CLUSTER '\w+')?$`)
)

func newUserServer(t *testing.T, e *warehousetest.Engine) *userServer {
	t.Helper()
	s := &userServer{hashes: map[string]string{}, granted: map[string]bool{}, policies: true}
	engine := &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return chdb.DialUnix(ctx, e.Socket) },
		DisableCompression: true,
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		user, sql := r.Header.Get("X-ClickHouse-User"), string(body)
		if code := s.answer(user, r.Header.Get("X-ClickHouse-Key"), sql); code != "" {
			w.Header().Set("X-ClickHouse-Exception-Code", code)
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if s.aboutUsers(sql) {
			return
		}
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = "http", "engine", ""
		q := out.URL.Query()
		if strings.HasPrefix(user, chdb.TenantPrefix) {
			if q.Get("database") != "svc" {
				t.Errorf("a statement of %s uses the database %q", user, q.Get("database"))
			}
			q.Set("database", user)
			out.Header.Set("X-ClickHouse-User", chdb.TenantUser)
		} else {
			sql = q.Get("query") + sql
			q.Del("query")
			switch {
			case strings.Contains(sql, "FROM system.row_policies"):
				sql = s.rowPolicies()
			case strings.Contains(sql, "FROM system.clusters"):
				sql = s.configured
			case strings.Contains(sql, "FROM clusterAllReplicas('main', system.processes)"):
				sql = s.running
			}
		}
		out.URL.RawQuery = q.Encode()
		out.Body, out.ContentLength = io.NopCloser(strings.NewReader(sql)), int64(len(sql))
		res, err := engine.RoundTrip(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = res.Body.Close() }()
		for k, v := range res.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	t.Cleanup(func() { s.Close(); engine.CloseIdleConnections() })
	return s
}

// answer runs a statement about users, and returns ClickHouse's code of a refusal.
func (s *userServer) answer(user, password, sql string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(user, chdb.TenantPrefix) {
		hash := sha256.Sum256([]byte(password))
		switch {
		case s.hashes[user] != hex.EncodeToString(hash[:]):
			return "516"
		case !s.granted[user]:
			return "497"
		}
		return ""
	}
	if !s.aboutUsers(sql) {
		return ""
	}
	if s.refusal != "" {
		return s.refusal
	}
	s.made = append(s.made, sql)
	if m := identifiedPattern.FindStringSubmatch(sql); m != nil {
		_, exists := s.hashes[m[1]]
		if exists == strings.HasPrefix(sql, "ALTER") {
			s.hashes[m[1]] = m[2]
		}
		return ""
	}
	if m := grantPattern.FindStringSubmatch(sql); m != nil && m[1] == "readers" {
		s.granted[m[2]] = true
		return ""
	}
	if m := dropPattern.FindStringSubmatch(sql); m != nil {
		delete(s.hashes, m[1])
		delete(s.granted, m[1])
		return ""
	}
	return "62"
}

func (s *userServer) aboutUsers(sql string) bool {
	return strings.Contains(sql, " USER ") || strings.HasPrefix(sql, "GRANT")
}

func (s *userServer) rowPolicies() string {
	if !s.policies {
		return "SELECT '' WHERE 0"
	}
	return `SELECT concat('', '\t', 'startsWith(currentUser(), \'tenant_\') AND (OrgId = substring(currentUser(), 8))', '\t0')`
}

func (s *userServer) statements() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.made
	s.made = nil
	return out
}

func (s *userServer) open(t *testing.T, key string) *warehouse.Warehouse {
	t.Helper()
	w, err := warehouse.Open(t.Context(), warehouse.Config{
		URL: strings.Replace(s.URL, "http://", "http://svc:hidden@", 1) + "/svc?sql_role=readers", TenantKey: []byte(key),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// TestTenantsOfServer: on a server, each organization has its own user, which svc makes when it is needed.
func TestTenantsOfServer(t *testing.T) {
	t.Parallel()
	e := tenantEngine(t)
	s := newUserServer(t, e)
	w := s.open(t, "one key of the deployment")
	counts := func(w *warehouse.Warehouse, org principal.OrgID, want string) {
		t.Helper()
		for _, run := range []func() (*warehouse.TenantResult, error){
			func() (*warehouse.TenantResult, error) {
				return w.SelectConfined(t.Context(), org, "SELECT count() FROM logs", quick())
			},
			func() (*warehouse.TenantResult, error) { // the policy alone
				return w.RunUnguarded(t.Context(), org, "SELECT count() FROM svc.logs", quick())
			},
		} {
			if r, err := run(); err != nil || string(r.Rows[0]) != want {
				t.Errorf("%s: %+v, %v", org, r, err)
			}
		}
	}
	// The engine has the databases by which its own policies tell organizations apart.
	for _, org := range []principal.OrgID{orgMine, orgTheirs, "org_other"} {
		if _, err := e.RunUnguarded(t.Context(), org, "SELECT 1", quick()); err != nil {
			t.Fatal(err)
		}
	}
	counts(w, orgMine, `["3"]`)
	counts(w, "org_other", `["0"]`)
	made := s.statements()
	if len(made) != 4 || !strings.HasPrefix(made[0], "CREATE USER IF NOT EXISTS tenant_org_mine IDENTIFIED WITH sha256_hash BY '") ||
		made[1] != "GRANT readers TO tenant_org_mine" {
		t.Errorf("statements: %q", made)
	}
	if s.hashes["tenant_org_mine"] == s.hashes["tenant_org_other"] {
		t.Error("two organizations have the same password")
	}

	// Another node makes nothing new. A node with another key, as after a change of it, gives the user its password.
	counts(s.open(t, "one key of the deployment"), orgMine, `["3"]`)
	counts(s.open(t, "another key"), orgMine, `["3"]`)
	counts(w, orgMine, `["3"]`)
	// An administrator drops the user.
	s.mu.Lock()
	delete(s.hashes, "tenant_org_mine")
	delete(s.granted, "tenant_org_mine")
	s.mu.Unlock()
	counts(w, orgMine, `["3"]`)

	s.statements()
	if err := w.DeleteOrganizations(t.Context(), []principal.OrgID{orgMine}); err != nil {
		t.Fatal(err)
	}
	if got := s.statements(); len(got) != 1 || got[0] != "DROP USER IF EXISTS tenant_org_mine" {
		t.Errorf("the deletion of an organization: %q", got)
	}

	for _, code := range []string{"497", "511", "514"} {
		s.mu.Lock()
		s.refusal = code
		s.mu.Unlock()
		if _, err := w.SelectConfined(t.Context(), orgMine, "SELECT 1", quick()); !errors.Is(err, warehouse.ErrTenantNotSetUp) {
			t.Errorf("a server that refuses users with code %s: %v", code, err)
		}
	}
	s.policies = false
	w.ForgetSchema()
	if _, err := w.SelectConfined(t.Context(), orgTheirs, "SELECT 1", quick()); !errors.Is(err, warehouse.ErrFence) {
		t.Errorf("a server without row policies: %v", err)
	}
	unkeyed := s.open(t, "")
	if _, err := unkeyed.SelectConfined(t.Context(), orgMine, "SELECT 1", quick()); !errors.Is(err, warehouse.ErrTenantNotSetUp) {
		t.Errorf("without a key: %v", err)
	}
}

// TestTenantStatementsParse: the engine's parser, which is that of the server, takes every statement about users.
func TestTenantStatementsParse(t *testing.T) {
	e := warehousetest.Shared(t)
	for _, cluster := range []string{"", "&cluster=main"} {
		w, err := warehouse.Open(t.Context(), warehouse.Config{
			URL: "clickhouse://svc:secret@127.0.0.1:1/telemetry?sql_role=readers" + cluster, TenantKey: []byte("k"),
		})
		if err != nil {
			t.Fatal(err)
		}
		statements := append(w.TenantStatements(orgMine), strings.Split(strings.TrimSuffix(w.TenantGrants(), ";\n"), ";\n")...)
		if len(statements) < 20 {
			t.Errorf("only %d statements", len(statements))
		}
		for _, sql := range statements {
			got := raw(t, e, fmt.Sprintf("SELECT formatQuerySingleLine('%s')", strings.ReplaceAll(sql, "'", `\'`)))
			if on := strings.Contains(got, "ON CLUSTER main"); on != (cluster != "") {
				t.Errorf("%s\n is read as %s", sql, got)
			}
		}
		_ = w.Close()
	}
}

// TestShardsKeepTheUser: statements of organizations run on a cluster only if its servers keep their user.
func TestShardsKeepTheUser(t *testing.T) {
	t.Parallel()
	s := newUserServer(t, tenantEngine(t))
	w, err := warehouse.Open(t.Context(), warehouse.Config{
		URL: strings.Replace(s.URL, "http://", "http://svc:hidden@", 1) + "/svc?cluster=main&sql_role=readers", TenantKey: []byte("k"),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	for _, c := range []struct{ configured, running, want string }{
		{"SELECT 'svc' AS user", "SELECT '' AS user WHERE 0", `svc uses the user "svc"`},
		{"SELECT '' AS user WHERE 0", "SELECT 'default' AS user", `as the user "default"`},
		{"SELECT '' AS user WHERE 0", "SELECT '' AS user WHERE 0", ""},
	} {
		s.configured, s.running = c.configured, c.running
		err := w.VerifyFence(t.Context())
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, warehouse.ErrFence) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
