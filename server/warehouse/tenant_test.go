package warehouse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/confine"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

const (
	orgMine   principal.OrgID = "org_mine"
	orgTheirs principal.OrgID = "org_theirs"
	// theirWord occurs in everything that the other organization stores.
	theirWord = "zebra"
)

// tenantEngine is an engine on which two organizations have rows in every table, in the same granules.
func tenantEngine(t testing.TB) *warehousetest.Engine {
	t.Helper()
	e := warehousetest.NewEngine(t)
	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	insert := func(table string, columns []string, rows ...[]any) {
		t.Helper()
		if err := e.InsertRows(t.Context(), table, columns, rows, ""); err != nil {
			t.Fatalf("%s: %v", table, err)
		}
	}
	for _, org := range []principal.OrgID{orgMine, orgTheirs} {
		word := "mine"
		if org == orgTheirs {
			word = theirWord
		}
		o := string(org)
		attributes := map[string]string{"http.route": "/" + word, "k": word}
		for i := range 3 {
			parent := ""
			if i > 0 {
				parent = fmt.Sprint("s", i-1)
			}
			insert("spans", []string{
				"OrgId", "Timestamp", "TraceId", "SpanId", "ParentSpanId", "SpanName", "ServiceName", "ServiceVersion", "DurationNano", "SampleRate",
				"SpanAttributes", "IsEntry",
			},
				[]any{
					o, at.Add(time.Duration(i) * time.Second), word + "trace", fmt.Sprint("s", i), parent, word + " op", "web", "v1",
					uint64(500 * (i + 1)), 1.0, attributes, i == 0,
				})
			insert("logs", []string{"OrgId", "Timestamp", "TraceId", "ServiceName", "SeverityText", "Body", "LogAttributes"},
				[]any{o, at.Add(time.Duration(i) * 7 * time.Minute), word + "trace", "web", "INFO", word + " one", attributes})
		}
		for _, m := range []string{"metrics_gauge", "metrics_sum"} {
			insert(m, []string{"OrgId", "Timestamp", "MetricName", "ServiceName", "Value"}, []any{o, at, word + ".metric", "web", 1.5})
		}
		for _, m := range []string{"metrics_histogram", "metrics_exponential_histogram", "metrics_summary"} {
			insert(m, []string{"OrgId", "Timestamp", "MetricName", "ServiceName"}, []any{o, at, word + ".metric", "web"})
		}
		insert("metric_catalog", []string{"OrgId", "Hour", "MetricName"}, []any{o, at, word + ".metric"})
		insert("attribute_keys", []string{"OrgId", "Hour", "Signal", "Key"}, []any{o, at, "traces", word})
		for v := range 2 {
			insert("session_replays", []string{"OrgId", "SessionId", "Version", "StartTime", "Status", "UserId"},
				[]any{o, "s1", uint32(v + 1), at, "active", word})
		}
		insert("session_replay_events", []string{"OrgId", "SessionId", "Timestamp", "Payload"}, []any{o, "s1", at, word})
		insert("session_events", []string{"OrgId", "SessionId", "Timestamp", "Type", "Message"}, []any{o, "s1", at, "navigation", word},
			[]any{o, "s1", at, "custom", word})
	}
	return e
}

func statements(t testing.TB, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range strings.Split(string(text), "\n;;\n") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// leaks reports data in a result that the tenant must not see: rows of another organization or knowledge of the server.
func leaks(r *warehouse.TenantResult) string {
	if r == nil {
		return ""
	}
	for _, row := range r.Rows {
		for _, word := range []string{theirWord, string(orgTheirs), "root:", "/bin/", "schema_migrations", "MergeTree"} {
			// Text of the statement itself may come back: only the words of stored values count.
			if bytes.Contains(row, []byte(word)) {
				return string(row)
			}
		}
	}
	return ""
}

var tablePattern = regexp.MustCompile(`\b(FROM|JOIN|,)(\s+)(spans|logs|session_replays|service_minutes)\b`)

// quick returns small limits. A costly escape must end at one of them.
func quick() warehouse.TenantLimits {
	l := warehouse.DefaultTenantLimits()
	l.Time, l.Memory, l.MaxRows = 2*time.Second, 256<<20, 50
	return l
}

// TestEscapes tries every escape with all guards, and with each of the two guards alone.
func TestEscapes(t *testing.T) {
	t.Parallel()
	e := tenantEngine(t)
	escapes := statements(t, "testdata/escapes.sql")
	if len(escapes) < 250 {
		t.Fatalf("only %d escapes", len(escapes))
	}
	refused, ran, denied := 0, 0, 0
	for i, sql := range escapes {
		name := fmt.Sprintf("%03d %.60s", i, strings.ReplaceAll(sql, "\n", " "))
		// Text of the statement itself is not a leak.
		says := strings.Contains(regexp.MustCompile(`(?s)'zebra[^']*'|\$\$zebra|‘zebra’|AS zebra`).FindString(sql), theirWord) ||
			strings.Contains(sql, "'org_theirs'")
		check := func(mode string, r *warehouse.TenantResult, err error) {
			t.Helper()
			if leak := leaks(r); leak != "" && !(says && onlyOwnWords(r, sql)) {
				t.Errorf("%s: %s: leaked %.300s", mode, name, leak)
			}
			if err != nil && errors.Is(err, warehouse.ErrUnavailable) {
				t.Errorf("%s: %s: the engine went away: %v", mode, name, err)
			}
		}
		r, err := e.SelectConfined(t.Context(), orgMine, sql, quick())
		check("all guards", r, err)
		var refusal *confine.Refusal
		switch {
		case errors.As(err, &refusal):
			refused++
			if strings.Contains(refusal.Message, theirWord) && !strings.Contains(sql, theirWord) {
				t.Errorf("%s: the refusal says %s", name, refusal.Message)
			}
		case err != nil:
			denied++
		default:
			ran++
			t.Logf("ran harmlessly: %s", name)
		}
		// Without the statement guard: the statement as it is, and with the names of the underlying tables.
		r, err = e.RunUnguarded(t.Context(), orgMine, sql, quick())
		check("engine alone", r, err)
		if qualified := tablePattern.ReplaceAllString(sql, "$1${2}svc.$3"); qualified != sql {
			r, err = e.RunUnguarded(t.Context(), orgMine, qualified, quick())
			check("engine alone, qualified", r, err)
		}
		// Without the engine's rights and policies.
		if composed, err := e.ComposedSQL(t.Context(), orgMine, sql); err == nil {
			r, err = e.RunUnfenced(t.Context(), orgMine, composed, quick())
			check("statement guard alone", r, err)
		}
	}
	t.Logf("%d escapes: %d refused by the guard, %d by the engine, %d ran", len(escapes), refused, denied, ran)
	if refused < 250 {
		t.Errorf("the guard refused only %d statements", refused)
	}
	// After all of that the engine still works, and nothing is gone.
	for _, org := range []principal.OrgID{orgMine, orgTheirs} {
		r, err := e.SelectConfined(t.Context(), org, "SELECT count() FROM logs", warehouse.DefaultTenantLimits())
		if err != nil || len(r.Rows) != 1 || string(r.Rows[0]) != `["3"]` {
			t.Errorf("%s: %v, %v", org, r, err)
		}
	}
	if _, err := os.Stat("/tmp/svc_escape.txt"); err == nil {
		t.Error("a statement wrote a file")
	}
}

// onlyOwnWords reports whether a result has at most one row, which comes from a condition on the statement's own words, and no
// stored value.
func onlyOwnWords(r *warehouse.TenantResult, sql string) bool {
	for _, row := range r.Rows {
		var cells []any
		if json.Unmarshal(row, &cells) != nil {
			return false
		}
		for _, c := range cells {
			if text, ok := c.(string); ok && strings.Contains(text, theirWord) && (strings.HasSuffix(text, "found") || !says(sql, text)) {
				return false
			}
		}
	}
	return true
}

// says reports whether a statement contains a text in quotes of any kind.
func says(sql, text string) bool {
	return strings.Contains(sql, "'"+text+"'") || strings.Contains(sql, "‘"+text+"’") || strings.Contains(sql, "$$"+text+"$$")
}

// TestUsefulStatements: useful statements of tenants work and show only the tenant's rows.
func TestUsefulStatements(t *testing.T) {
	t.Parallel()
	e := tenantEngine(t)
	list := statements(t, "testdata/useful.sql")
	if len(list) < 40 {
		t.Fatalf("only %d statements", len(list))
	}
	for i, sql := range list {
		r, err := e.SelectConfined(t.Context(), orgMine, sql, warehouse.DefaultTenantLimits())
		if err != nil {
			t.Errorf("%d: %s\n%v", i, sql, err)
			continue
		}
		if len(r.Rows) == 0 || len(r.Columns) == 0 {
			t.Errorf("%d: %s\nno rows", i, sql)
		}
		if leak := leaks(r); leak != "" {
			t.Errorf("%d: %s\nleaked %s", i, sql, leak)
		}
		for _, row := range r.Rows {
			var cells []any
			if err := json.Unmarshal(row, &cells); err != nil || len(cells) != len(r.Columns) {
				t.Errorf("%d: row %s of %d columns: %v", i, row, len(r.Columns), err)
			}
		}
	}
}
