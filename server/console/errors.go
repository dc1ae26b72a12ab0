package console

import (
	"context"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

func errorCommands() []Command {
	return []Command{
		{
			Path: "errors", Short: "List the groups of errors, most frequent first", window: true, service: true, page: true,
			Flags:   []Flag{searchFlag("text that the type, message or label contains")},
			Example: "  svc errors -s checkout --since 1d", run: errorGroups,
		},
		{
			Path: "error", Arguments: []string{"ID"}, Short: "Show a group of errors by its fingerprint, or an issue by its id (iss_…)",
			window: true, service: true,
			Example: "  svc error 9223372036854775808 --since 1d\n  svc error iss_…", run: oneError,
		},
	}
}

func errorGroups(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.SearchErrorEventsResponse, error) {
		return q.client.errors.SearchErrorEvents(ctx, &svcv2.SearchErrorEventsRequest{
			StartTime: start, EndTime: end, Limit: &limit, Cursor: cursor, Filters: &svcv2.ErrorEventFilters{
				ServiceName: given(q.Service), DeploymentEnvironment: given(q.Environment), Search: given(q.Search),
			},
		})
	}, func(r *svcv2.SearchErrorEventsResponse) *[]*svcv2.ErrorEvent { return &r.Data })
	if err != nil {
		return Answer{}, err
	}
	s := section{columns: []column{
		{title: "FINGERPRINT"},
		{title: "ERROR", grow: true},
		{title: "COUNT", right: true},
		{title: "LAST SEEN (UTC)", drop: 1},
		{title: "SERVICES", grow: true, drop: 2},
		{title: "MESSAGE", grow: true, drop: 3},
	}}
	for _, v := range res.GetData() {
		s.rows = append(s.rows, row(v.GetFingerprintHash(), v.GetErrorLabel(), count(v.GetEstimatedCount()), at(v.GetLastSeen()),
			strings.Join(v.GetServices(), ", "), v.GetSampleMessage()))
	}
	return Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, cursor: res.GetNextCursor(),
		empty: none(s, "no error was found in "+utcWindow(start, end)),
	}, nil
}

func oneError(ctx context.Context, q *Query) (Answer, error) {
	if strings.HasPrefix(q.Arguments[0], "iss_") {
		return issue(ctx, q)
	}
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := q.client.errors.GetErrorEvent(ctx, &svcv2.GetErrorEventRequest{
		Fingerprint: q.Arguments[0], StartTime: start, EndTime: end, ServiceName: given(q.Service), DeploymentEnvironment: given(q.Environment),
	})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	var values []float64
	for _, p := range res.GetTimeseries() {
		values = append(values, p.GetEstimatedCount())
	}
	samples := occurrences()
	for _, v := range res.GetSampleTraces() {
		samples.rows = append(samples.rows, row(at(v.GetTimestamp()), v.GetTraceId(), v.GetServiceName(), v.GetExceptionMessage()))
	}
	return Answer{
		message: res, lines: linesOf([]*svcv2.ErrorEventDetail{res}),
		sections: []section{
			pairs([2]string{"Error", res.GetErrorLabel()}, [2]string{"Message", res.GetSampleMessage()}, [2]string{"At", res.GetTopFrame()},
				[2]string{"Services", strings.Join(res.GetServices(), ", ")},
				[2]string{"Environments", strings.Join(res.GetDeploymentEnvironments(), ", ")},
				[2]string{"Count", count(res.GetEstimatedCount())}, [2]string{"Over time", sparkline(values)},
				[2]string{"First seen", at(res.GetFirstSeen()) + " UTC"}, [2]string{"Last seen", at(res.GetLastSeen()) + " UTC"},
				[2]string{"Window", utcWindow(start, end)}),
			stack(res.GetStacktrace()), samples,
		},
	}, nil
}

// occurrences is the table of the samples of an error, without rows.
func occurrences() section {
	return section{title: "Occurrences", columns: []column{
		{title: "TIME (UTC)"}, {title: "TRACE"}, {title: "SERVICE", grow: true, drop: 1}, {title: "MESSAGE", grow: true},
	}}
}

// stack shows the lines of a stack, each made safe by itself.
func stack(text string) section {
	s := section{title: "Stack", columns: []column{{}}}
	for line := range strings.Lines(text) {
		s.rows = append(s.rows, row(strings.ReplaceAll(strings.TrimRight(line, "\r\n"), "\t", "  ")))
	}
	return s
}
