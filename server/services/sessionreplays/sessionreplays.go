// Package sessionreplays answers the methods of svc.v2.SessionReplaysService. Recordings show what people did, so every read adds
// an entry to the audit log. If the entry cannot be added, the read returns nothing.
package sessionreplays

import (
	"context"
	"fmt"
	"math"
	"time"

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

// Auditor adds an entry to the audit log. It is a *store.Store.
type Auditor interface {
	RecordAudit(ctx context.Context, org principal.OrgID, e store.AuditEvent) error
}

// Service implements svcv2connect.SessionReplaysServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
	auditor   Auditor
}

// New returns the service.
func New(w read.Warehouse, a Auditor) *Service { return &Service{warehouse: w, auditor: a} }

// readAction is the action in every entry.
const readAction = "session_replay.read"

// audit adds the entry of a read before the read answers. The id is empty for a read of several sessions.
func (s *Service) audit(ctx context.Context, org principal.OrgID, operation, publicID string, metadata map[string]any) error {
	all := map[string]any{"operation_id": operation}
	for name, value := range metadata {
		all[name] = value
	}
	err := s.auditor.RecordAudit(ctx, org, store.AuditEvent{Action: readAction, ResourceID: publicID, Metadata: all})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return apierr.From(ctx.Err())
	default:
		return apierr.New(apierr.AuditLogPersistence, "The audit log cannot record this read at the moment. Try again.", apierr.Cause(err))
	}
}

// SearchSessionReplays finds the latest sessions of a window.
func (s *Service) SearchSessionReplays(
	ctx context.Context, req *svcv2.SearchSessionReplaysRequest,
) (*svcv2.SearchSessionReplaysResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ActivityWindow)
	if err != nil {
		return nil, err
	}
	limit := paging.Limit(req.Limit)
	before, err := paging.ParseSession(req.Cursor)
	if err != nil {
		return nil, err
	}
	filters, err := toFilters(req)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.SessionRow](ctx, s.warehouse, org, reads.SearchSessions(reads.SessionSearch{
		Window: window, Filters: filters, Before: before, Limit: limit + 1,
	}))
	if err != nil {
		return nil, err
	}
	rows, next := paging.CutAfter(limit, rows, func(last reads.SessionRow) string {
		return paging.FormatSession(paging.SessionKey{Start: last.StartTime, SessionID: last.SessionID})
	})
	res := &svcv2.SearchSessionReplaysResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	recorded, err := s.recorded(ctx, org, rows)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		res.Data = append(res.Data, toSummary(row, recorded[row.SessionID], filters.Events != nil))
	}
	if err := s.audit(ctx, org, "searchSessionReplays", "", map[string]any{"sessions": len(rows)}); err != nil {
		return nil, err
	}
	return res, nil
}

// recorded reports which sessions have chunks.
func (s *Service) recorded(ctx context.Context, org principal.OrgID, rows []reads.SessionRow) (map[string]bool, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.SessionID
	}
	found, err := read.All[reads.RecordedSessionRow](ctx, s.warehouse, org, reads.RecordedSessions(ids))
	if err != nil {
		return nil, err
	}
	recorded := map[string]bool{}
	for _, row := range found {
		recorded[row.SessionID] = true
	}
	return recorded, nil
}

// SearchSessionReplayFacets counts the results of a search by facet.
func (s *Service) SearchSessionReplayFacets(
	ctx context.Context, req *svcv2.SearchSessionReplayFacetsRequest,
) (*svcv2.SessionReplayFacets, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ActivityWindow)
	if err != nil {
		return nil, err
	}
	filters, err := toFilters(req)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.SessionFacetRow](ctx, s.warehouse, org, reads.SessionFacets(window, filters).Until(window.End))
	if err != nil {
		return nil, err
	}
	res := &svcv2.SessionReplayFacets{Object: "session_replay.facets"}
	lists := map[string]*[]*svcv2.SessionReplayFacetValue{
		"service": &res.Services, "browser": &res.Browsers, "country": &res.Countries, "device": &res.Devices,
	}
	for _, row := range rows {
		switch list := lists[row.Facet]; {
		case list != nil:
			*list = append(*list, &svcv2.SessionReplayFacetValue{Name: row.Name, Count: float64(row.Count)})
		case row.Facet == "all":
			res.SessionCount = float64(row.Count)
		case row.Facet == "error":
			res.ErrorCount = float64(row.Count)
		}
	}
	if err := s.audit(ctx, org, "searchSessionReplayFacets", "", nil); err != nil {
		return nil, err
	}
	return res, nil
}

// ListSessionReplaysForTrace finds the sessions in which a trace began.
func (s *Service) ListSessionReplaysForTrace(
	ctx context.Context, req *svcv2.ListSessionReplaysForTraceRequest,
) (*svcv2.ListSessionReplaysForTraceResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ActivityWindow)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	trace := *lower(&req.TraceId)
	rows, err := read.All[reads.SessionRefRow](ctx, s.warehouse, org, reads.SessionsOfTrace(trace, window, page.Offset, page.Want()))
	if err != nil {
		return nil, err
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListSessionReplaysForTraceResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, &svcv2.SessionReplayRef{
			Object: "session_replay.ref", Id: formatID(row.SessionID), StartTime: timestamppb.New(row.StartTime), DurationMs: known(row.Duration),
		})
	}
	if err := s.audit(ctx, org, "listSessionReplaysForTrace", "", map[string]any{"trace_id": trace, "sessions": len(rows)}); err != nil {
		return nil, err
	}
	return res, nil
}

// target is the organization of the caller and the session that a request names.
func target(ctx context.Context, req interface{ GetId() string }) (org principal.OrgID, session string, err error) {
	if org, err = read.Org(ctx); err != nil {
		return "", "", err
	}
	session, err = parseID(req.GetId())
	return org, session, err
}

// parseID reads the id of a session. It also accepts the UUID that most sessions have, in its encoded form. A malformed id is an
// invalid parameter. The reads then find out whether an id names a session.
func parseID(id string) (string, error) {
	if u, err := publicid.Decode(publicid.SessionReplay, id); err == nil {
		return u.String(), nil
	}
	session, err := publicid.DecodeText(publicid.SessionReplay, id)
	if err != nil {
		return "", apierr.New(apierr.ParameterInvalid, fmt.Sprintf("id is not the id of a session replay: %s.", err), apierr.Param("id"))
	}
	return session, nil
}

func formatID(session string) string { return publicid.EncodeText(publicid.SessionReplay, session) }

func notFound() error {
	return apierr.New(apierr.SessionReplayNotFound, "There is no session replay with this id.", apierr.Param("id"))
}

// extent finds a session. It fails if the session does not exist.
func (s *Service) extent(ctx context.Context, org principal.OrgID, session string) (reads.SessionExtentRow, error) {
	rows, err := read.All[reads.SessionExtentRow](ctx, s.warehouse, org, reads.SessionExtent(session))
	if err != nil {
		return reads.SessionExtentRow{}, err
	}
	if len(rows) == 0 {
		return reads.SessionExtentRow{}, notFound()
	}
	return rows[0], nil
}

// bounds reads window_start and window_end.
func bounds(from, to *timestamppb.Timestamp) (reads.Bounds, error) {
	var b reads.Bounds
	for _, f := range []struct {
		name string
		in   *timestamppb.Timestamp
		out  *time.Time
	}{{"window_start", from, &b.From}, {"window_end", to, &b.To}} {
		if f.in == nil {
			continue
		}
		*f.out = f.in.AsTime()
		// The warehouse counts nanoseconds since 1970 in 64 bits.
		if !f.in.IsValid() || f.out.Year() < 1970 || f.out.Year() > 2261 {
			return b, apierr.New(apierr.ParameterInvalid, f.name+" must be between the years 1970 and 2261.", apierr.Param(f.name))
		}
	}
	if from != nil && to != nil && !b.To.After(b.From) {
		return b, apierr.New(apierr.ParameterInvalid, "window_end must be after window_start.", apierr.Param("window_end"))
	}
	return b, nil
}

const maxSeq = math.MaxUint32
