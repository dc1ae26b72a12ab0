package traces

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// SearchSpans finds the latest or the longest spans of a window.
func (s *Service) SearchSpans(ctx context.Context, req *svcv2.SearchSpansRequest) (*svcv2.SearchSpansResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	search := reads.SpanSearch{ByDuration: req.GetOrderBy() == paging.ByDuration}
	if search.Window, err = query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow); err != nil {
		return nil, err
	}
	order := cmp.Or(req.GetOrderBy(), paging.ByStart)
	if search.Before, err = paging.ParseSpanPlace(req.Cursor, order); err != nil {
		return nil, err
	}
	if search.Filter, err = filterOf(req); err != nil {
		return nil, err
	}
	for i, name := range req.GetFields() {
		field, err := query.ParseField(query.Traces, name)
		if err != nil {
			bad := &query.Invalid{Field: fmt.Sprintf("fields[%d]", i), Message: "cannot be read: " + err.Error()}
			return nil, bad.API(apierr.TraceQueryInvalid)
		}
		search.Columns = append(search.Columns, field)
	}
	limit := paging.Limit(req.Limit)
	walk := s.latestSpans
	if search.ByDuration {
		walk = s.longestSpans
	}
	rows, err := walk(ctx, org, search, limit+1)
	if err != nil {
		return nil, err
	}
	rows, next := paging.CutAfter(limit, rows, func(last reads.FoundSpan) string { return paging.FormatSpanPlace(*placeOf(last, order)) })
	res := &svcv2.SearchSpansResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toSpanSummary(row, req.GetFields()))
	}
	if len(rows) == 0 && search.Before == nil {
		res.Warnings = s.engine.Unmatched(ctx, org, search.Window, query.Traces, search.Filter)
	}
	return res, nil
}

func placeOf(r reads.FoundSpan, order string) *paging.SpanPlace {
	return &paging.SpanPlace{Sort: order, Duration: r.DurationNano, Start: r.Timestamp, TraceID: r.TraceID, SpanID: r.SpanID}
}

// latestSpans walks the window backwards in slices until it has enough spans. It opens the columns of a row only behind a horizon.
func (s *Service) latestSpans(ctx context.Context, org principal.OrgID, search reads.SpanSearch, want int) ([]reads.FoundSpan, error) {
	w := search.Window
	if k := search.Before; k != nil && k.Start.Before(w.End) {
		w.End = k.Start
	}
	length := w.FirstSlice()
	var rows []reads.FoundSpan
	for len(rows) < want && !w.End.Before(w.Start) {
		search.Window, search.Limit = w.Last(length), want-len(rows)
		found, err := s.spanHorizon(ctx, org, w, search)
		if err != nil {
			return nil, err
		}
		if found.Roots == uint64(search.Limit) {
			search.Window.Start = found.Horizon
		}
		var page []reads.FoundSpan
		if found.Roots > 0 {
			if page, err = read.All[reads.FoundSpan](ctx, s.warehouse, org, reads.SearchSpans(search)); err != nil {
				return nil, err
			}
			rows = withoutCopies(rows, page)
		}
		if len(page) == search.Limit { // the slice has more, which count if some of these were copies
			last := page[len(page)-1]
			search.Before, w.End = placeOf(last, paging.ByStart), last.Timestamp
			continue
		}
		w.End = search.Window.Start.Add(-1)
		length *= query.SliceGrowth
	}
	return rows, nil
}

// spanHorizon finds how far back a page reaches. Root spans are spans, and their list is in the order of time: without conditions, it has
// the answer for the whole window. It is not complete if few roots were received; then the spans of the slice have the answer.
func (s *Service) spanHorizon(
	ctx context.Context, org principal.OrgID, w query.Window, search reads.SpanSearch,
) (reads.TraceHorizonRow, error) {
	if search.Filter.IsZero() {
		found, err := read.One[reads.TraceHorizonRow](ctx, s.warehouse, org, reads.TraceHorizon(w, search.Limit))
		if err != nil || found.Roots == uint64(search.Limit) {
			return found, err
		}
	}
	return read.One[reads.TraceHorizonRow](ctx, s.warehouse, org, reads.SpanHorizon(search.Window, search.Filter, search.Limit))
}

// longestSpans finds by the durations alone how short the spans of the page are, and then reads the page.
func (s *Service) longestSpans(ctx context.Context, org principal.OrgID, search reads.SpanSearch, want int) ([]reads.FoundSpan, error) {
	if k := search.Before; k != nil {
		search.Longest = &k.Duration
	}
	var rows []reads.FoundSpan
	for len(rows) < want {
		search.Limit, search.Shortest = want-len(rows), nil
		found, err := read.One[reads.DurationHorizonRow](ctx, s.warehouse, org, reads.DurationHorizon(search))
		if err != nil || found.Spans == 0 {
			return rows, err
		}
		search.Shortest = &found.Shortest
		page, err := read.All[reads.FoundSpan](ctx, s.warehouse, org, reads.SearchSpans(search))
		if err != nil {
			return nil, err
		}
		rows = withoutCopies(rows, page)
		switch {
		case len(page) == search.Limit:
			last := page[len(page)-1]
			search.Before, search.Longest = placeOf(last, paging.ByDuration), &last.DurationNano
		case found.Shortest == 0:
			return rows, nil
		default: // some of the spans that the horizon counted are on earlier pages
			shorter := found.Shortest - 1
			search.Longest = &shorter
		}
	}
	return rows, nil
}

// withoutCopies adds a page to the rows, without the spans that a retried request stored twice.
func withoutCopies(rows, page []reads.FoundSpan) []reads.FoundSpan {
	for _, r := range page {
		if n := len(rows); n > 0 && rows[n-1].SpanID == r.SpanID && rows[n-1].TraceID == r.TraceID && rows[n-1].Timestamp.Equal(r.Timestamp) {
			continue
		}
		rows = append(rows, r)
	}
	return rows
}

func toSpanSummary(row reads.FoundSpan, fields []string) *svcv2.SpanSummary {
	p := &svcv2.SpanSummary{
		Id: row.SpanID, Object: "span", TraceId: row.TraceID, ParentSpanId: text(row.ParentSpanID), StartTime: timestamppb.New(row.Timestamp),
		DurationMs: float64(row.DurationNano) / 1e6, Name: reads.DisplayName(row.SpanName, row.HTTPMethod, row.HTTPRoute), Kind: row.SpanKind,
		ServiceName: row.ServiceName, StatusCode: row.StatusCode, HasError: row.HasError, DeploymentEnvironment: text(row.Environment),
		HttpMethod: text(row.HTTPMethod), HttpRoute: text(row.HTTPRoute), Fields: map[string]string{},
	}
	if row.HTTPStatusCode != 0 {
		p.HttpStatusCode = text(strconv.Itoa(int(row.HTTPStatusCode)))
	}
	for i, name := range fields {
		if row.Extra[i] != "" {
			p.Fields[name] = row.Extra[i]
		}
	}
	return p
}
