package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// AgentFilters are conditions on the spans of agents. A list matches any one of its values.
type AgentFilters struct{ Services, Environments, Models, Agents, Tools, Vendors []string }

// agentOperations are the values of gen_ai.operation.name that mark a span as an agent's span.
const agentOperations = `'chat', 'generate_content', 'text_completion', 'invoke_agent', 'execute_tool', 'create_agent', 'embeddings', 'invoke_workflow', 'retrieval'`

// agentSpan is the condition that a span belongs to an agent. Its form lets the index of attributes answer it.
const agentSpan = `hasAny(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), arrayMap(o -> cityHash64('gen_ai.operation.name', o), [` + agentOperations + `]))`

// sessionKeys are the attributes that can name a session. The first one that is present counts.
func sessionKeys() []string {
	return []string{"svc_ai.session.id", "gen_ai.conversation.id", "session.id"}
}

// These expressions read the attributes of an agent's span.
const (
	agentFailed    = `(StatusCode = 'Error' OR SpanAttributes['error.type'] != '')`
	agentOperation = `SpanAttributes['gen_ai.operation.name']`
	agentModel     = `if(SpanAttributes['gen_ai.response.model'] != '', SpanAttributes['gen_ai.response.model'], SpanAttributes['gen_ai.request.model'])`
	agentVendor    = `if(SpanAttributes['gen_ai.provider.name'] != '', SpanAttributes['gen_ai.provider.name'], SpanAttributes['gen_ai.system'])`
	agentCost      = `toFloat64OrZero(multiIf(SpanAttributes['gen_ai.usage.cost'] != '', SpanAttributes['gen_ai.usage.cost'], SpanAttributes['gen_ai.usage.total_cost'] != '', SpanAttributes['gen_ai.usage.total_cost'], SpanAttributes['llm.cost.total']))`
	agentInput     = `toFloat64OrZero(if(SpanAttributes['gen_ai.usage.input_tokens'] != '', SpanAttributes['gen_ai.usage.input_tokens'], SpanAttributes['gen_ai.usage.prompt_tokens']))`
	agentOutput    = `toFloat64OrZero(if(SpanAttributes['gen_ai.usage.output_tokens'] != '', SpanAttributes['gen_ai.usage.output_tokens'], SpanAttributes['gen_ai.usage.completion_tokens']))`
	agentException = `EventsAttributes[indexOf(EventsName, 'exception')]`
	agentMessage   = failureMessage
	agentErrorType = `if(SpanAttributes['error.type'] != '', SpanAttributes['error.type'], ` + agentException + `['exception.type'])`
	// agentFingerprint groups failures by type and message, and ignores numbers and ids in the message.
	agentFingerprint = `cityHash64(` + agentErrorType + `, replaceRegexpAll(` + agentMessage + `, '[0-9a-fA-F]{8,}|[0-9]+', '#'))`
	isModelCall      = `Operation IN ('chat', 'generate_content', 'text_completion')`
)

// ownSession is the session that the span itself names, or empty.
func ownSession() string {
	var parts []string
	keys := sessionKeys()
	for _, k := range keys[:len(keys)-1] {
		parts = append(parts, fmt.Sprintf("SpanAttributes['%s'] != '', SpanAttributes['%[1]s']", k))
	}
	return "multiIf(" + strings.Join(parts, ", ") + ", SpanAttributes['" + keys[len(keys)-1] + "'])"
}

// withSession wraps a read of spans and adds the session of each span. columns are the other columns of the result.
func withSession(columns string, c sqlbuild.Conditions) string {
	return fmt.Sprintf(
		`SELECT *, multiIf(Own != '', Own, max(Own) OVER (PARTITION BY TraceId) != '', max(Own) OVER (PARTITION BY TraceId), concat('trace:', TraceId)) AS Session
        FROM
        (
            SELECT %s, TraceId, %s AS Own
            FROM spans
            WHERE %s
        )`,
		columns,
		ownSession(),
		c.Join(16),
	)
}

// withSessionOf is withSession for a part of the agents' spans. It reads all of them, because another span of the trace may name the
// session.
func withSessionOf(b *sqlbuild.Builder, w query.Window, columns string, part sqlbuild.Conditions) string {
	return fmt.Sprintf(`SELECT * EXCEPT (Meant)
        FROM
        (
        %s
        )
        WHERE Meant`, withSession(columns+", ("+strings.Join(part, " AND ")+") AS Meant", agentConditions(b, w)))
}

func agentConditions(b *sqlbuild.Builder, w query.Window) sqlbuild.Conditions {
	return sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End), agentSpan)
}

// AgentSessionSearch selects sessions.
type AgentSessionSearch struct {
	Window  query.Window
	Filters AgentFilters
	Search  string
	// HasErrors is nil to keep sessions with and without errors.
	HasErrors     *bool
	NoTraces      bool
	Ranges        []AgentRange
	SortBy        string
	Ascending     bool
	Offset, Limit int
}

// AgentRange bounds a figure: duration_ms, cost, total_tokens, llm_calls or tool_calls.
type AgentRange struct {
	Figure      string
	Least, Most *float64
}

// AgentSessionRow is a row of AgentSessions.
type AgentSessionRow struct {
	Session    string    `ch:"Session"`
	Vendors    []string  `ch:"Vendors"`
	Traces     uint64    `ch:"Traces"`
	Spans      uint64    `ch:"Spans"`
	Errors     uint64    `ch:"Errors"`
	ToolErrors uint64    `ch:"ToolErrors"`
	TurnErrors uint64    `ch:"TurnErrors"`
	Turns      uint64    `ch:"Turns"`
	Services   []string  `ch:"Services"`
	Models     []string  `ch:"Models"`
	Agents     []string  `ch:"Agents"`
	Start      time.Time `ch:"Start"`
	End        time.Time `ch:"End"`
	ModelCalls uint64    `ch:"ModelCalls"`
	ToolCalls  uint64    `ch:"ToolCalls"`
	Tokens     float64   `ch:"Tokens"`
	Cost       float64   `ch:"Cost"`
	// Total is the number of sessions on all pages. Failing is the number of them that have a failed span.
	Total   uint64 `ch:"Total"`
	Failing uint64 `ch:"Failing"`
}

// AgentSessions gives AgentSessionRow rows. If a session extends beyond the window, only its part within the window counts.
func AgentSessions(s AgentSessionSearch) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	columns := `ServiceName, Environment, Timestamp, DurationNano, ` + agentFailed + ` AS Failed, ` + agentOperation + ` AS Operation, ` + agentModel + ` AS Model,
                SpanAttributes['gen_ai.request.model'] AS Asked, ` + agentVendor + ` AS Vendor, SpanAttributes['gen_ai.agent.name'] AS Agent, SpanAttributes['gen_ai.tool.name'] AS Tool,
                ` + agentInput + ` + ` + agentOutput + ` AS Used, ` + agentCost + ` AS Paid`
	having := sqlbuild.Conditions{"Spans > 0"}
	if s.Search != "" {
		columns += `,
                concat(SpanAttributes['gen_ai.input.messages'], SpanAttributes['gen_ai.output.messages']) AS Said`
		text := b.Bind("search", "String", s.Search)
		having.Add("(%s OR countIf(%s) > 0)", sqlbuild.Contains("Session", text, s.Search), sqlbuild.Contains("Said", text, s.Search))
	}
	for _, f := range []struct {
		name, column string
		values       []string
	}{
		{"services", "ServiceName", s.Filters.Services},
		{"environments", "Environment", s.Filters.Environments},
		{"agents", "Agent", s.Filters.Agents},
		{"tools", "Tool", s.Filters.Tools},
		{"vendors", "Vendor", s.Filters.Vendors},
	} {
		if len(f.values) > 0 {
			having.Add("countIf(has(%s, %s)) > 0", b.Bind(f.name, "Array(String)", f.values), f.column)
		}
	}
	if len(s.Filters.Models) > 0 {
		models := b.Bind("models", "Array(String)", s.Filters.Models)
		having.Add("countIf(has(%s, Model) OR has(%s, Asked)) > 0", models, models)
	}
	if s.HasErrors != nil {
		having.Add("(Errors > 0) = %s", b.Bind("has_errors", "Bool", *s.HasErrors))
	}
	if s.NoTraces {
		having.Add("NOT startsWith(Session, 'trace:')")
	}
	figures := map[string]string{
		"start_time":       "Start",
		"duration_ms":      "dateDiff('microsecond', Start, End) / 1000",
		"cost":             "Cost",
		"total_tokens":     "Tokens",
		"error_span_count": "Errors",
		"llm_calls":        "ModelCalls",
		"tool_calls":       "ToolCalls",
	}
	for _, r := range s.Ranges {
		if r.Least != nil {
			having.Add("%s >= %s", figures[r.Figure], b.BindNumbered("least", "Float64", *r.Least))
		}
		if r.Most != nil {
			having.Add("%s <= %s", figures[r.Figure], b.BindNumbered("most", "Float64", *r.Most))
		}
	}
	order, direction := figures[s.SortBy], "DESC"
	if order == "" {
		order = "Start"
	}
	if s.Ascending {
		direction = "ASC"
	}
	return b.Statement(fmt.Sprintf(`SELECT
    Session,
    arraySort(groupUniqArrayIf(%[9]d)(Vendor, Vendor != '')) AS Vendors,
    uniqExact(TraceId) AS Traces,
    count() AS Spans,
    countIf(Failed) AS Errors,
    countIf(Failed AND Operation = 'execute_tool') AS ToolErrors,
    countIf(Failed AND Operation = 'invoke_agent') AS TurnErrors,
    countIf(Operation = 'invoke_agent') AS Turns,
    arraySort(groupUniqArray(%[8]d)(toString(ServiceName))) AS Services,
    arraySort(groupUniqArrayIf(%[8]d)(Model, Model != '' AND %[1]s)) AS Models,
    arraySort(groupUniqArrayIf(%[8]d)(Agent, Agent != '')) AS Agents,
    min(Timestamp) AS Start,
    max(Timestamp + toIntervalNanosecond(DurationNano)) AS End,
    countIf(%[1]s) AS ModelCalls,
    countIf(Operation = 'execute_tool') AS ToolCalls,
    if(sumIf(Used, %[1]s) > 0, sumIf(Used, %[1]s), sumIf(Used, Operation = 'invoke_agent')) AS Tokens,
    if(sumIf(Paid, %[1]s) > 0, sumIf(Paid, %[1]s), sumIf(Paid, Operation = 'invoke_agent')) AS Cost,
    count() OVER () AS Total,
    countIf(Errors > 0) OVER () AS Failing
FROM
(
        %[2]s
)
GROUP BY Session
HAVING %[3]s
ORDER BY %[4]s %[5]s, Session
LIMIT %[6]s OFFSET %[7]s`, isModelCall, withSession(columns, agentConditions(b, s.Window)), having.Join(4), order, direction,
		b.Bind("limit", "UInt32", int64(s.Limit)), b.Bind("offset", "UInt32", int64(s.Offset)), limits.AgentNames, limits.AgentVendors))
}

// AgentSpanRow is a row of AgentSessionSpans and AgentToolSamples.
type AgentSpanRow struct {
	Session    string    `ch:"Session"`
	TraceID    string    `ch:"TraceId"`
	SpanID     string    `ch:"SpanId"`
	Parent     string    `ch:"ParentSpanId"`
	Start      time.Time `ch:"Timestamp"`
	Duration   uint64    `ch:"DurationNano"`
	Operation  string    `ch:"Operation"`
	Name       string    `ch:"SpanName"`
	Service    string    `ch:"ServiceName"`
	Failed     bool      `ch:"Failed"`
	Message    string    `ch:"Message"`
	ErrorType  string    `ch:"ErrorType"`
	Model      string    `ch:"Model"`
	Vendor     string    `ch:"Vendor"`
	Agent      string    `ch:"Agent"`
	Tool       string    `ch:"Tool"`
	Input      float64   `ch:"InputTokens"`
	Output     float64   `ch:"OutputTokens"`
	CacheRead  float64   `ch:"CacheRead"`
	CacheWrite float64   `ch:"CacheWrite"`
	Reasoning  float64   `ch:"Reasoning"`
	Cost       float64   `ch:"Paid"`
	HasTokens  bool      `ch:"HasTokens"`
	HasCost    bool      `ch:"HasCost"`
	FirstToken float64   `ch:"FirstToken"`
	System     string    `ch:"System"`
	Asked      string    `ch:"Asked"`
	Answered   string    `ch:"Answered"`
}

// agentColumns are the columns of AgentSpanRow. payload is the number of characters of the conversation to read.
func agentColumns(payload string) string {
	first := func(keys ...string) string {
		out := "''"
		for i := len(keys) - 1; i >= 0; i-- {
			out = fmt.Sprintf("if(SpanAttributes['%s'] != '', SpanAttributes['%[1]s'], %s)", keys[i], out)
		}
		return out
	}
	// Older senders report each message as an event.
	event := func(names string) string {
		return fmt.Sprintf(
			"arrayStringConcat(arrayMap(i -> concat(EventsName[i], ': ', EventsAttributes[i]['content'], EventsAttributes[i]['message']), "+
				"arrayFilter(i -> EventsName[i] IN (%s), arrayEnumerate(EventsName))), '\\n')",
			names,
		)
	}
	said := func(attribute, events string) string {
		return fmt.Sprintf("substringUTF8(if(%s != '', %[1]s, %s), 1, %s)", attribute, events, payload)
	}
	return `SpanId, ParentSpanId, Timestamp, DurationNano, ` + agentOperation + ` AS Operation, SpanName, ServiceName, ` + agentFailed + ` AS Failed,
                ` + agentMessage + ` AS Message, ` + agentErrorType + ` AS ErrorType, ` + agentModel + ` AS Model, ` + agentVendor + ` AS Vendor,
                SpanAttributes['gen_ai.agent.name'] AS Agent, SpanAttributes['gen_ai.tool.name'] AS Tool, ` + agentInput + ` AS InputTokens, ` + agentOutput + ` AS OutputTokens,
                toFloat64OrZero(` + first(
		"gen_ai.usage.cache_read.input_tokens",
		"gen_ai.usage.cache_read_input_tokens",
	) + `) AS CacheRead,
                toFloat64OrZero(` + first(
		"gen_ai.usage.cache_creation.input_tokens",
		"gen_ai.usage.cache_creation_input_tokens",
	) + `) AS CacheWrite,
                toFloat64OrZero(` + first(
		"gen_ai.usage.reasoning.output_tokens",
		"gen_ai.usage.reasoning_tokens",
	) + `) AS Reasoning,
                ` + agentCost + ` AS Paid,
                mapContains(SpanAttributes, 'gen_ai.usage.output_tokens') OR mapContains(SpanAttributes, 'gen_ai.usage.completion_tokens') AS HasTokens,
                mapContains(SpanAttributes, 'gen_ai.usage.cost') OR mapContains(SpanAttributes, 'gen_ai.usage.total_cost') OR mapContains(SpanAttributes, 'llm.cost.total') AS HasCost,
                1000 * toFloat64OrZero(` + first(
		"gen_ai.response.time_to_first_chunk",
		"gen_ai.server.time_to_first_token",
	) + `) AS FirstToken,
                substringUTF8(` + first(
		"gen_ai.system_instructions",
	) + `, 1, ` + payload + `) AS System,
                ` + said(
		first("gen_ai.input.messages", "gen_ai.prompt", "gen_ai.tool.call.arguments"),
		event("'gen_ai.system.message', 'gen_ai.user.message', 'gen_ai.tool.message'"),
	) + ` AS Asked,
                ` + said(
		first("gen_ai.output.messages", "gen_ai.completion", "gen_ai.tool.call.result"),
		event("'gen_ai.assistant.message', 'gen_ai.choice'"),
	) + ` AS Answered`
}

// AgentSessionSpans gives the AgentSpanRow rows of a session in order of time. It gives at most limits.AgentSpans + 1 rows.
func AgentSessionSpans(w query.Window, session string, payload int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := agentConditions(b, w)
	id := b.Bind("session", "String", session)
	if trace, ok := strings.CutPrefix(session, "trace:"); ok {
		c.Add("TraceId = %s", b.Bind("trace_id", "String", trace))
	} else {
		var has []string
		for _, k := range sessionKeys() {
			has = append(
				has,
				fmt.Sprintf(
					"has(arrayMap((k, v) -> cityHash64(k, v), mapKeys(SpanAttributes), mapValues(SpanAttributes)), cityHash64('%s', %s))",
					k,
					id,
				),
			)
		}
		traces := sqlbuild.OfOrganization().With(
			"Timestamp >= "+b.Time("first", w.Start),
			"Timestamp <= "+b.Time("last", w.End),
			sqlbuild.Either(has),
		)
		c.Add(`TraceId IN
                (
                    SELECT TraceId FROM spans
                    WHERE %s
                )`, traces.Join(24))
	}
	statement := b.Statement(fmt.Sprintf(`SELECT * EXCEPT (Own)
FROM
(
        %s
)
WHERE Session = %s
ORDER BY Timestamp, SpanId
LIMIT %s`, withSession(agentColumns(b.Bind("payload", "UInt32", int64(payload))), c), id, b.Bind("limit", "UInt32", int64(limits.AgentSpans+1))))
	return statement.Colocated()
}

// AgentLinkRow is a row of AgentLinks.
type AgentLinkRow struct {
	TraceID string `ch:"TraceId"`
	SpanID  string `ch:"SpanId"`
	Parent  string `ch:"ParentSpanId"`
}

// AgentLinks gives an AgentLinkRow for each span of some traces that has a parent. The parent of an agent's span need not be an
// agent's span: other steps of the program lie between them.
func AgentLinks(w query.Window, traces []string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	c.Add("TraceId IN %s", b.Bind("traces", "Array(String)", traces))
	c.Add("ParentSpanId != ''")
	return b.Statement(fmt.Sprintf(`SELECT TraceId, SpanId, ParentSpanId
FROM spans
WHERE %s
LIMIT %s`, c.Join(4), b.Bind("limit", "UInt32", int64(limits.AgentLinks))))
}
