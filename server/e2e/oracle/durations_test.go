package oracle_test

import (
	"fmt"
	"math"
	"time"
)

// durationSteps begin the rows of a distribution within a power of ten, as the contract names them.
var durationSteps = []float64{1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8}

// shortest is the bound, in milliseconds, at which the row of a duration begins.
func shortest(d time.Duration) float64 {
	if d < time.Microsecond {
		return 0
	}
	begin := 0.0
	for power := -3; power < 12; power++ {
		for _, step := range durationSteps {
			bound := step * math.Pow10(power)
			if time.Duration(math.Round(bound*1e6)) > d {
				return begin
			}
			begin = bound
		}
	}
	return begin
}

type distributed struct {
	BucketSeconds int64     `json:"bucket_seconds"`
	BoundsMs      []float64 `json:"bounds_ms"`
	Count         float64
	ErrorCount    float64 `json:"error_count"`
	ReceivedCount float64 `json:"received_count"`
	Data          []struct {
		Timestamp time.Time
		Cells     []struct {
			Row        int
			Count      float64
			ErrorCount float64 `json:"error_count"`
		}
	}
}

// cell is the place of a span in a distribution.
type cell struct {
	at       int64
	shortest string
}

func cellOf(at int64, ms float64) cell { return cell{at, fmt.Sprintf("%.9g ms", ms)} }

// checkDurations compares the distribution of durations: for each condition two shapes of windows, with lengths of columns drawn at random.
func (a *audit) checkDurations() {
	const read = "queryTraceDistribution"
	for i, c := range a.spanConditions() {
		for _, w := range a.windows()[i%2*2:][:2] {
			request := object{"bucket_seconds": []int{60, 300, 3600, 77}[a.r.IntN(4)]}
			if a.r.IntN(2) == 0 {
				request["filters"] = c.filters
			} else {
				request["where"] = c.where
			}
			if int(w.seconds())/request["bucket_seconds"].(int) > 190 {
				request["bucket_seconds"] = 300
			}
			if a.r.IntN(4) == 0 {
				delete(request, "bucket_seconds")
			}
			what := fmt.Sprintf("durations of %v in %s", cond(request), w)
			var got distributed
			a.ask(read, in(w, request), &got)
			a.checkCells(read, what, w, rowsIn(a.spans, w, c.meets), got)
		}
	}
}

func (a *audit) checkCells(read, what string, w window, rows []*row, got distributed) {
	a.figure(read, "spans: "+what, got.Count, exactly(estimated(rows)))
	a.figure(read, "failed spans: "+what, got.ErrorCount, exactly(estimated(failed(rows))))
	a.figure(read, "received spans: "+what, got.ReceivedCount, exactly(float64(len(rows))))
	want := by(rows, func(r *row) cell { return cellOf(w.bucket(r.at, got.BucketSeconds), shortest(r.duration)) })
	longest, least := 0.0, math.Inf(1)
	for _, r := range rows {
		longest, least = max(longest, r.milliseconds()), min(least, r.milliseconds())
	}
	if n := len(got.BoundsMs); len(rows) > 0 && n > 1 {
		a.figure(read, "first bound: "+what, got.BoundsMs[0], exactly(shortest(time.Duration(math.Round(least*1e6)))))
		a.figure(read, "last row: "+what, got.BoundsMs[n-2], exactly(shortest(time.Duration(math.Round(longest*1e6)))))
	}
	for _, column := range got.Data {
		for _, c := range column.Cells {
			if c.Row < 0 || c.Row+1 >= len(got.BoundsMs) {
				a.Errorf("%s: row %d of %d bounds: %s", read, c.Row, len(got.BoundsMs), what)
				continue
			}
			at := cellOf(column.Timestamp.Unix(), got.BoundsMs[c.Row])
			of := want[at]
			delete(want, at)
			name := fmt.Sprintf("at %s from %s: %s", column.Timestamp.Format("15:04:05"), at.shortest, what)
			a.figure(read, "spans "+name, c.Count, exactly(estimated(of)))
			a.figure(read, "failed spans "+name, c.ErrorCount, exactly(estimated(failed(of))))
		}
	}
	a.figure(read, "missing cells: "+what, float64(len(want)), exactly(0))
}
