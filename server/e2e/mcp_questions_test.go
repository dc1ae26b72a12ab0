package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/demo"
	"github.com/svc-observability/svc/server/testkit"
)

// investigator answers questions with tools, and counts what that costs. It has no model: a question's script takes each argument from
// the question, from the descriptions of the tools or from an earlier answer.
type investigator struct {
	*testing.T
	server     *testkit.Process
	tools      map[string]map[string]any
	texts      []string
	structured map[string]any // of the latest answer
	raw, chars int
	took       time.Duration
}

func (i *investigator) call(tool string, arguments ...map[string]any) string {
	i.Helper()
	args := map[string]any{}
	for _, a := range arguments {
		maps.Copy(args, a)
	}
	for name := range args {
		if i.tools[tool][name] == nil {
			i.Fatalf("%s has no argument %s", tool, name)
		}
	}
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args},
	})
	if err != nil {
		i.Fatal(err)
	}
	req, err := http.NewRequestWithContext(i.Context(), http.MethodPost, i.server.BaseURL+"/mcp", bytes.NewReader(body))
	if err != nil {
		i.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+i.server.APIKey)
	began := time.Now()
	status, raw := roundTrip(i.T, req)
	i.took += time.Since(began)
	var out struct {
		Result struct {
			IsError           bool
			Content           []struct{ Text string }
			StructuredContent map[string]any
		}
	}
	if err := json.Unmarshal(raw, &out); err != nil || status != http.StatusOK || out.Result.IsError || len(out.Result.Content) != 1 {
		i.Fatalf("%s %v: %d %v %s", tool, args, status, err, raw)
	}
	text := out.Result.Content[0].Text
	i.texts, i.structured = append(i.texts, text), out.Result.StructuredContent
	i.raw += len(raw)
	i.chars += len([]rune(text))
	return text
}

// next makes the first call of a tool that the latest answer proposing it ends with, with arguments that the question adds.
func (i *investigator) next(tool string, more ...map[string]any) {
	i.Helper()
	i.call(tool, append([]map[string]any{suggested(i.T, i.texts, tool)}, more...)...)
}

// finds requires an answer, and returns the groups of its pattern.
func (i *investigator) finds(pattern string) []string {
	i.Helper()
	all := strings.Join(i.texts, "\n")
	found := regexp.MustCompile(pattern).FindStringSubmatch(all)
	if found == nil {
		i.Fatalf("no answer has %s:\n%s", pattern, all)
	}
	return found[1:]
}

// figure compares a figure of an answer with the same figure in SQL. A difference of share is allowed.
func (i *investigator) figure(name, got, want string, share float64) {
	i.Helper()
	g, err := strconv.ParseFloat(got, 64)
	w, err2 := strconv.ParseFloat(want, 64)
	if err != nil || err2 != nil || math.Abs(g-w) > share*math.Abs(w)+1e-9 {
		i.Errorf("%s is %q, and %q in SQL", name, got, want)
	}
}

// cells reads the rows of the first table of a text.
func cells(text string) (rows [][]string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if len(rows) > 0 {
				break
			}
			continue
		}
		row := strings.Split(strings.Trim(line, "|"), "|")
		for n := range row {
			row[n] = strings.TrimSpace(row[n])
		}
		rows = append(rows, row)
	}
	return slices.DeleteFunc(rows, func(row []string) bool { return strings.HasPrefix(row[0], "---") })
}

// risen returns the times at which a column of a series begins to stand high above its median, for two buckets or more.
func risen(text string, times, least float64) (at []time.Time) {
	rows := cells(text)
	for column := 1; column < len(rows[0]); column++ {
		values := make([]float64, len(rows))
		for n, row := range rows[1:] {
			values[n+1], _ = strconv.ParseFloat(strings.TrimSuffix(row[column], " %"), 64)
		}
		sorted := slices.Sorted(slices.Values(values[1:]))
		high := max(least, times*sorted[len(sorted)/2])
		for n := 1; n+1 < len(rows); n++ {
			if values[n-1] < high && values[n] >= high && values[n+1] >= high {
				if begin, err := time.Parse(time.RFC3339, rows[n][0]); err == nil {
					at = append(at, begin)
				}
			}
		}
	}
	return at
}

// question is one of the questions of a person on call. The bounds are of its calls and of the characters of the answers' text; those
// of an agent with a model, which was measured before, stand beside them in the table.
type question struct {
	name                   string
	agentCalls, agentChars int
	mostCalls, mostChars   int
	answer                 func(i *investigator)
	calls, chars, raw      int
	seconds                float64
	answered               bool
}

// askQuestions answers twelve questions over the planted faults, and compares the answers with the faults and with SQL.
func askQuestions(t *testing.T, p *testkit.Process, tools map[string]map[string]any, starts map[string]time.Time) {
	day := starts[demo.FaultRelease].Truncate(24 * time.Hour)
	between := func(from, to time.Time) map[string]any {
		return map[string]any{"start_time": from.Format(time.RFC3339), "end_time": to.Format(time.RFC3339)}
	}
	whole := between(day, day.Add(24*time.Hour-time.Second))
	during := func(fault string) map[string]any { return between(starts[fault], starts[fault].Add(20*time.Minute)) }
	within := func(from, to time.Time) string {
		return fmt.Sprintf("Timestamp BETWEEN fromUnixTimestamp(%d) AND fromUnixTimestamp(%d)", from.Unix(), to.Unix())
	}
	const flooded = `SELECT count() FROM logs WHERE ServiceName = 'inventory' AND SeverityText = 'WARN' AND Environment = 'production'`
	questions := []*question{
		{name: "1 All incidents", agentCalls: 11, agentChars: 56159, mostCalls: 8, mostChars: 30_000, answer: func(i *investigator) {
			by := map[string]any{
				"source": "traces", "kind": "timeseries", "group_by": "service", "environments": []string{"production"}, "bucket_seconds": 600,
			}
			moments := risen(i.call("query_data", whole, by, map[string]any{"metric": "error_rate"}), 5, 1)
			moments = append(moments, risen(i.call("query_data", whole, by, map[string]any{"metric": "p95_duration"}), 4, 100)...)
			slices.SortFunc(moments, time.Time.Compare)
			moments = slices.CompactFunc(moments, func(a, b time.Time) bool { return a.Sub(b).Abs() < 30*time.Minute })
			i.call("mine_log_patterns", whole, map[string]any{"limit": 20, "environment": "production"})
			for _, at := range moments {
				i.call("compare_periods", map[string]any{"around_time": at.Format(time.RFC3339), "environment": "production"})
			}
			i.finds(`\(release\) Release 4\.\d+\.0 of catalog`)
			i.finds(`\(error\) Error TypeError in cart: .*first seen at \S+T13:0[5-9]:`)
			i.finds(`\(dependency\) Calls from payments to external:http:api\.payfast\.example fail: [3-9]\d`)
			flood := i.finds(`\| (1\d{4}) \| \d+ \| WARN \| inventory \| (\S+T20:15:\S+) \|`)
			i.figure("records of the flood", flood[0], query(i.T, p, flooded)[0][0], 0)
		}},
		{name: "2 Checkout slow", agentCalls: 2, agentChars: 5216, mostCalls: 2, mostChars: 12_000, answer: func(i *investigator) {
			i.call("find_slow_traces", during(demo.FaultDependency), map[string]any{"service": "checkout"})
			i.next("inspect_trace")
			i.finds(`api\.payfast\.example`)
			i.finds(`30\d\d(\.\d+)? ms`)
		}},
		{name: "3 Release", agentCalls: 2, agentChars: 5748, mostCalls: 2, mostChars: 12_000, answer: func(i *investigator) {
			from := starts[demo.FaultRelease]
			i.call("compare_periods", map[string]any{
				"current_start": from.Format(time.RFC3339), "current_end": from.Add(20 * time.Minute).Format(time.RFC3339), "environment": "production",
			})
			got := i.finds(`Release (4\.\d+\.0) of catalog, first seen \S+: p95 ([\d.]+) ms, ([\d.]+) ms with (4\.\d+\.1)`)
			for n, version := range map[int]string{1: got[0], 2: got[3]} {
				i.figure("p95 of "+version, got[n], query(i.T, p, fmt.Sprintf(`SELECT
					quantileExactWeighted(0.95)(DurationNano, toUInt64(round(SampleRate * 16))) / 1e6 FROM spans
					WHERE ServiceName = 'catalog' AND IsEntry AND Environment = 'production' AND ServiceVersion = '%s' AND %s`,
					version, within(from.Add(-20*time.Minute), from.Add(20*time.Minute))))[0][0], 0.1)
			}
		}},
		{name: "4 New log pattern", agentCalls: 5, agentChars: 13148, mostCalls: 2, mostChars: 14_000, answer: func(i *investigator) {
			from := starts[demo.FaultLogs]
			i.call("mine_log_patterns", between(from, from.Add(20*time.Minute-time.Second)), map[string]any{"environment": "production"})
			got := i.finds(`\| new \| (\d+) \| 0 \| WARN \| inventory \|`)
			i.figure("records", got[0], query(i.T, p, flooded+" AND "+within(from, from.Add(20*time.Minute-time.Second)))[0][0], 0)
			i.next("search_logs")
		}},
		{name: "5 Worst endpoint, stack", agentCalls: 6, agentChars: 12825, mostCalls: 4, mostChars: 20_000, answer: func(i *investigator) {
			from := starts[demo.FaultErrors]
			i.call("get_service_top_operations", during(demo.FaultErrors), map[string]any{"service": "edge-gateway", "metric": "error_rate"})
			worst := cells(i.texts[0])[1]
			share := query(i.T, p, `SELECT SpanName, 100 * sumIf(SampleRate, HasError) / sum(SampleRate) AS share FROM spans
				WHERE ServiceName = 'edge-gateway' AND IsEntry AND `+within(from, from.Add(20*time.Minute))+`
				GROUP BY SpanName ORDER BY share DESC LIMIT 1`)[0]
			if worst[0] != share[0] || worst[0] != "POST /api/cart/items" {
				i.Errorf("the worst endpoint is %s, and %s in SQL", worst[0], share[0])
			}
			i.figure("its error rate", strings.TrimSuffix(worst[2], " %"), share[1], 0.01)
			i.call("find_errors", during(demo.FaultErrors))
			i.next("error_detail")
			i.finds(`Top frame: src/cart\.js:Cart\.total`)
		}},
		{name: "6 Agent sessions", agentCalls: 4, agentChars: 8084, mostCalls: 2, mostChars: 12_000, answer: func(i *investigator) {
			i.call("list_agent_sessions", whole, map[string]any{"has_errors": true, "limit": 3})
			i.next("get_agent_session")
			matching := i.finds(`Sessions that match: (\d+), of them (\d+) with errors`)
			failing := query(i.T, p, `SELECT uniqExact(SpanAttributes['gen_ai.conversation.id']) FROM spans
				WHERE ServiceName = 'support-agent' AND HasError AND SpanAttributes['gen_ai.conversation.id'] != ''`)[0][0]
			i.figure("sessions with errors", matching[1], failing, 0)
			first := cells(i.texts[0])[1]
			truth := query(i.T, p, fmt.Sprintf(`SELECT countIf(SpanAttributes['gen_ai.operation.name'] = 'invoke_agent'),
				countIf(SpanAttributes['gen_ai.operation.name'] = 'chat'), countIf(SpanAttributes['gen_ai.operation.name'] = 'execute_tool'),
				sumIf(toUInt64OrZero(SpanAttributes['gen_ai.usage.input_tokens']) + toUInt64OrZero(SpanAttributes['gen_ai.usage.output_tokens']),
					SpanAttributes['gen_ai.operation.name'] = 'chat')
				FROM spans WHERE SpanAttributes['gen_ai.conversation.id'] = '%s'`, first[0]))[0]
			work := i.finds(`- (\d+) turns?, (\d+) model calls?(?:, (\d+) tool calls?)?`)
			for n, name := range []string{"turns", "model calls"} {
				i.figure(name, work[n], truth[n], 0)
			}
			i.figure("tokens", i.finds(`(\d+) in all`)[0], truth[3], 0)
		}},
		{name: "7 Funnel, pages", agentCalls: 9, agentChars: 9123, mostCalls: 3, mostChars: 8_000, answer: func(i *investigator) {
			i.call("list_product_events", whole)
			i.next("query_funnel", map[string]any{"key_by": "session", "steps_json": []map[string]any{
				{"event_name": "product viewed"}, {"event_name": "added to cart"}, {"event_name": "checkout started"}, {"event_name": "order placed"},
			}})
			steps := cells(i.texts[1])[1:]
			truth := query(i.T, p, `SELECT countIf(level >= 1), countIf(level >= 2), countIf(level >= 3), countIf(level >= 4) FROM (
				SELECT windowFunnel(86400)(toDateTime(Timestamp, 'UTC'), Name = 'product viewed', Name = 'added to cart',
					Name = 'checkout started', Name = 'order placed') AS level FROM product_events WHERE SessionId != '' GROUP BY SessionId)`)[0]
			for n, step := range steps {
				i.figure("sessions at step "+step[0], step[2], truth[n], 0.01)
			}
			i.call("query_data", whole, map[string]any{
				"source": "product_events", "kind": "breakdown", "metric": "count", "group_by": "page_path", "event_name": []string{"$pageview"},
			})
			i.figure("views of the first page", i.finds(`\| / \| (\d+) \|`)[0],
				query(i.T, p, `SELECT count() FROM product_events WHERE Name = '$pageview' AND PagePath = '/'`)[0][0], 0)
		}},
		{name: "8 p95 per DB operation", agentCalls: 6, agentChars: 8573, mostCalls: 3, mostChars: 12_000, answer: func(i *investigator) {
			i.call("explore_attributes", whole, map[string]any{"source": "traces"})
			key := i.finds(`\| (db\.operation\.name) \| span \|`)[0]
			i.call("describe_warehouse_tables", map[string]any{"table": "spans"})
			weighted := i.finds(`(quantileTDigestWeighted\(0\.95\)\(DurationNano, toUInt64\(round\(SampleRate \* 16\)\)\))`)[0]
			i.next("run_sql", whole, map[string]any{"sql": `SELECT ServiceName, SpanAttributes['` + key + `'] AS operation, ` + weighted +
				` / 1e6 AS p95_ms FROM spans WHERE $__timeFilter(Timestamp) AND operation != '' GROUP BY ServiceName, operation
				ORDER BY ServiceName, operation`})
			// The digest may take a rank two percent away.
			truth := query(i.T, p, `SELECT ServiceName, SpanAttributes['db.operation.name'] AS operation,
				quantileExactWeighted(0.93)(DurationNano, toUInt64(round(SampleRate * 16))) / 1e6,
				quantileExactWeighted(0.97)(DurationNano, toUInt64(round(SampleRate * 16))) / 1e6
				FROM spans WHERE operation != '' GROUP BY ServiceName, operation ORDER BY ServiceName, operation`)
			rows := cells(i.texts[2])[1:]
			if len(rows) != len(truth) || len(rows) < 10 {
				i.Fatalf("%d operations, and %d in SQL", len(rows), len(truth))
			}
			for n, row := range rows {
				got, _ := strconv.ParseFloat(row[2], 64)
				low, _ := strconv.ParseFloat(truth[n][2], 64)
				high, _ := strconv.ParseFloat(truth[n][3], 64)
				if row[0] != truth[n][0] || row[1] != truth[n][1] || got < 0.98*low || got > 1.02*high {
					i.Errorf("%v, and %v in SQL", row, truth[n])
				}
			}
		}},
		{name: "9 Dashboard", agentCalls: 15, agentChars: 15648, mostCalls: 4, mostChars: 12_000, answer: func(i *investigator) {
			i.call("list_metrics", whole, map[string]any{"search": "http.server"})
			row := i.finds(`\| (http\.server\.request\.duration) \| (\w+) \| [\w-]+ \| s \|`)
			i.call("create_dashboard", map[string]any{"name": "Requests", "metric_name": row[0], "metric_type": row[1], "time_range": map[string]any{
				"type": "absolute", "start_time": whole["start_time"], "end_time": whole["end_time"],
			}})
			i.finds(`[1-9]\d* healthy, 0 suspicious, 0 broken`)
			i.call("inspect_chart_data", map[string]any{
				"dashboard_id": i.finds(`Dashboard: (dash_\w+)`)[0], "widget_id": i.finds(`\| ([\w-]+) \| Observations \|`)[0],
			})
			// The widget counts the observations of a histogram.
			i.figure("observations", i.finds(`\| A \| ok \| \d+ \| 1 \| ([\d.]+) \|`)[0],
				query(i.T, p, `SELECT sum(Count) FROM metrics_histogram WHERE MetricName = 'http.server.request.duration'`)[0][0], 0)
		}},
		{name: "10 SQL join", agentCalls: 10, agentChars: 12851, mostCalls: 3, mostChars: 12_000, answer: func(i *investigator) {
			i.call("describe_warehouse_tables", map[string]any{"table": "logs"})
			i.call("describe_warehouse_tables", map[string]any{"table": "spans"})
			i.call("run_sql", whole, map[string]any{"sql": `SELECT s.ServiceName AS service, count() AS records FROM logs AS l INNER JOIN spans AS s
				ON l.TraceId = s.TraceId AND l.SpanId = s.SpanId WHERE $__timeFilter(l.Timestamp) AND s.HasError GROUP BY service ORDER BY service`})
			truth := query(i.T, p, `SELECT ServiceName, count() FROM logs
				WHERE (TraceId, SpanId) IN (SELECT TraceId, SpanId FROM spans WHERE HasError) GROUP BY ServiceName ORDER BY ServiceName`)
			if got := cells(i.texts[2])[1:]; len(truth) < 3 || !slices.EqualFunc(got, truth, slices.Equal) {
				i.Errorf("records: %v, and %v in SQL", got, truth)
			}
		}},
		{name: "11 Slow trace", agentCalls: 2, agentChars: 7460, mostCalls: 2, mostChars: 12_000, answer: func(i *investigator) {
			i.call("find_slow_traces", during(demo.FaultRelease))
			i.next("inspect_trace")
			i.finds(`catalog: SELECT product_variants, (\d+) times, \d+ ms together`)
		}},
		{name: "12 Two periods", agentCalls: 1, agentChars: 2136, mostCalls: 1, mostChars: 6_000, answer: func(i *investigator) {
			before, now := starts[demo.FaultErrors].Add(-15*time.Minute), starts[demo.FaultDependency]
			i.call("compare_periods", map[string]any{
				"current_start": now.Format(time.RFC3339), "current_end": now.Add(15 * time.Minute).Format(time.RFC3339), "environment": "production",
				"previous_start": before.Format(time.RFC3339), "previous_end": before.Add(15 * time.Minute).Format(time.RFC3339),
			})
			compared := 0
			for period, from := range map[string]time.Time{"current": now, "previous": before} {
				truth := map[string]string{}
				for _, row := range query(i.T, p, `SELECT ServiceName, if(countIf(IsEntry) > 0,
					sumIf(SampleRate, IsEntry AND HasError) / sumIf(SampleRate, IsEntry), sumIf(SampleRate, HasError) / sum(SampleRate))
					FROM spans WHERE Environment = 'production' AND `+within(from, from.Add(15*time.Minute))+` GROUP BY ServiceName`) {
					truth[row[0]] = row[1]
				}
				services, _ := i.structured["services"].([]any)
				for _, s := range services {
					of := s.(map[string]any)
					figures := of[period].(map[string]any)
					i.figure(fmt.Sprint("error rate of ", of["name"], ", ", period), fmt.Sprint(figures["errorRate"]), truth[fmt.Sprint(of["name"])], 1e-6)
					compared++
				}
			}
			if compared < 20 {
				i.Errorf("only %d error rates", compared)
			}
		}},
	}
	for _, q := range questions {
		t.Run("question "+q.name, func(t *testing.T) {
			i := &investigator{T: t, server: p, tools: tools}
			defer func() {
				q.calls, q.chars, q.raw, q.seconds, q.answered = len(i.texts), i.chars, i.raw, i.took.Seconds(), !t.Failed()
			}()
			q.answer(i)
			if len(i.texts) > q.mostCalls || i.chars > q.mostChars {
				t.Errorf("%d calls and %d characters, at most %d and %d", len(i.texts), i.chars, q.mostCalls, q.mostChars)
			}
		})
	}
	var table strings.Builder
	for _, q := range questions {
		fmt.Fprintf(&table, "%-24s right=%-5v calls %2d (agent %2d)  text %6d (agent %6d)  raw %7d  %5.1f s\n",
			q.name, q.answered, q.calls, q.agentCalls, q.chars, q.agentChars, q.raw, q.seconds)
	}
	t.Logf("calls and characters of twelve questions, and those of an agent with a model in brackets\n%s", table.String())
}
