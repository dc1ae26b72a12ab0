package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// toolConditions select the spans that are calls of tools.
func toolConditions(b *sqlbuild.Builder, f AgentFilters) sqlbuild.Conditions {
	c := sqlbuild.Conditions{agentOperation + " = 'execute_tool'"}
	for _, l := range []struct {
		name, column string
		values       []string
	}{
		{"services", "ServiceName", f.Services},
		{"environments", "Environment", f.Environments},
		{"agents", "SpanAttributes['gen_ai.agent.name']", f.Agents},
		{"tools", "SpanAttributes['gen_ai.tool.name']", f.Tools},
		{"vendors", agentVendor, f.Vendors},
		{"models", agentModel, f.Models},
	} {
		if len(l.values) > 0 {
			c.Add("has(%s, %s)", b.Bind(l.name, "Array(String)", l.values), l.column)
		}
	}
	return c
}

// AgentToolRow is a row of AgentTools. The row for all tools together has no name. Calls, failures and durations are corrected for
// sampling.
type AgentToolRow struct {
	Tool        string    `ch:"Tool"`
	Description string    `ch:"Description"`
	Calls       float64   `ch:"Calls"`
	Failed      float64   `ch:"Failures"`
	AvgMs       float64   `ch:"AvgMs"`
	P95Ms       float64   `ch:"P95Ms"`
	Sessions    uint64    `ch:"Sessions"`
	First       time.Time `ch:"First"`
	Last        time.Time `ch:"Last"`
}

// AgentTools gives one AgentToolRow for all calls together and one for each tool, busiest tool first. It gives at most AgentTools tools.
func AgentTools(w query.Window, f AgentFilters, contains string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := toolConditions(b, f)
	if contains != "" {
		c.Add("%s", sqlbuild.Contains("SpanAttributes['gen_ai.tool.name']", b.Bind("contains", "String", contains), contains))
	}
	return b.Statement(fmt.Sprintf(`SELECT
    Tool,
    argMax(Described, Timestamp) AS Description,
    sum(SampleRate) AS Calls,
    sumIf(SampleRate, Failed) AS Failures,
    avgWeighted(DurationNano, SampleRate) / 1e6 AS AvgMs,
    toFloat64(quantileTDigestWeighted(0.95)(DurationNano, toUInt64(round(SampleRate * 16)))) / 1e6 AS P95Ms,
    uniqExact(Session) AS Sessions,
    min(Timestamp) AS First,
    max(Timestamp) AS Last
FROM
(
        %s
)
GROUP BY ROLLUP(Tool)
ORDER BY Tool = '' DESC, Calls DESC, Tool
LIMIT %d`, withSessionOf(b, w, `Timestamp, DurationNano, SampleRate, `+agentFailed+` AS Failed, if(SpanAttributes['gen_ai.tool.name'] != '', SpanAttributes['gen_ai.tool.name'], '(no name)') AS Tool, SpanAttributes['gen_ai.tool.description'] AS Described`, c), limits.AgentTools+1))
}

// AgentFailureRow is a row of AgentToolFailures. Count is corrected for sampling, and Weights has the weight of each of Times.
type AgentFailureRow struct {
	Fingerprint uint64      `ch:"Fingerprint"`
	ErrorType   string      `ch:"Type"`
	Message     string      `ch:"Latest"`
	Count       float64     `ch:"Failures"`
	Sessions    uint64      `ch:"Sessions"`
	Last        time.Time   `ch:"Last"`
	Times       []time.Time `ch:"Times"`
	Weights     []float64   `ch:"Weights"`
}

// failedCalls prints the read of the failed calls of a tool.
func failedCalls(b *sqlbuild.Builder, w query.Window, f AgentFilters, columns string) string {
	c := toolConditions(b, f)
	c = append(c, agentFailed)
	return withSessionOf(b, w, columns, c)
}

// AgentToolFailures gives an AgentFailureRow for each kind of failure, most frequent first, at most AgentFailures. With a fingerprint it
// gives only that kind. A row holds the times of at most limits.AgentFailureTimes failures.
func AgentToolFailures(w query.Window, f AgentFilters, fingerprint *uint64) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	reads := failedCalls(
		b,
		w,
		f,
		`Timestamp, SampleRate, `+agentMessage+` AS Message, `+agentErrorType+` AS ErrorType, `+agentFingerprint+` AS Fingerprint`,
	)
	only := query.Always
	if fingerprint != nil {
		only = "Fingerprint = " + b.Bind("fingerprint", "UInt64", *fingerprint)
	}
	return b.Statement(fmt.Sprintf(`SELECT
    Fingerprint,
    any(ErrorType) AS Type,
    argMax(Message, Timestamp) AS Latest,
    sum(SampleRate) AS Failures,
    uniqExact(Session) AS Sessions,
    max(Timestamp) AS Last,
    groupArray(%[1]d)(Timestamp) AS Times,
    groupArray(%[1]d)(SampleRate) AS Weights
FROM
(
        %[2]s
)
WHERE %[3]s
GROUP BY Fingerprint
ORDER BY Failures DESC, Fingerprint
LIMIT %[4]d`, limits.AgentFailureTimes, reads, only, limits.AgentFailures))
}

// AgentCountRow is a row of AgentFailureCounts. Count is corrected for sampling.
type AgentCountRow struct {
	Kind  string  `ch:"Kind"`
	Name  string  `ch:"Name"`
	Count float64 `ch:"Failures"`
}

// AgentFailureCounts gives the AgentCountRow rows of one failure, counted by message, service, agent, environment and session.
// Each list has the AgentFailures most frequent values, most frequent first.
func AgentFailureCounts(w query.Window, f AgentFilters, fingerprint uint64) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	reads := failedCalls(
		b,
		w,
		f,
		`SampleRate, toString(ServiceName) AS Service, toString(Environment) AS Env, SpanAttributes['gen_ai.agent.name'] AS Agent, `+agentMessage+
			` AS Message, `+agentFingerprint+` AS Fingerprint`,
	)
	return b.Statement(fmt.Sprintf(`SELECT Pair.1 AS Kind, Pair.2 AS Name, sum(SampleRate) AS Failures
FROM
(
        %s
)
ARRAY JOIN [('message', substringUTF8(Message, 1, %d)), ('service', Service), ('agent', Agent), ('environment', Env), ('session', Session)] AS Pair
WHERE Fingerprint = %s AND Name != ''
GROUP BY Kind, Name
ORDER BY Failures DESC, Kind, Name
LIMIT %d BY Kind`, reads, limits.AgentFailureText, b.Bind("fingerprint", "UInt64", fingerprint), limits.AgentFailures))
}

// AgentFailureSamples gives the AgentSpanRow rows of one failure, newest first.
func AgentFailureSamples(w query.Window, f AgentFilters, fingerprint uint64, session string, payload, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	reads := failedCalls(b, w, f, agentColumns(b.Bind("payload", "UInt32", int64(payload)))+`, `+agentFingerprint+` AS Fingerprint`)
	c := sqlbuild.Conditions{"Fingerprint = " + b.Bind("fingerprint", "UInt64", fingerprint)}
	if session != "" {
		c.Add("Session = %s", b.Bind("session", "String", session))
	}
	return b.Statement(fmt.Sprintf(`SELECT * EXCEPT (Own, Fingerprint)
FROM
(
        %s
)
WHERE %s
ORDER BY Timestamp DESC, SpanId
LIMIT %s`, reads, c.Join(4), b.Bind("limit", "UInt32", int64(limit))))
}
