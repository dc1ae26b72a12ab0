package console

import (
	"context"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// given is the value of a text flag for a request: nil when the flag was not given.
func given(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// number is the value of a number flag for a request: nil when the flag was not given.
func number(n int) *int32 {
	if n == 0 {
		return nil
	}
	v := int32(n)
	return &v
}

func serviceCommands() []Command {
	return []Command{
		{
			Path: "services", Short: "List the services that sent spans, busiest first", window: true, page: true,
			Example: "  svc services --since 1h -e production",
			run:     services,
		},
		{
			Path: "diagnose", Arguments: []string{"SERVICE"}, Short: "Show the health of a service and the likely causes of a change", window: true,
			Long:    "The command compares the window with the time before it, which is as long.",
			Example: "  svc diagnose checkout --since 1h",
			run:     diagnose,
		},
		{
			Path: "service-map", Short: "List the calls between services, databases, queues and external systems", window: true, service: true,
			Example: "  svc service-map -s checkout", run: serviceMap,
		},
		{
			Path: "top-ops", Arguments: []string{"SERVICE"}, Short: "List the operations of a service", window: true, page: true,
			Example: "  svc top-ops checkout --metric p95_duration",
			Flags: []Flag{{
				Name: "metric", Usage: "figure to sort by, highest first (default count)",
				Choices: valuesOf(&svcv2.ListServiceOperationsRequest{}, "order_by"),
				Target:  func(o *Options) any { return &o.Metric },
			}},
			run: topOperations,
		},
	}
}

func services(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.ListServicesResponse, error) {
		return q.client.services.ListServices(ctx, &svcv2.ListServicesRequest{
			StartTime: start, EndTime: end, Limit: &limit, Cursor: cursor, DeploymentEnvironment: given(q.Environment),
		})
	}, func(r *svcv2.ListServicesResponse) *[]*svcv2.Service { return &r.Data })
	if err != nil {
		return Answer{}, err
	}
	s := section{columns: []column{
		{title: "SERVICE", grow: true},
		{title: "RATE/S", right: true},
		{title: "ERROR %", right: true},
		{title: "P95 MS", right: true},
		{title: "P50 MS", right: true, drop: 2},
		{title: "SPANS", right: true, drop: 1},
		{title: "ENVIRONMENTS", grow: true, drop: 3},
	}}
	for _, v := range res.GetData() {
		s.rows = append(s.rows, []cell{
			{text: v.GetName()},
			{text: figure(v.GetThroughput())},
			share(v.GetErrorRate()),
			{text: figure(v.GetP95LatencyMs())},
			{text: figure(v.GetP50LatencyMs())},
			{text: count(v.GetSpanCount())},
			{text: strings.Join(v.GetDeploymentEnvironments(), ", ")},
		})
	}
	return Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, cursor: res.GetNextCursor(),
		empty: none(s, "no service sent spans in "+utcWindow(start, end)),
	}, nil
}

// none is the text for a table without rows.
func none(s section, text string) string {
	if len(s.rows) > 0 {
		return ""
	}
	return text
}

func diagnose(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := q.client.diagnosis.DiagnoseService(ctx, &svcv2.DiagnoseServiceRequest{
		Name: q.Arguments[0], StartTime: start, EndTime: end, DeploymentEnvironment: given(q.Environment),
	})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	health, before := res.GetHealth(), res.GetPrevious()
	figures := section{
		title: res.GetName() + ", " + utcWindow(res.GetStartTime(), res.GetEndTime()),
		columns: []column{
			{title: "PERIOD"},
			{title: "RATE/S", right: true},
			{title: "ERROR %", right: true},
			{title: "P95 MS", right: true},
			{title: "P50 MS", right: true, drop: 2},
			{title: "APDEX", right: true, drop: 1},
		},
		rows: [][]cell{{
			{text: "window"},
			{text: figure(health.GetThroughput())},
			share(health.GetErrorRate()),
			{text: figure(health.GetP95LatencyMs())},
			{text: figure(health.GetP50LatencyMs())},
			{text: figure(health.GetApdexScore())},
		}},
	}
	if before != nil {
		figures.rows = append(figures.rows, []cell{
			{text: "before"}, {text: figure(before.GetThroughput())}, share(before.GetErrorRate()), {text: figure(before.GetP95LatencyMs())}, {}, {},
		})
	}
	errs := section{title: "Errors", columns: []column{{title: "FINGERPRINT"}, {title: "ERROR", grow: true}, {title: "COUNT", right: true}}}
	for _, v := range res.GetTopErrors() {
		errs.rows = append(errs.rows, row(v.GetFingerprintHash(), v.GetErrorLabel(), count(v.GetEstimatedCount())))
	}
	a := Answer{message: res, lines: linesOf([]*svcv2.ServiceDiagnosis{res}), sections: []section{figures, causes(res.GetCauses()), errs}}
	if len(res.GetCauses()) == 0 {
		a.notes = append(a.notes, "no likely cause of a change was found")
	}
	if res.GetPreviousIsThin() {
		a.notes = append(a.notes, "the time before has too little data for a comparison")
	}
	return a, nil
}

func causes(list []*svcv2.Cause) section {
	s := section{title: "Likely causes", columns: []column{
		{title: "KIND"},
		{title: "SERVICE", grow: true, drop: 1},
		{title: "CAUSE", grow: true},
	}}
	for _, v := range list {
		s.rows = append(s.rows, row(v.GetKind(), v.GetServiceName(), v.GetStatement()))
	}
	return s
}

func serviceMap(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := q.client.serviceMap.GetServiceMap(ctx, &svcv2.GetServiceMapRequest{
		StartTime: start, EndTime: end, ServiceName: given(q.Service), DeploymentEnvironment: given(q.Environment),
	})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	s := section{columns: []column{
		{title: "FROM", grow: true},
		{title: "TO", grow: true},
		{title: "CALLS", right: true},
		{title: "ERROR %", right: true},
		{title: "MEAN MS", right: true, drop: 1},
	}}
	for _, v := range res.GetEdges() {
		s.rows = append(s.rows, []cell{
			{text: v.GetSourceService()},
			{text: v.GetTargetService()},
			{text: count(v.GetEstimatedCallCount())},
			share(v.GetErrorRate()),
			{text: figure(v.GetAvgDurationMs())},
		})
	}
	for _, v := range res.GetPeerEdges() {
		s.rows = append(s.rows, []cell{
			{text: strings.TrimPrefix(v.GetSource(), "service:")},
			{text: strings.TrimPrefix(v.GetTarget(), "service:")},
			{text: count(v.GetEstimatedCallCount())},
			share(v.GetErrorRate()),
			{text: figure(v.GetAvgDurationMs())},
		})
	}
	a := Answer{message: res, sections: []section{s}, empty: none(s, "no calls were found in "+utcWindow(start, end))}
	a.lines = append(linesOf(res.GetEdges()), linesOf(res.GetPeerEdges())...)
	if res.GetTruncated() {
		a.notes = append(a.notes, "there are more edges: give --service")
	}
	return a, nil
}

func topOperations(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.ListServiceOperationsResponse, error) {
		return q.client.services.ListServiceOperations(ctx, &svcv2.ListServiceOperationsRequest{
			Name: q.Arguments[0], StartTime: start, EndTime: end, Limit: &limit, Cursor: cursor, DeploymentEnvironment: given(q.Environment),
			OrderBy: given(q.Metric),
		})
	}, func(r *svcv2.ListServiceOperationsResponse) *[]*svcv2.ServiceOperationDetail { return &r.Data })
	if err != nil {
		return Answer{}, err
	}
	s := section{columns: []column{
		{title: "OPERATION", grow: true},
		{title: "COUNT", right: true},
		{title: "ERROR %", right: true},
		{title: "P95 MS", right: true},
		{title: "P50 MS", right: true, drop: 1},
		{title: "MEAN MS", right: true, drop: 2},
	}}
	for _, v := range res.GetData() {
		s.rows = append(s.rows, []cell{
			{text: v.GetName()},
			{text: count(v.GetEstimatedSpanCount())},
			share(v.GetErrorRate()),
			{text: figure(v.GetP95LatencyMs())},
			{text: figure(v.GetP50LatencyMs())},
			{text: figure(v.GetAvgLatencyMs())},
		})
	}
	return Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, cursor: res.GetNextCursor(),
		empty: none(s, "no operations were found in "+utcWindow(start, end)),
	}, nil
}
