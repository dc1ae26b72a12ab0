package console

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

func logCommands() []Command {
	filters := []Flag{
		{Name: "severity", Usage: "lowest severity", Choices: severityNames, Target: func(o *Options) any { return &o.Severity }},
		searchFlag("text that the body contains, letter case ignored"),
		{Name: "trace-id", Usage: "only records of this trace", Target: func(o *Options) any { return &o.TraceID }},
	}
	return []Command{
		{
			Path: "logs", Short: "Search log records, latest first, or follow them", window: true, service: true, page: true,
			Flags: append(slices.Clone(filters), Flag{
				Name: "follow", Short: "f", Usage: "show records as they arrive, until Ctrl-C", Target: func(o *Options) any { return &o.Follow },
			}),
			Long: "--follow shows each record once, oldest first, from " + limits.Lasts(limits.FollowBack) + ` before now, also when it arrives late. It goes on after
an outage of the server. In a pipe it writes one JSON object on each line.`,
			Example: "  svc logs -s checkout --severity ERROR -q timeout\n  svc logs --follow -s checkout",
			run:     logs, follow: followLogs,
		},
		{
			Path: "log-patterns", Short: "Find the common patterns of log records, new ones first", window: true, service: true,
			length:  time.Hour,
			Flags:   append(slices.Clone(filters), limitFlag("most patterns to show (default %d)", limits.DefaultPatterns)),
			Long:    "The command compares the patterns with those of the time before, which is as long.",
			Example: "  svc log-patterns -s checkout --since 1h",
			run:     logPatterns,
		},
	}
}

// severityNames are the values of --severity, lowest first; severities are the lowest numbers that they stand for.
var (
	severityNames = []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}
	severities    = map[string]int32{"TRACE": 1, "DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}
)

func (q *Query) logFilters() *svcv2.LogFilters {
	f := &svcv2.LogFilters{
		ServiceName: given(q.Service), DeploymentEnvironment: given(q.Environment), BodySearch: given(q.Search), TraceId: given(q.TraceID),
	}
	if n, ok := severities[q.Severity]; ok {
		f.MinimumSeverity = &n
	}
	return f
}

func logs(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.SearchLogsResponse, error) {
		return q.client.searchLogs(ctx, q, start, end, limit, cursor)
	}, func(r *svcv2.SearchLogsResponse) *[]*svcv2.Log { return &r.Data })
	if err != nil {
		return Answer{}, err
	}
	s := section{columns: logColumns()}
	for _, v := range res.GetData() {
		s.rows = append(s.rows, logRow(v))
	}
	return Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, cursor: res.GetNextCursor(),
		empty: none(s, "no log record matches in "+utcWindow(start, end)),
	}, nil
}

func (c *Client) searchLogs(
	ctx context.Context, q *Query, start, end *timestamppb.Timestamp, limit int32, cursor *string,
) (*svcv2.SearchLogsResponse, error) {
	return c.logs.SearchLogs(ctx, &svcv2.SearchLogsRequest{
		StartTime: start, EndTime: end, Limit: &limit, Cursor: cursor,
		Filters: q.logFilters(),
	})
}

func logColumns() []column {
	return []column{{title: "TIME (UTC)"}, {title: "SEVERITY"}, {title: "SERVICE", grow: true, drop: 1}, {title: "BODY", grow: true}}
}

func logRow(v *svcv2.Log) []cell {
	severity := cell{text: v.GetSeverityText()}
	switch n := v.GetSeverityNumber(); {
	case n >= severities["ERROR"]:
		severity.tone = bad
	case n >= severities["WARN"]:
		severity.tone = warned
	case n > 0 && n < severities["INFO"]:
		severity.tone = faint
	}
	return []cell{{atExactly(v.GetTimestamp()), faint}, severity, {text: v.GetServiceName()}, {text: v.GetBody()}}
}

func logPatterns(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := q.client.logs.SearchLogPatterns(ctx, &svcv2.SearchLogPatternsRequest{
		StartTime: start, EndTime: end, Filters: q.logFilters(), MaxPatterns: number(q.Limit),
	})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	s := section{columns: []column{
		{title: "RECORDS", right: true},
		{title: "SHARE %", right: true, drop: 2},
		{title: "NEW"},
		{title: "SERVICES", grow: true, drop: 1},
		{title: "PATTERN", grow: true},
	}}
	for _, v := range res.GetData() {
		fresh := cell{}
		if v.GetIsNew() {
			fresh = cell{"new", warned}
		}
		s.rows = append(s.rows, []cell{
			{text: count(v.GetEstimatedCount())},
			{text: percent(v.GetShare())},
			fresh,
			{text: frequent(v.GetServiceCounts())},
			{text: v.GetTemplate()},
		})
	}
	a := Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, empty: none(s, "no log record matches in "+utcWindow(start, end)),
	}
	if res.GetTruncated() {
		a.notes = append(a.notes, fmt.Sprintf("there are more patterns: --limit shows up to %d", limits.Patterns))
	}
	return a, nil
}

// frequent lists names, the most frequent first.
func frequent(counts map[string]int32) string {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if counts[a] != counts[b] {
			return int(counts[b]) - int(counts[a])
		}
		if a < b {
			return -1
		}
		return 1
	})
	text := ""
	for i, name := range names {
		if i == 3 {
			return text + ", …"
		}
		if i > 0 {
			text += ", "
		}
		text += name
	}
	return text
}
