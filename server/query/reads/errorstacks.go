package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// spanStack is the stack of the exception of a span, or empty.
const spanStack = "EventsAttributes[indexOf(EventsName, 'exception')]['exception.stacktrace']"

// loggedWithin is how long before a log record its span is looked for.
const loggedWithin = time.Minute

// ErrorStacks gives at most one ErrorStackRow: the stack of the latest of these errors that has one and whose span is still kept.
// It passes the services and times because the table's key finds spans by them. The sample of an error that was only logged is its log
// record, which was written after the begin of its span.
func ErrorStacks(errors []ErrorSampleRow) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	var services, times, traces, spans, within []string
	for i, e := range errors {
		services, traces, spans = append(services, e.ServiceName), append(traces, e.TraceID), append(spans, e.SpanID)
		at := b.Time(fmt.Sprintf("at_%d", i), e.Timestamp)
		if e.SpanName != "" {
			times = append(times, at)
			continue
		}
		from := b.Time(fmt.Sprintf("from_%d", i), e.Timestamp.Add(-loggedWithin))
		within = append(within, fmt.Sprintf("Timestamp >= %s AND Timestamp <= %s", from, at))
	}
	if len(times) > 0 {
		within = append(within, "Timestamp IN ("+strings.Join(times, ", ")+")")
	}
	when := strings.Join(within, " OR ")
	if len(within) > 1 {
		when = "(" + when + ")"
	}
	c := sqlbuild.OfOrganization().With(
		"ServiceName IN "+b.Bind("service_names", "Array(String)", services),
		when,
		"TraceId IN "+b.Bind("trace_ids", "Array(String)", traces),
		"SpanId IN "+b.Bind("span_ids", "Array(String)", spans),
		"Stack != ''",
	)
	return b.Statement(fmt.Sprintf(`SELECT
    %s AS Stack,
    EventsAttributes[indexOf(EventsName, 'exception')]['exception.message'] AS Message,
    toString(ServiceName) AS Service,
    toString(Environment) AS Environment,
    toString(ServiceVersion) AS Version,
    %s AS Commit,
    ResourceAttributes['vcs.repository.url.full'] AS RepositoryURL,
    ResourceAttributes['vcs.repository.name'] AS RepositoryName,
    Timestamp
FROM spans
WHERE %s
ORDER BY Timestamp DESC
LIMIT 1`, spanStack, query.CommitSHA(), c.Join(4)))
}

// ErrorStackRow is the row of ErrorStacks. The texts after the message say which program it was, and may be empty.
type ErrorStackRow struct {
	Stack          string `ch:"Stack"`
	Message        string `ch:"Message"`
	Service        string `ch:"Service"`
	Environment    string `ch:"Environment"`
	Version        string `ch:"Version"`
	Commit         string `ch:"Commit"`
	RepositoryURL  string `ch:"RepositoryURL"`
	RepositoryName string `ch:"RepositoryName"`

	Timestamp time.Time `ch:"Timestamp"`
}

// StacksOf gives OtherStackRow rows: different stacks of the program of a stack, from the same commit and version.
func StacksOf(w query.Window, of ErrorStackRow, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"ServiceName = "+b.Bind("service_name", "String", of.Service),
		"Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End),
		"ServiceVersion = "+b.Bind("version", "String", of.Version),
		query.CommitSHA()+" = "+b.Bind("commit", "String", of.Commit),
		"has(EventsName, 'exception')", "Stack != ''",
	)
	return b.Statement(fmt.Sprintf(`SELECT DISTINCT %s AS Stack
FROM spans
WHERE %s
LIMIT %s`, spanStack, c.Join(4), b.Bind("limit", "UInt32", int64(limit))))
}

// OtherStackRow is a row of StacksOf.
type OtherStackRow struct {
	Stack string `ch:"Stack"`
}
