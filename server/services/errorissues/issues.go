package errorissues

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// audited notes a read of issues, which hold telemetry, in the audit log.
func (c *Config) audited(ctx context.Context, org principal.OrgID, operation, id string) error {
	err := c.Store.RecordAudit(ctx, org, store.AuditEvent{
		Action: "telemetry.read", ResourceID: id, Metadata: map[string]any{"operation": operation, "family": "error_issues"},
	})
	if err != nil {
		return resource().Failure(ctx, err)
	}
	return nil
}

// ListErrorIssues lists issues.
func (s *Issues) ListErrorIssues(ctx context.Context, req *svcv2.ListErrorIssuesRequest) (*svcv2.ListErrorIssuesResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	after, err := paging.ParseIssue(req.Cursor, sortOf(req))
	if err != nil {
		return nil, err
	}
	filter, err := s.filter(req)
	if err != nil {
		return nil, err
	}
	filter.BySeverity = sortOf(req) == "severity"
	if after != nil {
		filter.After = &store.IssuePlace{Rank: after.Rank, LastSeen: after.LastSeen, ID: after.ID}
	}
	limit := paging.Limit(req.Limit)
	rows, err := s.Store.ListErrorIssues(ctx, caller.Org, filter, limit+1)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.CutAfter(limit, rows, func(last store.ErrorIssue) string {
		return paging.FormatIssue(paging.IssueKey{Sort: sortOf(req), Rank: last.SeverityRank, LastSeen: last.LastSeenAt, ID: last.ID})
	})
	res := &svcv2.ListErrorIssuesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	by, err := s.actorsOf(ctx, caller.Org, holders(rows)...)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		res.Data = append(res.Data, issueMessage(&rows[i], by))
	}
	return res, s.audited(ctx, caller.Org, "listErrorIssues", "")
}

// holders are the actors that a list shows.
func holders(rows []store.ErrorIssue) []*uuid.UUID {
	var out []*uuid.UUID
	for i := range rows {
		out = append(out, rows[i].AssignedActorID, rows[i].LeaseHolderID)
	}
	return out
}

// selection has the filters of requests to list and to count issues.
type selection interface {
	GetWorkflowState() string
	GetSeverity() string
	GetKind() string
	GetServiceName() string
	GetDeploymentEnvironment() string
	GetExceptionType() string
	GetSearch() string
	GetFingerprintHash() string
	GetIncludeArchived() bool
	GetStartTime() *timestamppb.Timestamp
	GetEndTime() *timestamppb.Timestamp
	GetIntroducedAfter() *timestamppb.Timestamp
	GetActionable() string
	GetAssignedActorId() string
}

// CountErrorIssues counts issues.
func (s *Issues) CountErrorIssues(ctx context.Context, req *svcv2.CountErrorIssuesRequest) (*svcv2.ErrorIssueCounts, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	f, err := s.filter(req)
	if err != nil {
		return nil, err
	}
	matching, err := s.Store.CountErrorIssues(ctx, caller.Org, f)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	now := s.Now()
	f.Actionable = &now
	actionable, err := s.Store.CountErrorIssues(ctx, caller.Org, f)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return &svcv2.ErrorIssueCounts{Matching: int64(matching), Actionable: int64(actionable)},
		s.audited(ctx, caller.Org, "countErrorIssues", "")
}

func (c *Config) filter(req selection) (store.IssueFilter, error) {
	f := store.IssueFilter{
		State: req.GetWorkflowState(), Severity: req.GetSeverity(), Kind: req.GetKind(), Service: req.GetServiceName(),
		Environment: req.GetDeploymentEnvironment(), ExceptionType: req.GetExceptionType(), Search: req.GetSearch(),
		Fingerprints: splitList(req.GetFingerprintHash()), Archived: req.GetIncludeArchived(),
		SeenAfter: timeOf(req.GetStartTime()), SeenBefore: timeOf(req.GetEndTime()), IntroducedAfter: timeOf(req.GetIntroducedAfter()),
	}
	if n := len(f.Fingerprints); n > limits.IssueFilterHashes {
		return f, apierr.New(apierr.ParameterInvalid,
			fmt.Sprintf("`fingerprint_hash` names %d fingerprints; at most %d are allowed.", n, limits.IssueFilterHashes),
			apierr.Param("fingerprint_hash"))
	}
	if f.SeenAfter != nil && f.SeenBefore != nil && !f.SeenBefore.After(*f.SeenAfter) {
		return f, apierr.New(apierr.TimeRangeInvalid, "`end_time` must be after `start_time`.", apierr.Param("end_time"))
	}
	if req.GetActionable() == "true" {
		now := c.Now()
		f.Actionable = &now
	}
	if req.GetAssignedActorId() != "" {
		id, err := publicid.Decode(publicid.Actor, req.GetAssignedActorId())
		if err != nil {
			return f, apierr.New(apierr.ParameterInvalid, "`assigned_actor_id` is not the id of an actor: "+err.Error()+".",
				apierr.Param("assigned_actor_id"))
		}
		f.Assigned = &id
	}
	return f, nil
}

func timeOf(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	at := t.AsTime()
	return &at
}

func sortOf(req *svcv2.ListErrorIssuesRequest) string {
	if req.Sort == nil {
		return "last_seen"
	}
	return req.GetSort()
}

// ListErrorIssueServiceCounts counts open issues by service.
func (s *Issues) ListErrorIssueServiceCounts(
	ctx context.Context, _ *svcv2.ListErrorIssueServiceCountsRequest,
) (*svcv2.ListErrorIssueServiceCountsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.CountOpenErrorIssues(ctx, caller.Org)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	res := &svcv2.ListErrorIssueServiceCountsResponse{Object: "list"}
	for _, r := range rows {
		res.Data = append(res.Data, &svcv2.ErrorIssueServiceCount{ServiceName: r.Service, OpenCount: int64(r.Open)})
	}
	return res, s.audited(ctx, caller.Org, "listErrorIssueServiceCounts", "")
}

// GetErrorIssue shows one issue with its occurrences.
func (s *Issues) GetErrorIssue(ctx context.Context, req *svcv2.GetErrorIssueRequest) (*svcv2.ErrorIssueDetail, error) {
	caller, issue, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	window, err := s.window(req, &issue)
	if err != nil {
		return nil, err
	}
	bucket := limits.IssueBucket
	if req.BucketSeconds != nil {
		if bucket, err = query.GivenBucket(window, req.GetBucketSeconds()); err != nil {
			return nil, err
		}
	}
	prints, err := s.Store.ErrorIssueFingerprints(ctx, caller.Org, issue.ID, limits.IssueFingerprints)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	incidents, err := s.Store.ListErrorIncidents(ctx, caller.Org, &issue.ID, 0, limits.IssueIncidents)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	shown, err := s.show(ctx, &issue)
	if err != nil {
		return nil, err
	}
	out := detailOf(shown)
	out.StartTime, out.EndTime, out.BucketSeconds = timestamppb.New(window.Start), timestamppb.New(window.End), int32(bucket/time.Second)
	for i := range prints {
		out.Grouping = append(out.Grouping, groupingMessage(&prints[i]))
	}
	for _, in := range incidents {
		out.Incidents = append(out.Incidents, incidentMessage(in))
	}
	if err := s.verifications(ctx, &issue, out); err != nil {
		return nil, err
	}
	rows, err := s.occurrences(ctx, caller.Org, out, prints, window, bucket, int(req.GetSampleLimit()))
	if err != nil {
		return nil, err
	}
	if err := s.suspects(ctx, caller, &issue, window, rows, out); err != nil {
		return nil, err
	}
	return out, s.audited(ctx, caller.Org, "getErrorIssue", out.GetId())
}

// window is that of a request, or the last day. An issue that was last seen earlier shows the day before its last occurrence.
func (c *Config) window(req *svcv2.GetErrorIssueRequest, i *store.ErrorIssue) (query.Window, error) {
	start, end := req.GetStartTime(), req.GetEndTime()
	if end == nil {
		at := c.Now().UTC()
		if start == nil && i.LastSeenAt.Before(at.Add(-limits.IssueWindow)) {
			at = i.LastSeenAt.Add(time.Minute)
		}
		end = timestamppb.New(at)
	}
	if start == nil {
		start = timestamppb.New(end.AsTime().Add(-limits.IssueWindow))
	}
	return query.NewWindow(start, end, limits.ErrorWindow)
}

// occurrences adds those of a window, and returns the rows of the samples.
func (c *Config) occurrences(
	ctx context.Context, org principal.OrgID, out *svcv2.ErrorIssueDetail, prints []store.ErrorIssueFingerprint, w query.Window,
	bucket time.Duration, samples int,
) ([]reads.ErrorSampleRow, error) {
	hashes := make([]string, len(prints))
	for i := range prints {
		hashes[i] = prints[i].Hash
	}
	filters := reads.ErrorFilters{Fingerprints: reads.Fingerprints(hashes), Logs: true}
	if len(filters.Fingerprints) == 0 {
		return nil, nil
	}
	points, err := read.All[reads.ErrorPointRow](ctx, c.Warehouse, org, reads.ErrorPoints(w, filters, bucket).Until(w.End))
	if err != nil {
		return nil, err
	}
	split, err := read.All[reads.ErrorSplitRow](ctx, c.Warehouse, org, reads.ErrorSplit(w, filters).Until(w.End))
	if err != nil {
		return nil, err
	}
	if samples == 0 {
		samples = limits.IssueSamples
	}
	rows, err := read.All[reads.ErrorSampleRow](ctx, c.Warehouse, org, reads.ErrorSamples(w, filters, samples).Until(w.End))
	if err != nil {
		return nil, err
	}
	next, n := 0, int64(bucket/time.Second)
	for at := w.Start.Unix() / n * n; at <= w.End.Unix(); at += n {
		p := &svcv2.ErrorIssueBucket{Bucket: timestamppb.New(time.Unix(at, 0))}
		if next < len(points) && points[next].Bucket.Unix() == at {
			p.Count = points[next].Estimated
			next++
		}
		out.Timeseries = append(out.Timeseries, p)
	}
	for _, r := range split {
		if r.Part == "environment" {
			out.Environments = append(out.Environments, &svcv2.ErrorIssueEnvironment{Name: r.Name, Count: r.Estimated})
		}
	}
	for _, r := range rows {
		out.SampleTraces = append(out.SampleTraces, &svcv2.ErrorIssueSample{
			TraceId: r.TraceID, SpanId: r.SpanID, ServiceName: r.ServiceName, Timestamp: timestamppb.New(r.OccurredAt),
			ExceptionMessage: r.Message, DurationMicros: float64(r.DurationNano) / 1e3,
		})
	}
	return rows, nil
}

// detailOf copies the fields that an issue and its details share. Both have them under the same numbers.
func detailOf(i *svcv2.ErrorIssue) *svcv2.ErrorIssueDetail {
	out := &svcv2.ErrorIssueDetail{}
	from, to := i.ProtoReflect(), out.ProtoReflect()
	fields := to.Descriptor().Fields()
	for n := range fields.Len() {
		f := fields.Get(n)
		if source := from.Descriptor().Fields().ByName(f.Name()); source != nil && from.Has(source) {
			to.Set(f, from.Get(source))
		}
	}
	return out
}
