package instrumentation

import (
	"context"
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
	"github.com/svc-observability/svc/server/storeerr"
)

// day is the time that recommendations and the audit cover, and lastDay its text.
const day = limits.SetupWindow

var lastDay = limits.Lasts(day)

func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.Recommendation, ID: "a recommendation",
		NotFound: storeerr.Answer{Tag: apierr.RecommendationIssueNotFound, Message: "This organization has no such recommendation."},
		Unavailable: storeerr.Answer{
			Tag: apierr.RecommendationIssuePersistence, Message: "Recommendations cannot be read or changed at the moment. Try again.",
		},
	}
}

// ListInstrumentationRecommendations examines the telemetry and lists recommendations.
func (s *Service) ListInstrumentationRecommendations(
	ctx context.Context, req *svcv2.ListInstrumentationRecommendationsRequest,
) (*svcv2.ListInstrumentationRecommendationsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, senders, err := s.recommendations(ctx, caller.Org)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.Part(page, rows)
	res := &svcv2.ListInstrumentationRecommendationsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		one := toProto(row)
		one.Services = servicesOf(row, senders)
		res.Data = append(res.Data, one)
	}
	return res, nil
}

// servicesOf lists the services in which a recommendation was found.
func servicesOf(r store.Recommendation, senders []sender) []*svcv2.RecommendationService {
	alone, beside, _, _ := divide(senders, r.SourceKey, 0)
	list := alone
	if r.Kind == kindDouble {
		list = beside
	}
	var out []*svcv2.RecommendationService
	for _, s := range list[:min(len(list), limits.RecommendationServices)] {
		out = append(out, &svcv2.RecommendationService{Name: s.ServiceName, Spans: float64(s.Old), Both: float64(s.Both)})
	}
	return out
}

// recommendations returns the recommendations from the telemetry store. If it does not answer, the stored ones are returned.
func (s *Service) recommendations(ctx context.Context, org principal.OrgID) ([]store.Recommendation, []sender, error) {
	now := s.now().UTC()
	bounded, cancel := context.WithTimeout(ctx, signalTimeout)
	defer cancel()
	mappings, err := s.store.ListAttributeMappings(ctx, org)
	if err != nil {
		return nil, nil, err
	}
	mapped := mappedKeys(mappings)
	keys, err := read.All[reads.SetupKeyRow](bounded, s.warehouse, org, reads.SetupKeys(query.Window{Start: now.Add(-day), End: now}))
	var senders []sender
	if err == nil {
		senders, err = s.senders(bounded, org, now, spanKeys(keys), mapped)
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		s.logger.WarnContext(ctx, "recommendations could not be updated", "org_id", org, "error", err)
		rows, err := s.store.ListRecommendations(ctx, org)
		return rows, nil, err
	}
	rows, err := s.store.ReconcileRecommendations(ctx, org, findings(spanKeys(keys), mapped, senders), mapped)
	return rows, senders, err
}

// senders finds the services that send old keys that are in use. It reads a day, or only the last hour if the keys are on very
// many spans.
func (s *Service) senders(
	ctx context.Context, org principal.OrgID, now time.Time, uses map[string]int64, mapped map[string]bool,
) ([]sender, error) {
	olds, news := pairsIn(uses, mapped)
	if len(olds) == 0 {
		return nil, nil
	}
	window := query.Window{Start: now.Add(-day), End: now}
	for _, n := range uses { // a key that every span has tells the number of spans
		if n > limits.SetupRows {
			window.Start = now.Add(-time.Hour)
		}
	}
	return read.All[sender](ctx, s.warehouse, org, reads.SetupRenames(window, olds, news))
}

// mappedKeys returns the keys of spans that attribute mappings already handle.
func mappedKeys(mappings []store.AttributeMapping) map[string]bool {
	mapped := map[string]bool{}
	for _, m := range mappings {
		if m.Enabled && m.SourceContext == store.AttributeMappingSourceContextSpan {
			mapped[m.SourceKey] = true
		}
	}
	return mapped
}

// spanKeys returns the attribute keys of spans, with the number of spans that have each.
func spanKeys(keys []reads.SetupKeyRow) map[string]int64 {
	uses := map[string]int64{}
	for _, k := range keys {
		if k.Signal == "traces" && k.Scope == "span" {
			uses[k.Key] += int64(k.Uses)
		}
	}
	return uses
}

// DismissInstrumentationRecommendation dismisses a recommendation.
func (s *Service) DismissInstrumentationRecommendation(
	ctx context.Context, req *svcv2.DismissInstrumentationRecommendationRequest,
) (*svcv2.Recommendation, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.store.DismissRecommendation(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(row), nil
}

// ReopenInstrumentationRecommendation reopens a dismissed recommendation.
func (s *Service) ReopenInstrumentationRecommendation(
	ctx context.Context, req *svcv2.ReopenInstrumentationRecommendationRequest,
) (*svcv2.Recommendation, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.store.ReopenRecommendation(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(row), nil
}

func toProto(r store.Recommendation) *svcv2.Recommendation {
	out := &svcv2.Recommendation{
		Id: publicid.Encode(publicid.Recommendation, r.ID), Object: "recommendation", Number: int32(r.Number), RecommendationKey: r.Key,
		Kind: r.Kind, SourceKey: r.SourceKey, CanonicalKey: r.CanonicalKey, Status: string(r.Status), UsageCount: float64(r.Usage),
		OpenedAt: timestamppb.New(r.OpenedAt), UpdatedAt: timestamppb.New(r.UpdatedAt),
	}
	if r.ResolvedAt != nil {
		out.ResolvedAt = timestamppb.New(*r.ResolvedAt)
	}
	return out
}
