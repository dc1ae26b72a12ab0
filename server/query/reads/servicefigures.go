package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// ServiceFigureCell is a window whose figures are wanted. It begins and ends with whole minutes; its end is not part of it.
type ServiceFigureCell struct {
	Start, End time.Time
	// Environments is empty for all.
	Environments []string
	// Latency asks for quantiles of durations, which cost most.
	Latency bool
}

// ServiceFigureList selects the figures of entry spans for several windows at once.
type ServiceFigureList struct {
	Cells []ServiceFigureCell
	// ByService gives a row for each service, else one row for all.
	ByService bool
	// Services is empty for all. It needs ByService.
	Services []string
	// Series says that the table service_series has these minutes. A list of services is then read from that table.
	Series bool
}

// ServiceFigureRow is a row of ServiceFigures.
type ServiceFigureRow struct {
	// Service is empty in the row for all.
	Service string `ch:"Service"`
	// Figures has five numbers for each cell: received spans, estimated spans, estimated failed spans, and the 95th and 99th percentile of
	// their durations in nanoseconds, which are NaN without spans and without Latency.
	Figures [][]float64 `ch:"Figures"`
}

// ServiceFigures gives ServiceFigureRow rows. Without spans in the windows, there are none by service, and one with zeros for all.
func ServiceFigures(l ServiceFigureList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	cells := make([]string, len(l.Cells))
	first, last := l.Cells[0].Start, l.Cells[0].End
	for i, c := range l.Cells {
		if c.Start.Before(first) {
			first = c.Start
		}
		if c.End.After(last) {
			last = c.End
		}
		in := fmt.Sprintf("Minute >= %s AND Minute < %s", b.Minute(fmt.Sprint("start_", i), c.Start), b.Minute(fmt.Sprint("end_", i), c.End))
		if len(c.Environments) > 0 {
			in += " AND has(" + b.Bind(fmt.Sprint("environments_", i), "Array(String)", c.Environments) + ", Environment)"
		}
		latency := ", [nan, nan]"
		if c.Latency {
			latency = ", arraySlice(arrayMap(q -> toFloat64(q), quantilesTDigestWeightedMergeIf(0.5, 0.95, 0.99)(WeightedDurations, " + in + ")), 2)"
		}
		cells[i] = fmt.Sprintf("arrayConcat([toFloat64(sumIf(SpanCount, %[1]s)), sumIf(EstimatedSpanCount, %[1]s), sumIf(EstimatedErrorCount, "+
			"%[1]s)]%[2]s)",
			in, latency)
	}
	where := sqlbuild.OfOrganization().With("Minute >= "+b.Minute("first", first), "Minute < "+b.Minute("last", last), "IsEntry")
	service, table, group := "''", "service_minutes", ""
	if l.ByService {
		service, group = "ServiceName", "\nGROUP BY ServiceName"
		if len(l.Services) > 0 {
			where = where.With("ServiceName IN " + b.Bind("services", "Array(String)", l.Services))
			if l.Series {
				table = "service_series"
			}
		}
	}
	return b.Statement(`SELECT
    ` + service + ` AS Service,
    [
        ` + strings.Join(cells, ",\n        ") + `
    ] AS Figures
FROM ` + table + `
WHERE ` + where.Join(4) + group)
}
