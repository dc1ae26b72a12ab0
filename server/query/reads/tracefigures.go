package reads

import (
	"fmt"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// failureMessage says why a span failed: its status message, or else the message of its exception.
const failureMessage = `if(StatusMessage != '', StatusMessage, EventsAttributes[indexOf(EventsName, 'exception')]['exception.message'])`

// TraceFiguresRow is a row of TraceFigures.
type TraceFiguresRow struct {
	TraceID  string   `ch:"TraceId"`
	Spans    uint64   `ch:"Spans"`
	Errors   uint64   `ch:"Errors"`
	Services []string `ch:"Services"`
	Message  string   `ch:"Message"`
}

// TraceFigures gives a TraceFiguresRow for each of the traces that have spans in the window.
func TraceFigures(w query.Window, ids []string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"TraceId IN "+b.Bind("trace_ids", "Array(String)", ids),
		"Timestamp >= "+b.Time("start", w.Start),
		"Timestamp <= "+b.Time("end", w.End),
	)
	return b.Statement(fmt.Sprintf(`SELECT
    TraceId,
    count() AS Spans,
    countIf(HasError) AS Errors,
    arraySort(groupUniqArray(%d)(toString(ServiceName))) AS Services,
    substringUTF8(argMaxIf(%s, Timestamp, StatusCode = 'Error'), 1, %d) AS Message
FROM spans
WHERE %s
GROUP BY TraceId`, limits.SummaryServices, failureMessage, limits.SummaryError, c.Join(4)))
}
