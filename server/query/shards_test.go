package query

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/query/sqlbuild/sqltest"
	"github.com/svc-observability/svc/server/testkit/shardtest"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// emptyInDemo names the statements that find nothing in the demo: they filter by attributes that no program of the demo sends.
const emptyInDemo = `
quick_events quick_logs quick_rollup_operations
metric_count_breakdown metric_count_groups metric_exponential_breakdown metric_exponential_groups metric_gauge_breakdown
metric_gauge_groups metric_histogram_breakdown metric_histogram_groups metric_quantile_breakdown metric_quantile_groups
metric_rate_breakdown metric_rate_groups metric_summary_breakdown metric_summary_groups plan_events plan_logs plan_product_events
plan_rollup_operations plan_rollup_organization`

// TestStatementsOnTwoShards runs every statement of the planner on two shards. It must compile there, and give the same rows as from
// plain tables. The values in the statement are those of the demo.
func TestStatementsOnTwoShards(t *testing.T) {
	bed := shardtest.New(t)
	w := Window{Start: bed.From, End: bed.To}
	all := planStatements(w)
	maps.Copy(all, metricCases(w))
	maps.Copy(all, demoStatements(w))
	statements := map[string]sqlbuild.Statement{}
	for name, s := range all {
		statements[name] = inDemo(t, bed, s)
	}
	// The demo has more groups than this one may return. The engine of queries then runs the thorough statement.
	delete(statements, "quick_product_events")
	bed.Check(t, statements, emptyInDemo)
}

// demoStatements are plans that find rows where the filters of the other cases find none.
func demoStatements(w Window) map[string]sqlbuild.Statement {
	texts := map[string]string{
		"demo_logs": "count|logs|severity = error|severity, service.name", "demo_events": "count|traces|event.name exists|event.exception.type",
		"demo_product_events": "persons|product_events||event.name", "demo_operations": "p95_duration|traces|span.kind = server|span.name",
		"demo_environment": "error_rate|traces|env = production|",
	}
	out := map[string]sqlbuild.Statement{}
	for _, c := range planCases() {
		p, err := PlanTimeseries(c.spec(), w, 5*time.Minute)
		if err != nil {
			panic(err)
		}
		if p.Quick != "" {
			out["quick_"+c.name] = sqlbuild.Statement{SQL: p.Quick, Args: p.Args}
		}
	}
	plan := func(name string, q *Spec) {
		series, err := PlanTimeseries(q, w, 5*time.Minute)
		if err != nil {
			panic(err)
		}
		breakdown, err := PlanBreakdown(q, w)
		if err != nil {
			panic(err)
		}
		out[name], out[name+"_breakdown"] = series.Statement, breakdown.Statement
	}
	for name, text := range texts {
		plan(name, planCase{text: text, edit: func(q *Spec) { q.Rollups = AllRollups() }}.spec())
	}
	for _, of := range []Metric{
		{sqltest.Marker, "gauge"},
		{sqltest.Marker, "sum"},
		{sqltest.Marker, "histogram"},
		{sqltest.Marker, "exponential_histogram"},
		{sqltest.Marker, "summary"},
	} {
		aggregation := map[string]Aggregation{"gauge": {Func: Avg}, "sum": {Func: Rate}}[of.Type]
		if aggregation.Func == "" {
			aggregation = Aggregation{Func: Quantile, Level: 0.5}
		}
		plan("demo_metric_"+of.Type, &Spec{Source: Metrics, Metric: of, Aggregation: aggregation, GroupBy: []Field{{Key: "service.name"}}})
	}
	return out
}

// TestEveryPlanIsChecked finds functions that make statements and that no test of this package calls.
func TestEveryPlanIsChecked(t *testing.T) {
	made, called := map[string]bool{}, map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ofTest := strings.HasSuffix(name, "_test.go")
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && ofTest {
					called[f.Name] = true
				}
			case *ast.FuncDecl:
				if !ofTest && n.Recv == nil && n.Name.IsExported() && n.Type.Results != nil {
					of := n.Type.Results.List[0].Type
					plan, isName := of.(*ast.Ident)
					statement, isOther := of.(*ast.SelectorExpr)
					made[n.Name.Name] = isName && plan.Name == "Plan" || isOther && statement.Sel.Name == "Statement"
				}
			}
			return true
		})
	}
	found := 0
	for name, is := range made {
		if is {
			found++
		}
		if is && !called[name] {
			t.Errorf("no case has the statement of %s", name)
		}
	}
	if found < 3 {
		t.Errorf("found only %d functions that make statements", found)
	}
}

// inDemo puts values of the demo into a statement: a service and, if the statement is about a metric, a metric of its type.
func inDemo(t *testing.T, bed *shardtest.Bed, s sqlbuild.Statement) sqlbuild.Statement {
	metric := ""
	for _, table := range []string{"metrics_gauge", "metrics_sum", "metrics_histogram", "metrics_exponential_histogram", "metrics_summary"} {
		if strings.Contains(s.SQL, "FROM "+table+"\n") {
			var out bytes.Buffer
			sql := "SELECT MetricName FROM plain." + table + " GROUP BY MetricName ORDER BY count() DESC, MetricName LIMIT 1"
			if err := bed.RawQuery(t.Context(), sql, "TSVRaw", &out); err != nil {
				t.Fatal(err)
			}
			metric = strings.TrimSuffix(out.String(), "\n")
		}
	}
	args := make([]warehouse.Arg, len(s.Args))
	for i, a := range s.Args {
		switch v := a.Value.(type) {
		case string:
			if strings.HasPrefix(a.Name, "metric") && v == sqltest.Marker {
				a.Value = metric
			} else if v == sqltest.Marker {
				a.Value = "checkout"
			}
		case []string:
			for j := range v {
				v[j] = strings.ReplaceAll(v[j], sqltest.Marker, "checkout")
			}
		}
		args[i] = a
	}
	return sqlbuild.Statement{SQL: s.SQL, Args: args}
}
