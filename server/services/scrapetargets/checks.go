package scrapetargets

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// ListScrapeTargetChecks lists the latest checks of a target, newest first.
func (s *Service) ListScrapeTargetChecks(
	ctx context.Context, req *svcv2.ListScrapeTargetChecksRequest,
) (*svcv2.ListScrapeTargetChecksResponse, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	now := s.Now()
	since, until := now.Add(-limits.ScrapeCheckRetention), now.Add(limits.ClockAhead)
	if req.GetSince() != nil && req.GetSince().AsTime().After(since) {
		since = req.GetSince().AsTime()
	}
	if req.GetUntil() != nil && req.GetUntil().AsTime().Before(until) {
		until = req.GetUntil().AsTime()
	}
	if req.GetSince() != nil && req.GetUntil() != nil && !req.GetSince().AsTime().Before(req.GetUntil().AsTime()) {
		return nil, apierr.New(apierr.TimeRangeInvalid, "until must be after since.", apierr.Param("until"))
	}
	if _, err := s.Store.GetScrapeTarget(ctx, caller.Org, id); err != nil {
		return nil, resource().Failure(ctx, err)
	}
	var rows []reads.ScrapeCheckRow
	if since.Before(until) {
		rows, err = read.All[reads.ScrapeCheckRow](ctx, s.Warehouse, caller.Org,
			reads.ScrapeChecks(publicid.Encode(publicid.ScrapeTarget, id), since, until, limits.ScrapeChecks))
		if err != nil {
			return nil, unavailable(ctx, err)
		}
	}
	rows, next := paging.Part(page, rows)
	res := &svcv2.ListScrapeTargetChecksResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, checkToProto(row))
	}
	return res, nil
}

// unavailable gives a failure of the warehouse the tag of this family: the caller asked for checks, not for telemetry.
func unavailable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return apierr.From(ctx.Err())
	}
	var known *apierr.Error
	if errors.As(err, &known) && known.Tag == apierr.RequestCanceled {
		return known
	}
	return apierr.New(apierr.ScrapeTargetPersistence, "The checks of the target cannot be read at the moment. Try again.", apierr.Cause(err))
}

func checkToProto(row reads.ScrapeCheckRow) *svcv2.ScrapeCheck {
	out := &svcv2.ScrapeCheck{
		Object: "scrape_target.check", Timestamp: timestamppb.New(row.Timestamp.Truncate(time.Millisecond)), Success: row.Success,
		DurationSeconds: row.DurationSeconds, SamplesScraped: number(row.SamplesScraped),
		SamplesPostMetricRelabeling: number(row.SamplesPostMetricRelabeling),
	}
	if row.SubTargetKey != "" {
		out.SubTargetKey = &row.SubTargetKey
	}
	if row.Message != "" {
		out.Message = &row.Message
	}
	return out
}

func number(n *uint32) *int64 {
	if n == nil {
		return nil
	}
	v := int64(*n)
	return &v
}
