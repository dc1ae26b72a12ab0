package loadtest

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// Stored counts the stored rows of one request.
type Stored struct {
	// Items counts rows. Distinct counts the different values of ItemAttribute among them.
	Items, Distinct int
}

// Query returns the stored rows of a run, by the value of RequestAttribute.
type Query func(ctx context.Context) (map[string]Stored, error)

// Result compares the acknowledged items with the stored ones.
type Result struct {
	// Lost counts acknowledged items that are not stored. Duplicated counts surplus rows of any request.
	Lost, Duplicated int
	// Unacknowledged counts distinct stored items of requests that failed or were refused.
	Unacknowledged int
	// Unknown counts rows whose request number does not occur in the run.
	Unknown int
	// Examples names a few faulty requests.
	Examples []string
}

// OK reports whether every acknowledged item is stored exactly once, and no other row is duplicated or unknown.
func (r Result) OK() bool { return r.Lost == 0 && r.Duplicated == 0 && r.Unknown == 0 }

func (r Result) String() string {
	return fmt.Sprintf("%d lost, %d duplicated, %d unknown, %d stored without an acknowledgement %v", r.Lost, r.Duplicated,
		r.Unknown, r.Unacknowledged, r.Examples)
}

const maxExamples = 5

// Verify compares a marked load with the stored rows. Call it after everything is stored, because items that are still on their
// way count as lost.
func Verify(ctx context.Context, r *Report, query Query) (Result, error) {
	stored, err := query(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("loadtest: query the stored items: %w", err)
	}
	var res Result
	blame := func(request, what string, n int) {
		if len(res.Examples) < maxExamples {
			res.Examples = append(res.Examples, fmt.Sprintf("request %s: %d %s", request, n, what))
		}
	}
	acknowledged := make(map[string]bool, len(r.acknowledged))
	for _, n := range r.acknowledged {
		request := requestNumber(n)
		acknowledged[request] = true
		if missing := r.Items - stored[request].Distinct; missing > 0 {
			res.Lost += missing
			blame(request, "lost", missing)
		}
	}
	for request, s := range stored {
		if extra := s.Items - s.Distinct; extra > 0 {
			res.Duplicated += extra
			blame(request, "duplicated", extra)
		}
		if n, err := strconv.Atoi(request); err != nil || n >= r.numbers || s.Distinct > r.Items {
			res.Unknown += s.Items
			blame(request, "unknown", s.Items)
		} else if !acknowledged[request] {
			res.Unacknowledged += s.Distinct
		}
	}
	return res, nil
}

// SQL returns the ClickHouse query whose tab-separated result ParseTSV reads.
func SQL(signal otlp.Signal, run string) string {
	table, attributes := "spans", "SpanAttributes"
	switch signal {
	case otlp.Logs:
		table, attributes = "logs", "LogAttributes"
	case otlp.Metrics:
		table, attributes = "metrics_gauge", "Attributes"
	}
	return fmt.Sprintf("SELECT %[2]s['%[3]s'] AS request, count(), uniqExact(%[2]s['%[4]s']) FROM %[1]s WHERE ResourceAttributes['%[5]s'] = "+
		"'%[6]s' GROUP BY request",
		table, attributes, RequestAttribute, ItemAttribute, RunAttribute, run)
}

// ParseTSV reads the result of SQL.
func ParseTSV(tsv string) (map[string]Stored, error) {
	stored := map[string]Stored{}
	for line := range strings.Lines(tsv) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("loadtest: %d columns in %q, want 3", len(fields), line)
		}
		items, err1 := strconv.Atoi(fields[1])
		distinct, err2 := strconv.Atoi(fields[2])
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("loadtest: no counts in %q", line)
		}
		stored[fields[0]] = Stored{Items: items, Distinct: distinct}
	}
	return stored, nil
}
