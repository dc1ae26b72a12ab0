// Package errorevents answers the methods of svc.v2.ErrorEventsService: failed spans, grouped by the kind of failure.
package errorevents

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	maxWindow = limits.ErrorWindow
	// lookBack is the time in which the last occurrence is searched if the caller gives no window.
	lookBack   = limits.ErrorLookBack
	maxSamples = limits.ErrorSamples
	maxRelated = limits.RelatedErrors
	// traceReach is how far around the occurrences the other errors of their traces are searched.
	traceReach = limits.TraceReach
)

// Service implements svcv2connect.ErrorEventsServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
	engine    *engine.Engine
	code      Code
	now       func() time.Time
}

// New returns the service. It shares the engine, and so the cache and each organization's share, with other services.
func New(w read.Warehouse, e *engine.Engine, code Code, now func() time.Time) *Service {
	return &Service{w, e, code, now}
}

// SearchErrorEvents lists the groups of errors of a window.
func (s *Service) SearchErrorEvents(ctx context.Context, req *svcv2.SearchErrorEventsRequest) (*svcv2.SearchErrorEventsResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), maxWindow)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	filters := toFilters(req.GetFilters())
	if filters.Where, err = query.Narrowed(query.Traces, query.Filter{}, req.GetWhere(), apierr.ParameterInvalid); err != nil {
		return nil, err
	}
	rows, err := read.All[reads.ErrorGroupRow](ctx, s.warehouse, org,
		reads.ErrorGroups(window, filters, req.GetOrderBy(), page.Offset, page.Want()).Until(window.End))
	if err != nil {
		return nil, err
	}
	totals, err := read.One[reads.ErrorTotalsRow](ctx, s.warehouse, org, reads.ErrorTotals(window, filters).Until(window.End))
	if err != nil {
		return nil, err
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.SearchErrorEventsResponse{Object: "list", HasMore: next != nil, NextCursor: next, Totals: &svcv2.ErrorEventTotals{
		Occurrences: float64(totals.Occurrences), EstimatedOccurrences: totals.Estimated, Fingerprints: int32(totals.Groups),
		NoExceptionCount: float64(totals.NoException), AffectedServicesCount: int32(totals.Services), AffectedTracesCount: float64(totals.Traces),
		EstimatedNoExceptionCount: totals.EstimatedNoException,
		Environments:              toCounts(totals.SplitNames, totals.SplitCounts, totals.SplitEstimated),
	}}
	for _, row := range rows {
		res.Data = append(res.Data, toProto(row))
	}
	if len(res.Data) == 0 && req.Cursor == nil {
		named, err := query.TraceFilter(&svcv2.TraceFilters{
			ServiceName: filters.ServiceName, DeploymentEnvironment: filters.DeploymentEnvironment,
		})
		if err == nil { // this read takes longer names than a filter of spans
			res.Warnings = s.engine.Unmatched(ctx, org, window, query.Traces, query.And(named, filters.Where))
		}
	}
	return res, nil
}

// GetErrorEvent reads the details of one group.
func (s *Service) GetErrorEvent(ctx context.Context, req *svcv2.GetErrorEventRequest) (*svcv2.ErrorEventDetail, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	fingerprint, err := strconv.ParseUint(req.GetFingerprint(), 10, 64)
	if err != nil {
		return nil, notFound()
	}
	filters := reads.ErrorFilters{
		Fingerprints: []uint64{fingerprint}, ServiceName: req.ServiceName, DeploymentEnvironment: req.DeploymentEnvironment,
		Logs: true, // the caller names a group, wherever it occurs
	}
	var window query.Window
	if req.GetStartTime() != nil || req.GetEndTime() != nil {
		if window, err = query.NewWindow(req.GetStartTime(), req.GetEndTime(), maxWindow); err != nil {
			return nil, err
		}
	} else {
		now := s.now().UTC()
		last, err := read.One[reads.ErrorLastRow](ctx, s.warehouse, org,
			reads.ErrorLast(query.Window{Start: now.Add(-lookBack), End: now.Add(time.Hour)}, filters))
		if err != nil {
			return nil, err
		}
		if last.Last.Unix() <= 0 {
			return nil, notFound()
		}
		window = query.Window{Start: last.Last.Add(-limits.ErrorContext), End: last.Last}
	}
	bucket, err := bucketLength(window, req.BucketSeconds)
	if err != nil {
		return nil, err
	}
	groups, err := read.All[reads.ErrorGroupRow](ctx, s.warehouse, org, reads.ErrorGroups(window, filters, "", 0, 1).Until(window.End))
	if err != nil {
		return nil, err
	}
	if len(groups) == 0 {
		return nil, notFound()
	}
	points, err := read.All[reads.ErrorPointRow](ctx, s.warehouse, org, reads.ErrorPoints(window, filters, bucket).Until(window.End))
	if err != nil {
		return nil, err
	}
	split, err := read.All[reads.ErrorSplitRow](ctx, s.warehouse, org, reads.ErrorSplit(window, filters).Until(window.End))
	if err != nil {
		return nil, err
	}
	samples := limits.DefaultErrorSamples
	if n := req.SampleLimit; n != nil {
		samples = min(max(int(*n), 1), maxSamples)
	}
	occurrences, err := read.All[reads.ErrorSampleRow](ctx, s.warehouse, org, reads.ErrorSamples(window, filters, samples).Until(window.End))
	if err != nil {
		return nil, err
	}
	minutes, err := read.All[reads.ErrorPointRow](ctx, s.warehouse, org, reads.ErrorPoints(window, filters, time.Minute).Until(window.End))
	if err != nil {
		return nil, err
	}
	res := toDetail(groups[0], window, bucket, points, split, occurrences)
	res.Burst = burst(window, minutes)
	if len(occurrences) == 0 {
		return res, nil
	}
	stacks, err := read.All[reads.ErrorStackRow](ctx, s.warehouse, org, reads.ErrorStacks(occurrences))
	if err != nil {
		return nil, err
	}
	if len(stacks) > 0 {
		res.Stacktrace = &stacks[0].Stack
		s.addFrames(ctx, org, window, stacks[0], res)
	}
	res.RelatedErrors, err = s.related(ctx, org, fingerprint, occurrences)
	return res, err
}

// related returns the other errors in the traces of these errors.
func (s *Service) related(
	ctx context.Context, org principal.OrgID, fingerprint uint64, occurrences []reads.ErrorSampleRow,
) ([]*svcv2.RelatedError, error) {
	var ids []string
	var w query.Window
	for _, o := range occurrences {
		if o.TraceID != "" {
			ids = append(ids, o.TraceID)
		}
		if w.Start.IsZero() || o.Timestamp.Before(w.Start) {
			w.Start = o.Timestamp
		}
		if o.OccurredAt.After(w.End) {
			w.End = o.OccurredAt
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	w.Start, w.End = w.Start.Add(-traceReach), w.End.Add(traceReach)
	rows, err := read.All[reads.ErrorInTracesRow](ctx, s.warehouse, org, reads.ErrorsInTraces(w, ids, fingerprint, maxRelated).Until(w.End))
	var list []*svcv2.RelatedError
	for _, r := range rows {
		list = append(list, &svcv2.RelatedError{
			FingerprintHash: strconv.FormatUint(r.Fingerprint, 10), ErrorLabel: r.Label, ServiceName: r.Service, TracesCount: int32(r.Traces),
		})
	}
	return list, err
}

func notFound() error {
	return apierr.New(apierr.ErrorEventNotFound, "This organization has no stored errors with this fingerprint in the window.",
		apierr.Param("fingerprint"))
}

// bucketLength is the length that the caller wants. Without one it is the shortest step that gives at most
// limits.DefaultErrorBuckets buckets.
func bucketLength(w query.Window, seconds *int32) (time.Duration, error) {
	if seconds != nil {
		return query.GivenBucket(w, *seconds)
	}
	steps := query.Ladder()
	for _, step := range steps {
		if w.Length()/step <= limits.DefaultErrorBuckets {
			return step, nil
		}
	}
	return steps[len(steps)-1], nil
}

func toFilters(f *svcv2.ErrorEventFilters) reads.ErrorFilters {
	if f == nil {
		return reads.ErrorFilters{}
	}
	out := reads.ErrorFilters{
		ServiceName: f.ServiceName, DeploymentEnvironment: f.DeploymentEnvironment, ServiceNamespace: f.ServiceNamespace,
		ExceptionType: f.ExceptionType, Search: f.Search, RootOnly: f.GetRootOnly(),
	}
	for _, text := range f.GetFingerprintHashes() {
		if out.Fingerprints == nil {
			out.Fingerprints = []uint64{}
		}
		if n, err := strconv.ParseUint(text, 10, 64); err == nil { // a larger number is not a fingerprint
			out.Fingerprints = append(out.Fingerprints, n)
		}
	}
	return out
}

func toDetail(
	g reads.ErrorGroupRow, w query.Window, bucket time.Duration, points []reads.ErrorPointRow, split []reads.ErrorSplitRow,
	samples []reads.ErrorSampleRow,
) *svcv2.ErrorEventDetail {
	e := toProto(g)
	res := &svcv2.ErrorEventDetail{
		Object: e.GetObject(), FingerprintHash: e.GetFingerprintHash(), ErrorLabel: e.GetErrorLabel(), ExceptionType: e.GetExceptionType(),
		SampleMessage: e.GetSampleMessage(), TopFrame: e.GetTopFrame(), Count: e.GetCount(), EstimatedCount: e.GetEstimatedCount(),
		Services: e.GetServices(), AffectedServicesCount: e.GetAffectedServicesCount(), AffectedTracesCount: e.GetAffectedTracesCount(),
		DeploymentEnvironments: e.GetDeploymentEnvironments(), FirstSeen: e.GetFirstSeen(), LastSeen: e.GetLastSeen(),
		StartTime: timestamppb.New(w.Start), EndTime: timestamppb.New(w.End), BucketSeconds: int32(bucket / time.Second),
		NoExceptionCount: float64(g.NoException), EstimatedNoExceptionCount: g.EstimatedNoException,
	}
	next, n := 0, int64(bucket/time.Second)
	for at := w.Start.Unix() / n * n; at <= w.End.Unix(); at += n {
		p := &svcv2.ErrorEventPoint{Bucket: timestamppb.New(time.Unix(at, 0))}
		if next < len(points) && points[next].Bucket.Unix() == at {
			p.Count, p.EstimatedCount = float64(points[next].Count), points[next].Estimated
			next++
		}
		res.Timeseries = append(res.Timeseries, p)
	}
	for _, r := range split {
		c := &svcv2.ErrorEventCount{Name: r.Name, Count: float64(r.Count), EstimatedCount: r.Estimated}
		if r.Part == "environment" {
			res.Environments = append(res.Environments, c)
		} else {
			res.Versions = append(res.Versions, c)
		}
	}
	for _, o := range samples {
		res.SampleTraces = append(res.SampleTraces, &svcv2.ErrorEventSample{
			TraceId: o.TraceID, SpanId: o.SpanID, SpanName: o.SpanName, ServiceName: o.ServiceName, Timestamp: timestamppb.New(o.OccurredAt),
			ExceptionMessage: o.Message, DurationMs: float64(o.DurationNano) / 1e6,
		})
	}
	return res
}

func toProto(g reads.ErrorGroupRow) *svcv2.ErrorEvent {
	return &svcv2.ErrorEvent{
		Object: "error_event", FingerprintHash: strconv.FormatUint(g.Fingerprint, 10), ErrorLabel: g.Label, ExceptionType: g.Type,
		SampleMessage: g.Message, TopFrame: g.Frame, Count: float64(g.Count), EstimatedCount: g.Estimated, Services: g.Services,
		AffectedServicesCount: int32(g.ServiceCount), AffectedTracesCount: float64(g.Traces), DeploymentEnvironments: g.Environments,
		FirstSeen: timestamppb.New(g.First), LastSeen: timestamppb.New(g.Last),
		Environments: toCounts(g.SplitNames, g.SplitCounts, g.SplitEstimated),
	}
}

func toCounts(names []string, counts []uint64, estimated []float64) []*svcv2.ErrorEventCount {
	var list []*svcv2.ErrorEventCount
	for i, name := range names {
		list = append(list, &svcv2.ErrorEventCount{Name: name, Count: float64(counts[i]), EstimatedCount: estimated[i]})
	}
	return list
}
