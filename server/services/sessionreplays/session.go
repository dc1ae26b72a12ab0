package sessionreplays

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// GetSessionReplay returns one session. The window is a hint: the session began in it, or up to a day before it.
func (s *Service) GetSessionReplay(ctx context.Context, req *svcv2.GetSessionReplayRequest) (*svcv2.SessionReplay, error) {
	org, session, err := target(ctx, req)
	if err != nil {
		return nil, err
	}
	start, err := bounds(req.GetWindowStart(), req.GetWindowEnd())
	if err != nil {
		return nil, err
	}
	if !start.From.IsZero() {
		start.From = start.From.Add(-limits.SessionLength)
	}
	rows, err := read.All[reads.SessionDetailRow](ctx, s.warehouse, org, reads.Session(session, start))
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, notFound()
	}
	p, err := toDetail(rows[0])
	if err != nil {
		return nil, err
	}
	if err := s.audit(ctx, org, "getSessionReplay", formatID(session), nil); err != nil {
		return nil, err
	}
	return p, nil
}

// GetSessionReplayTranscript returns a page of the timeline.
func (s *Service) GetSessionReplayTranscript(
	ctx context.Context, req *svcv2.GetSessionReplayTranscriptRequest,
) (*svcv2.GetSessionReplayTranscriptResponse, error) {
	org, session, err := target(ctx, req)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	happened, err := bounds(req.GetWindowStart(), req.GetWindowEnd())
	if err != nil {
		return nil, err
	}
	if _, err := s.extent(ctx, org, session); err != nil {
		return nil, err
	}
	rows, err := read.All[reads.SessionEventRow](ctx, s.warehouse, org, reads.SessionTimeline(reads.Timeline{
		SessionID: session, Happened: happened, Types: req.GetTypes(), ErrorsOnly: req.GetErrorsOnly(), TraceID: lower(req.TraceId),
		Offset: page.Offset, Limit: page.Want(),
	}))
	if err != nil {
		return nil, err
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.GetSessionReplayTranscriptResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		event, err := toTranscriptEvent(row)
		if err != nil {
			return nil, err
		}
		res.Data = append(res.Data, event)
	}
	if err := s.audit(ctx, org, "getSessionReplayTranscript", formatID(session), nil); err != nil {
		return nil, err
	}
	return res, nil
}

// traceSlack is how far outside a session the spans of its traces may lie. Clocks differ, and work continues after the page is
// closed.
const traceSlack = limits.TraceReach

// ListSessionReplayTraces returns a page of the traces of a session.
func (s *Service) ListSessionReplayTraces(
	ctx context.Context, req *svcv2.ListSessionReplayTracesRequest,
) (*svcv2.ListSessionReplayTracesResponse, error) {
	org, session, err := target(ctx, req)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	extent, err := s.extent(ctx, org, session)
	if err != nil {
		return nil, err
	}
	end := extent.EndTime
	if end.Before(extent.StartTime) {
		end = extent.StartTime.Add(limits.SessionLength)
	}
	rows, err := read.All[reads.SessionTraceRow](ctx, s.warehouse, org, reads.SessionTraces(session, query.Window{
		Start: extent.StartTime.Add(-traceSlack), End: end.Add(traceSlack),
	}, page.Offset, page.Want()))
	if err != nil {
		return nil, err
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListSessionReplayTracesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, &svcv2.SessionReplayTrace{
			Object: "session_replay.trace", TraceId: row.TraceID, StartTime: timestamppb.New(row.Start), DurationMs: float64(row.DurationNs) / 1e6,
			RootSpanName: reads.DisplayName(row.SpanName, row.HTTPMethod, row.HTTPRoute), RootServiceName: row.ServiceName,
			RootSpanKind: row.SpanKind, SpanCount: uint32(row.SpanCount), HasError: row.HasError,
		})
	}
	if err := s.audit(ctx, org, "listSessionReplayTraces", formatID(session), nil); err != nil {
		return nil, err
	}
	return res, nil
}
