package databaseplatform

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/planetscale"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/scrape"
	"github.com/svc-observability/svc/server/store"
)

// ListPlanetScaleDatabases lists the databases of the account.
func (s *Service) ListPlanetScaleDatabases(ctx context.Context, _ *svcv2.ListPlanetScaleDatabasesRequest) (
	*svcv2.ListPlanetScaleDatabasesResponse, error,
) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	a, err := s.connected(ctx, caller.Org)
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.ListPlatformDatabases(ctx, caller.Org, a.row.ID)
	if err != nil {
		return nil, failure(ctx, err)
	}
	res := &svcv2.ListPlanetScaleDatabasesResponse{Object: "planetscale_integration.database_list"}
	for _, d := range rows {
		out := &svcv2.PlanetScaleDatabase{
			Id: d.ExternalID, Object: "planetscale_integration.database", Name: d.Name, Kind: d.Kind, State: present(d.State),
			Region: present(d.Region), Plan: present(d.Plan),
		}
		for _, b := range d.Branches {
			out.Branches = append(out.Branches, &svcv2.PlanetScaleBranch{Id: b.ID, Name: b.Name, Production: b.Production, Ready: b.Ready})
		}
		res.Databases = append(res.Databases, out)
	}
	if a.row.LastSyncAt != nil && a.Organization != "" {
		res.LastInventoryAt = timestamppb.New(*a.row.LastSyncAt)
	}
	return res, nil
}

// present is null for an empty text.
func present(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// window reads the times of a request.
func window(start, end *timestamppb.Timestamp) (from, to time.Time, err error) {
	for _, f := range []struct {
		name string
		at   *timestamppb.Timestamp
	}{{"start_time", start}, {"end_time", end}} {
		if year := f.at.AsTime().Year(); !f.at.IsValid() || year < 1970 || year > 2261 {
			return from, to, apierr.New(apierr.TimeRangeInvalid, f.name+" must be between the years 1970 and 2261.", apierr.Param(f.name))
		}
	}
	if from, to = start.AsTime(), end.AsTime(); !to.After(from) {
		return from, to, apierr.New(apierr.TimeRangeInvalid, "end_time must be after start_time.", apierr.Param("end_time"))
	}
	return from, to, nil
}

// question is a request about queries whose answer is kept for a while.
type question struct {
	org              principal.OrgID
	connection       uuid.UUID
	version          int
	database, branch string
	from, to         int64
	limit            int
}

// QueryPlanetScaleQueryInsights asks for queries of a branch. Those that took the most time in all come first.
func (s *Service) QueryPlanetScaleQueryInsights(ctx context.Context, req *svcv2.QueryPlanetScaleQueryInsightsRequest) (
	*svcv2.QueryPlanetScaleQueryInsightsResponse, error,
) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	from, to, err := window(req.GetStartTime(), req.GetEndTime())
	if err != nil {
		return nil, err
	}
	a, opened, err := s.usable(ctx, caller.Org)
	if err != nil {
		return nil, err
	}
	branch, err := s.branchOf(ctx, a, req)
	if err != nil {
		return nil, err
	}
	limit := limits.DefaultInsights
	if req.Limit != nil {
		limit = int(req.GetLimit())
	}
	res := &svcv2.QueryPlanetScaleQueryInsightsResponse{Object: "planetscale_integration.query_insight_list", Branch: branch}
	key := question{caller.Org, a.row.ID, a.row.CredentialVersion, req.GetDatabase(), branch, from.Unix(), to.Unix(), limit}
	list, kept := s.insights.Get(key)
	if !kept {
		list, err = a.app.Insights(ctx, opened, a.Organization, req.GetDatabase(), branch, from, to, limit)
		var p *integrations.Problem
		switch {
		case errors.As(err, &p) && (p.Kind == integrations.Forbidden || p.Kind == integrations.NotFound || p.Kind == integrations.Invalid):
			res.UnavailableReason = new("PlanetScale gives no figures about queries of this branch and window: " + p.Text)
			return res, nil
		case err != nil:
			return nil, s.upstream(ctx, a.row, err)
		}
		s.insights.Put(key, list, 1, limits.InsightsKept)
	}
	for _, i := range list {
		out := &svcv2.PlanetScaleQueryInsight{
			Object: "planetscale_integration.query_insight", Fingerprint: i.Fingerprint, NormalizedSql: i.SQL,
			StatementType: present(i.StatementType),
			QueryCount:    i.Count, ErrorCount: i.Errors, TotalDurationMillis: i.TotalMillis, TimePerQueryMillis: i.TimePerQuery,
			P50LatencyMillis: i.P50, P99LatencyMillis: i.P99, RowsReadPerQuery: i.RowsReadPerQuery, RowsReturnedPerQuery: i.RowsReturnedPerQuery,
		}
		if i.LastRunAt != nil {
			out.LastRunAt = timestamppb.New(*i.LastRunAt)
		}
		res.Data = append(res.Data, out)
	}
	return res, nil
}

// branchOf finds the branch of a request: the one that it names, else the production branch of the database.
func (s *Service) branchOf(ctx context.Context, a account, req *svcv2.QueryPlanetScaleQueryInsightsRequest) (string, error) {
	if a.Organization == "" {
		return "", apierr.New(apierr.IntegrationsNotConnected, "No organization of PlanetScale is selected.")
	}
	rows, err := s.Store.ListPlatformDatabases(ctx, a.row.Org, a.row.ID)
	if err != nil {
		return "", failure(ctx, err)
	}
	for _, d := range rows {
		if d.Name != req.GetDatabase() {
			continue
		}
		branch := req.GetBranch()
		for _, b := range d.Branches {
			if branch == b.Name || branch == "" && b.Production {
				return b.Name, nil
			}
		}
		if branch == "" {
			return "", invalid("branch", "must be given: the database has no production branch")
		}
		return "", invalid("branch", fmt.Sprintf("is not one of the %d branches of the database; listPlanetScaleDatabases shows them",
			len(d.Branches)))
	}
	return "", invalid("database", "is not a database of the organization; listPlanetScaleDatabases shows them")
}

// ListPlanetScaleEvents lists events, the newest first.
func (s *Service) ListPlanetScaleEvents(
	ctx context.Context, req *svcv2.ListPlanetScaleEventsRequest,
) (*svcv2.ListPlanetScaleEventsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	limit := req.Limit
	if limit == nil {
		limit = new(int32(limits.DefaultPlatformEventPage))
	}
	page, err := paging.NewPage(limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	from, to, err := window(req.GetStartTime(), req.GetEndTime())
	if err != nil {
		return nil, err
	}
	a, err := s.connected(ctx, caller.Org)
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.ListPlatformEvents(ctx, caller.Org, store.PlatformEventFilter{
		Connection: a.row.ID, Database: req.GetDatabase(), Branch: req.GetBranch(), Categories: req.GetCategories(), Start: from, End: to,
	}, page.Offset, page.Want())
	if err != nil {
		return nil, failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListPlanetScaleEventsResponse{Object: "planetscale_integration.event_list", NextCursor: next}
	for _, e := range rows {
		res.Data = append(res.Data, &svcv2.PlanetScaleEvent{
			Id: e.ID.String(), Object: "planetscale_integration.event", DatabaseName: e.DatabaseName, BranchName: e.BranchName, Category: e.Category,
			EventType: e.EventType, State: present(e.State), ExternalId: e.ExternalID, Title: e.Title, Source: e.Source,
			ActorLogin: present(e.ActorLogin), Url: present(e.URL), OccurredAt: timestamppb.New(e.OccurredAt),
		})
	}
	return res, nil
}

// Endpoints implements scrape.Expander: it lists the endpoints with metrics of a managed scrape target.
func (s *Service) Endpoints(ctx context.Context, row store.ScrapeTarget) ([]scrape.Endpoint, error) {
	a, opened, err := s.usable(ctx, row.Org)
	if err != nil {
		return nil, errors.New(apierr.From(err).Message)
	}
	if planetscale.ManagedBy(a.row) != row.ManagedBy {
		return nil, errors.New("the integration of the target is gone")
	}
	rows, err := s.Store.ListPlatformDatabases(ctx, row.Org, a.row.ID)
	if err != nil {
		return nil, errors.New("the databases of the account cannot be read")
	}
	names := map[string]string{}
	for _, d := range rows {
		for _, b := range d.Branches {
			names[b.ID] = b.Name
		}
	}
	list, err := a.app.Endpoints(ctx, opened, a.Organization, names, row.IncludeBranches, row.ExcludeBranches)
	var p *integrations.Problem
	if errors.As(err, &p) {
		return nil, errors.New(p.Text) // without the cause, which is for logs
	}
	out := make([]scrape.Endpoint, len(list))
	for i, e := range list {
		out[i] = scrape.Endpoint(e)
	}
	return out, err
}
