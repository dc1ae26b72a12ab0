package traces

import (
	"context"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// These limit the spans of one part of a skeleton.
const (
	defaultSkeletonSpans = limits.DefaultSkeletonSpans
	maxSkeletonSpans     = limits.SkeletonSpans
)

// GetTraceSkeleton reads a part of a trace without attributes.
func (s *Service) GetTraceSkeleton(ctx context.Context, req *svcv2.GetTraceSkeletonRequest) (*svcv2.TraceSkeleton, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	ask := reads.Skeleton{TraceID: strings.ToLower(req.GetTraceId()), ErrorsOnly: req.GetErrorsOnly(), Limit: defaultSkeletonSpans}
	if n := req.MaxSpans; n != nil {
		if *n < 1 || *n > maxSkeletonSpans {
			return nil, apierr.New(apierr.ParameterInvalid, "max_spans must be a whole number from 1 to "+limits.Number(maxSkeletonSpans)+".",
				apierr.Param("max_spans"))
		}
		ask.Limit = int(*n)
	}
	if req.ParentSpanId != nil {
		parent := strings.ToLower(req.GetParentSpanId())
		ask.ParentID = &parent
	}
	if ask.After, err = paging.ParseSpan(req.Cursor); err != nil {
		return nil, err
	}
	if err := checkPart(req.GetStartTime(), req.GetEndTime()); err != nil {
		return nil, err
	}
	extent, err := read.One[reads.TraceExtentRow](ctx, s.warehouse, org, reads.TraceExtent(ask.TraceID))
	if err != nil {
		return nil, err
	}
	if extent.SpanCount == 0 {
		return nil, notFound()
	}
	ask.Window = query.Window{Start: extent.Start, End: extent.LastStart}
	if t := req.GetStartTime(); t != nil && t.AsTime().After(ask.Window.Start) {
		ask.Window.Start = t.AsTime()
	}
	if t := req.GetEndTime(); t != nil && t.AsTime().Before(ask.Window.End) {
		ask.Window.End = t.AsTime()
	}
	var rows []reads.SkeletonRow
	if !ask.Window.End.Before(ask.Window.Start) {
		limit := ask.Limit
		ask.Limit++
		if rows, err = read.All[reads.SkeletonRow](ctx, s.warehouse, org, reads.TraceSkeleton(ask)); err != nil {
			return nil, err
		}
		ask.Limit = limit
	}
	return toSkeleton(ask, extent, rows), nil
}

// checkPart checks the bounds of a part of a trace. Either may be absent.
func checkPart(start, end *timestamppb.Timestamp) error {
	for _, f := range []struct {
		name string
		at   *timestamppb.Timestamp
	}{{"start_time", start}, {"end_time", end}} {
		if f.at != nil && (!f.at.IsValid() || f.at.AsTime().Year() < 1970 || f.at.AsTime().Year() > 2261) {
			return apierr.New(apierr.TimeRangeInvalid, f.name+" must be between the years 1970 and 2261.", apierr.Param(f.name))
		}
	}
	if start != nil && end != nil && end.AsTime().Before(start.AsTime()) {
		return apierr.New(apierr.TimeRangeInvalid, "end_time must not be before start_time.", apierr.Param("end_time"))
	}
	return nil
}

func toSkeleton(ask reads.Skeleton, extent reads.TraceExtentRow, rows []reads.SkeletonRow) *svcv2.TraceSkeleton {
	rows, next := paging.CutAfter(ask.Limit, rows, func(last reads.SkeletonRow) string {
		return paging.FormatSpan(paging.SpanKey{Start: last.Timestamp, SpanID: last.SpanID})
	})
	p := &svcv2.TraceSkeleton{
		Id: ask.TraceID, Object: "trace_skeleton", StartTime: timestamppb.New(extent.Start), EndTime: timestamppb.New(extent.End),
		DurationMs: milliseconds(extent.End.Sub(extent.Start)), SpanCount: int32(extent.SpanCount), ServiceCount: int32(extent.ServiceCount),
		ErrorCount: int32(extent.ErrorCount), HasMore: next != nil, NextCursor: next,
	}
	services, names := dictionary{}, dictionary{}
	p.Spans = make([]*svcv2.SkeletonSpan, len(rows))
	for i, row := range rows {
		p.Spans[i] = &svcv2.SkeletonSpan{
			Id: row.SpanID, ParentSpanId: text(row.ParentSpanID), Name: names.place(row.SpanName), Service: services.place(row.ServiceName),
			Kind: row.SpanKind, OffsetMs: milliseconds(row.Timestamp.Sub(extent.Start)), DurationMs: float64(row.DurationNano) / 1e6,
			StatusCode: row.StatusCode, HasError: row.HasError,
		}
	}
	p.Services, p.Names = services.texts, names.texts
	return p
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// dictionary numbers texts in the order of their first occurrence.
type dictionary struct {
	texts  []string
	places map[string]int32
}

func (d *dictionary) place(text string) int32 {
	if at, known := d.places[text]; known {
		return at
	}
	if d.places == nil {
		d.places = map[string]int32{}
	}
	at := int32(len(d.texts))
	d.places[text] = at
	d.texts = append(d.texts, text)
	return at
}
