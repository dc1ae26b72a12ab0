package e2e

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/demo"
	"github.com/svc-observability/svc/server/services/dashboards/templates"
	"github.com/svc-observability/svc/server/testkit"
)

// TestDemo fills four windows around the planted faults with the command and reads the warehouse. It must have stored as much as
// was sent, the faults must be there, and every query of every dashboard template must find data.
func TestDemo(t *testing.T) {
	t.Parallel()
	p := testkit.StartProcess(t, t.TempDir()+"/data")
	yesterday := time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour)
	sent := map[string]int{}
	faults := map[string]demo.Fault{}
	for _, f := range (demo.Config{}).Faults(yesterday, yesterday.Add(24*time.Hour)) {
		faults[f.Name] = f
		cmd := testkit.Command(
			t, "demo", "--ingest-url", p.IngestURL, "--hours", "0.25", "--until", f.Start.Add(8*time.Minute).Format(time.RFC3339), "--output",
			"json", "--seed", "11",
		)
		cmd.Env = append(cmd.Environ(), "SVC_INGEST_KEY="+p.PrivateKey)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		var result demo.Result
		if err := json.Unmarshal(out, &result); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if result.Stopped || len(result.Reasons) > 0 || len(result.Faults) != 1 || result.Faults[0].Name != f.Name {
			t.Errorf("result %s", out)
		}
		for signal, n := range result.Signals {
			if n.Refused != 0 || n.Accepted != n.Sent {
				t.Errorf("%s: %+v", signal, n)
			}
			sent[signal] += n.Accepted
		}
	}
	waitFlushed(t, p)

	stored := map[string]string{
		"spans": `SELECT count() FROM spans`, "logs": `SELECT count() FROM logs`,
		"data_points": `SELECT sum(n) FROM (SELECT count() AS n FROM metrics_gauge UNION ALL SELECT count() FROM metrics_sum UNION ALL SELECT count() FROM metrics_histogram
			UNION ALL SELECT count() FROM metrics_exponential_histogram UNION ALL SELECT count() FROM metrics_summary)`,
		// Most sessions have two rows, of which merges keep one.
		"session_rows": fmt.Sprintf(`SELECT if(count() BETWEEN %[1]d / 2 AND %[1]d, %[1]d, count()) FROM session_replays FINAL`,
			sent["session_rows"]),
		"session_events": `SELECT count() FROM session_events`, "replay_chunks": `SELECT uniqExact(SessionId, ChunkSeq) FROM session_replay_events`,
		"product_events": `SELECT countIf(Source = 'mobile') FROM product_events`,
	}
	for _, signal := range demo.Signals() {
		if got := query(t, p, stored[signal])[0][0]; sent[signal] == 0 || got != fmt.Sprint(sent[signal]) {
			t.Errorf("%s: %s are stored, %d were sent", signal, got, sent[signal])
		}
	}
	if got := query(t, p, `SELECT count(), uniqExact(SpanId, TraceId) FROM spans`)[0]; got[0] != got[1] {
		t.Errorf("spans and their ids: %v", got)
	}
	checkDemoFaults(t, p, faults)
	checkTemplates(t, p)
	window := fmt.Sprintf(`{"type":"absolute","start_time":%q,"end_time":%q}`, yesterday.Format(time.RFC3339),
		yesterday.Add(24*time.Hour).Format(time.RFC3339))
	checkTemplateData(t, p, window)
	checkDashboardLoad(t, p, window)
}

func checkDemoFaults(t *testing.T, p *testkit.Process, faults map[string]demo.Fault) {
	t.Helper()
	for name, ask := range map[string]struct{ before, during, sql string }{
		demo.FaultRelease:    {"0", "1", `SELECT quantile(0.95)(DurationNano) > 3e8 FROM spans WHERE ServiceName = 'catalog' AND Environment = 'production' AND SpanName = 'GET /products/{id}'`},
		demo.FaultErrors:     {"0", "1", `SELECT countIf(HasError) > 0.15 * count() FROM spans WHERE ServiceName = 'cart' AND Environment = 'production' AND SpanName = 'POST /cart/items'`},
		demo.FaultDependency: {"0", "1", `SELECT countIf(HasError) > 0.4 * count() FROM spans WHERE ServiceName = 'payments' AND Environment = 'production' AND SpanAttributes['server.address'] = 'api.payfast.example'`},
		demo.FaultLogs:       {"0", "1", `SELECT count() > 3000 FROM logs WHERE ServiceName = 'inventory' AND SeverityText = 'WARN'`},
	} {
		f := faults[name]
		window := func(from, to time.Time) string {
			return fmt.Sprintf(` AND Timestamp BETWEEN fromUnixTimestamp(%d) AND fromUnixTimestamp(%d)`, from.Unix(), to.Unix())
		}
		before := query(t, p, ask.sql+window(f.Start.Add(-7*time.Minute), f.Start))[0][0]
		during := query(t, p, ask.sql+window(f.Start, f.Start.Add(8*time.Minute)))[0][0]
		if truth(before) != ask.before || truth(during) != ask.during {
			t.Errorf("%s: before it begins %s, then %s", name, before, during)
		}
	}
}

func truth(s string) string {
	if s == "1" || s == "true" {
		return "1"
	}
	return "0"
}

var filterClause = regexp.MustCompile(`^(attr|resource)\.(\S+) = "([^"]*)"$`)

// checkTemplates requires rows for the query of each widget, with the attributes that it groups by.
func checkTemplates(t *testing.T, p *testkit.Process) {
	t.Helper()
	macros := strings.NewReplacer("$__orgFilter", fmt.Sprintf("OrgId = '%s'", p.OrgID), "$__timeFilter(Timestamp)",
		"Timestamp > now() - INTERVAL 3 DAY")
	asked := 0
	for _, template := range templates.All() {
		values := map[string]string{}
		for _, parameter := range template.Parameters {
			if parameter.Required {
				values[parameter.Key] = parameter.Placeholder
			}
		}
		for _, w := range template.Build(values).Widgets {
			sqls := []string{}
			if text := w.DataSource.GetSql(); text != "" {
				sqls = append(sqls, "SELECT count() FROM ("+macros.Replace(text)+")")
			}
			for _, q := range w.DataSource.Queries {
				sqls = append(sqls, demoQuery(t, template.Slug, q))
			}
			if len(sqls) == 0 {
				t.Errorf("%s, %s asks nothing", template.Slug, w.Id)
			}
			for _, sql := range sqls {
				asked++
				if rows := query(t, p, sql); rows[0][0] == "0" {
					t.Errorf("%s, %s has no data: %s", template.Slug, w.Id, sql)
				}
			}
		}
	}
	if asked < 90 {
		t.Errorf("only %d queries", asked)
	}
}

// demoQuery counts the rows that a query of a template finds.
func demoQuery(t *testing.T, slug string, q *svcv2.QueryDraft) string {
	t.Helper()
	table, own, conditions := "spans", "SpanAttributes", []string{"1"}
	if q.DataSource == "metrics" {
		table, own = "metrics_"+q.GetMetricType(), "Attributes"
		conditions = append(conditions, fmt.Sprintf("MetricName = '%s'", q.GetMetricName()))
		if q.GetMetricType() == "sum" {
			conditions = append(conditions, fmt.Sprintf("IsMonotonic = %v", q.GetIsMonotonic()))
		}
	}
	column := func(key string) string {
		switch kind, rest, found := strings.Cut(key, "."); {
		case key == "service.name":
			return "ServiceName"
		case key == "span.name":
			return "SpanName"
		case key == "status.code":
			return "StatusCode"
		case found && kind == "attr":
			return own + "['" + rest + "']"
		case found && kind == "resource":
			return "ResourceAttributes['" + rest + "']"
		}
		t.Fatalf("%s groups by %s", slug, key)
		return ""
	}
	for _, key := range q.GroupBy {
		conditions = append(conditions, column(key)+" != ''")
	}
	for clause := range strings.SplitSeq(q.GetWhereClause(), " AND ") {
		switch m := filterClause.FindStringSubmatch(clause); {
		case clause == "":
		case clause == "has_error = true":
			conditions = append(conditions, "HasError")
		case clause == "is_entry = true":
			conditions = append(conditions, "IsEntry")
		case clause == "root_only = true":
			conditions = append(conditions, "ParentSpanId = ''")
		case m != nil:
			conditions = append(conditions, fmt.Sprintf("%s = '%s'", column(m[1]+"."+m[2]), m[3]))
		default:
			t.Fatalf("%s has the clause %q", slug, clause)
		}
	}
	return fmt.Sprintf("SELECT count() FROM %s WHERE %s", table, strings.Join(conditions, " AND "))
}
