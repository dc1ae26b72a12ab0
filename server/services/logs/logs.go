// Package logs answers the methods of svc.v2.LogsService.
package logs

import (
	"context"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// Service implements svcv2connect.LogsServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
	engine    *engine.Engine
	// wholeSample is the number of records from which a sample of patterns is drawn.
	wholeSample uint64
	// exactRecords is the number of records whose patterns are counted without a sample.
	exactRecords uint64
}

// New returns the service. It shares the engine, and so the cache and each organization's share, with other services.
func New(w read.Warehouse, e *engine.Engine) *Service {
	return &Service{warehouse: w, engine: e, wholeSample: wholeSample, exactRecords: exactRecords}
}

// SearchLogs finds the latest or the earliest records of a window.
func (s *Service) SearchLogs(ctx context.Context, req *svcv2.SearchLogsRequest) (*svcv2.SearchLogsResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	limit := paging.Limit(req.Limit)
	ascending := req.GetOrder() == "asc"
	before, err := paging.ParseLog(req.Cursor, ascending)
	if err != nil {
		return nil, err
	}
	filter, err := filterOf(req)
	if err != nil {
		return nil, err
	}
	rows, err := s.walk(ctx, org, reads.LogSearch{Window: window, Ascending: ascending, Before: before, Filter: filter, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	cursor := func(last reads.LogRow) string {
		return paging.FormatLog(placeOf(last, ascending))
	}
	short := len(rows) <= limit && cut(rows)
	rows, next := paging.CutAfter(limit, rows, cursor)
	if short {
		place := cursor(rows[len(rows)-1])
		next = &place
	}
	res := &svcv2.SearchLogsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		p, err := toProto(row)
		if err != nil {
			return nil, err
		}
		res.Data = append(res.Data, p)
	}
	if len(res.Data) == 0 && before == nil {
		res.Warnings = s.engine.Unmatched(ctx, org, window, query.Logs, filter)
	}
	return res, nil
}

func placeOf(r reads.LogRow, ascending bool) paging.LogKey {
	return paging.LogKey{
		Ascending: ascending, Timestamp: r.Timestamp, Service: r.ServiceName, TraceID: r.TraceID, SpanID: r.SpanID, Record: r.Record,
		Copy: r.Copy,
	}
}

// cut reports whether the rows end early because of limits.AnswerRows. The page is then shorter, and more pages follow. If the
// statement gave as many rows as it may, further rows of the same time can follow.
func cut(rows []reads.LogRow) bool { return len(rows) > 0 && rows[0].Matching > uint64(len(rows)) }

// walk first reads the page from the first slice of the window in the order of the search, which usually holds all of it. Otherwise it
// walks further in slices. It reads only times until it knows how far the page reaches, and then reads the page. A search for the latest 20
// records of a busy week thus costs a read of its last minutes and of 20 records.
func (s *Service) walk(ctx context.Context, org principal.OrgID, search reads.LogSearch) ([]reads.LogRow, error) {
	switch k := search.Before; {
	case k == nil:
	case search.Ascending && k.Timestamp.After(search.Window.Start):
		search.Window.Start = k.Timestamp
	case !search.Ascending && k.Timestamp.Before(search.Window.End):
		search.Window.End = k.Timestamp
	}
	all, slice := search.Window, search
	if all.End.Before(all.Start) {
		return nil, nil
	}
	var rest query.Window
	length := all.FirstSlice()
	slice.Window, rest = all.Split(length, search.Ascending)
	rows, err := read.All[reads.LogRow](ctx, s.warehouse, org, reads.SearchLogs(slice))
	if err != nil || len(rows) == search.Limit || cut(rows) || rest.End.Before(rest.Start) {
		return rows, err
	}
	more := false // whether there may be more than the rows of that slice
	slice.Limit -= len(rows)
	length = nextSlice(length, length, len(rows), slice.Limit)
	for slice.Limit > 0 && !rest.End.Before(rest.Start) {
		slice.Window, rest = rest.Split(length, search.Ascending)
		found, err := read.One[reads.LogHorizonRow](ctx, s.warehouse, org, reads.LogHorizon(slice))
		if err != nil {
			return nil, err
		}
		switch {
		case found.Records == 0:
		case search.Ascending:
			search.Window.End, more = found.Horizon, true
		default:
			search.Window.Start, more = found.Horizon, true
		}
		slice.Limit -= int(found.Records)
		length = nextSlice(length, all.Length()-rest.Length(), search.Limit-slice.Limit, slice.Limit)
	}
	if !more {
		return rows, nil
	}
	return read.All[reads.LogRow](ctx, s.warehouse, org, reads.SearchLogs(search))
}

// nextSlice is the length of the next slice. It is 1.5 times the length that the missing records need at the rate of the records
// found so far. It is at least as long as all slices before it, so that the walk ends soon, and at most query.SliceGrowth times the
// last one.
func nextSlice(last, walked time.Duration, found, wanted int) time.Duration {
	most := last * query.SliceGrowth
	if found == 0 {
		return most
	}
	return max(walked, min(most, time.Duration(1.5*float64(walked)*float64(wanted)/float64(found))))
}
