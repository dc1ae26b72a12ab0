package query

import "fmt"

// failureMessage says what went wrong in a span: its status message, else that of its exception.
const failureMessage = `if(StatusMessage != '', StatusMessage, EventsAttributes[indexOf(EventsName, 'exception')]['exception.message'])`

// TraceFiguresRow is a row of TraceFigures.
type TraceFiguresRow struct {
	TraceID  string   `ch:"TraceId"`
	Spans    uint64   `ch:"Spans"`
	Errors   uint64   `ch:"Errors"`
	Services []string `ch:"Services"`
	Message  string   `ch:"Message"`
}

// TraceFigures gives a TraceFiguresRow for each of the traces that has spans in the window.
func TraceFigures(w Window, ids []string) Statement {
	b := &builder{}
	c := where().with("TraceId IN "+b.bind("trace_ids", "Array(String)", ids), "Timestamp >= "+b.time("start", w.Start), "Timestamp <= "+b.time("end", w.End))
	return b.statement(fmt.Sprintf(`SELECT
    TraceId,
    count() AS Spans,
    countIf(HasError) AS Errors,
    arraySort(groupUniqArray(50)(toString(ServiceName))) AS Services,
    substringUTF8(argMaxIf(%s, Timestamp, StatusCode = 'Error'), 1, 300) AS Message
FROM spans
WHERE %s
GROUP BY TraceId`, failureMessage, c.join(4)))
}
