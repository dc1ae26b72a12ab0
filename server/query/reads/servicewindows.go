package reads

import (
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// ServiceWindowList selects the figures of entry spans for many windows of one length whose ends are equally far apart. Windows may
// overlap. A minute that is part of many windows is read once.
type ServiceWindowList struct {
	// First is the end of the first window, a whole minute. Ends are not part of windows.
	First time.Time
	// Step is between the ends of two windows, Length is that of each window. Both are whole minutes.
	Step, Length time.Duration
	Count        int
	// Environments is empty for all.
	Environments []string
	// Latency asks for quantiles of durations, which cost most.
	Latency bool
	// ByService gives a row for each service and window, else one row for each window.
	ByService bool
	// Services is empty for all. It needs ByService.
	Services []string
	// Series says that the table service_series has these minutes. A list of services is then read from that table.
	Series bool
}

// ServiceWindowRow is a row of ServiceWindows.
type ServiceWindowRow struct {
	// Service is empty in rows for all.
	Service string `ch:"Service"`
	// Window counts from 0.
	Window uint32 `ch:"Window"`
	// Figures are those of ServiceFigureRow for one window.
	Figures []float64 `ch:"Figures"`
}

// ServiceWindows gives ServiceWindowRow rows. There are none for windows without spans.
func ServiceWindows(l ServiceWindowList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	start := b.Minute("first", l.First.Add(-l.Length))
	where := sqlbuild.OfOrganization().With(
		"Minute >= "+start, "Minute < "+b.Minute("last", l.First.Add(time.Duration(l.Count-1)*l.Step)), "IsEntry")
	service, table, group := "''", "service_minutes", "Offset"
	if l.ByService {
		service, group = "ServiceName", "ServiceName, Offset"
		if len(l.Services) > 0 {
			where = where.With("ServiceName IN " + b.Bind("services", "Array(String)", l.Services))
			if l.Series {
				table = "service_series"
			}
		}
	}
	if len(l.Environments) > 0 {
		where = where.With("has(" + b.Bind("environments", "Array(String)", l.Environments) + ", Environment)")
	}
	state, latency := "", "[nan, nan]"
	if l.Latency {
		state = ",\n        quantilesTDigestWeightedMergeState(0.5, 0.95, 0.99)(WeightedDurations) AS MinuteDurations"
		latency = "arraySlice(arrayMap(q -> toFloat64(q), quantilesTDigestWeightedMerge(0.5, 0.95, 0.99)(MinuteDurations)), 2)"
	}
	minutes := func(name string, d time.Duration) string { return b.Bind(name, "Int64", int64(d/time.Minute)) }
	// The minute with the offset n from the start of the first window is in window k if k*step <= n and n < k*step + length.
	length, step, last := minutes("length", l.Length), minutes("step", l.Step), b.Bind("last_window", "Int64", int64(l.Count-1))
	from := "if(Offset < " + length + ", 0, intDiv(Offset - " + length + ", " + step + ") + 1)"
	to := "least(intDiv(Offset, " + step + "), " + last + ")"
	return b.Statement(`SELECT
    Service,
    toUInt32(arrayJoin(range(` + from + `, ` + to + ` + 1))) AS Window,
    arrayConcat([toFloat64(sum(Received)), sum(Estimated), sum(Failed)], ` + latency + `) AS Figures
FROM
(
    SELECT
        ` + service + ` AS Service,
        dateDiff('minute', ` + start + `, Minute) AS Offset,
        sum(SpanCount) AS Received,
        sum(EstimatedSpanCount) AS Estimated,
        sum(EstimatedErrorCount) AS Failed` + state + `
    FROM ` + table + `
    WHERE ` + where.Join(8) + `
    GROUP BY ` + group + `
)
GROUP BY Service, Window`)
}
