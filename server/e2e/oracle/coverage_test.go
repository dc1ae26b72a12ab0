package oracle_test

import (
	"regexp"
)

// uncompared names reads of telemetry whose figures the oracle does not compare, each with the reason.
var uncompared = []struct{ reads, reason string }{
	{`getTraceSkeleton|summarizeTraces`, "they have no REST route; tools show their figures"},
	{`summarizeMetrics`, "it has no REST route; the tool list_metrics shows its figures"},
	{
		`.*[aA]gent(Session|Tool).*|get_agent_(session_transcript|tool_error)`,
		"they have no REST route; tools show their figures, but these two tools are not compared yet",
	},
	{`getLogContext`, "TestLogContext compares it with the list around each record"},
	{`getErrorIssue`, "TestErrorSums compares its counts with the stored events"},
	{`comparePeriods`, "TestOracleServices compares it"},
	{`searchIncidents`, "the random telemetry has no faults; `make bench-diagnose` compares incidents with planted ones"},
	{`.*Dashboard.*|.*Share.*`, "stored and shared widgets show the data that the preview of a widget shows"},
	{`runSql|listSqlTables`, "the statement is the caller's"},
	{
		`find_incidents|compare_periods|diagnose_service|inspect_chart_data|list_dashboards|run_sql|service_map|audit_setup|describe_.*`,
		"REST has the same figures; no comparison of the tool's own yet",
	},
	{`previewAlertRule|(preview|create)_alert_rule`, "its figures are compared with a loop over spans by TestTogether in server/alerting, " +
		"its steps with those of a worker by TestPreviewEqualsWorker"},
	{`(list|summarize)AlertRuleChecks|list_alert_checks`, "its sums are compared with a loop over checks by TestCheckSums in server/alerting"},
	{`(create|add|update|replace)_dashboard.*`, "they write, and read only to try the queries of widgets"},
}

// uncovered fails the test for each read of telemetry, and each tool that uses one, that is neither compared nor listed in
// uncompared. It also fails for an entry of uncompared that matches nothing.
func (a *audit) uncovered() {
	needed := make([]int, len(uncompared))
	check := func(read string) {
		if a.compared[read] > 0 {
			return
		}
		for i, u := range uncompared {
			if regexp.MustCompile("^(?:" + u.reads + ")$").MatchString(read) {
				needed[i]++
				return
			}
		}
		a.Errorf("the oracle has no evaluation of %s: write one, or name the reason in uncompared", read)
	}
	for _, m := range a.contract.Methods() {
		if m.Write || !m.ReadsTelemetry {
			continue
		}
		check(m.OperationID)
		for _, tool := range m.MCPTools {
			check(tool)
		}
	}
	for i, n := range needed {
		if n == 0 {
			a.Errorf("no read needs %q in uncompared", uncompared[i].reads)
		}
	}
}
