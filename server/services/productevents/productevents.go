// Package productevents answers the methods of svc.v2.ProductEventsService. It lists people's actions in a product one by one and
// by name, and follows them through the steps of a funnel and along paths.
package productevents

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// Service implements svcv2connect.ProductEventsServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
}

// New returns the service.
func New(w read.Warehouse) *Service { return &Service{warehouse: w} }

// ListProductEvents lists the names of events.
func (s *Service) ListProductEvents(ctx context.Context, req *svcv2.ListProductEventsRequest) (*svcv2.ListProductEventsResponse, error) {
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
	rows, err := read.All[reads.ProductEventNameRow](ctx, s.warehouse, org, reads.ListProductEventNames(reads.ProductEventNameList{
		Window: window, Offset: page.Offset, Limit: page.Want(),
		Events: reads.ProductEventFilters{
			Kind: req.Kind, NameSearch: req.Search, ServiceName: req.ServiceName, Host: req.Host, PagePath: req.PagePath,
		},
		Sessions: query.ProductSessionFilters{
			ReferrerHost: req.ReferrerHost, Country: req.Country, UtmSource: req.UtmSource, UtmMedium: req.UtmMedium, UtmCampaign: req.UtmCampaign,
		},
	}))
	if err != nil {
		return nil, err
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListProductEventsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, &svcv2.ProductEventName{
			Object: "product_event_name", Name: row.Name, Kind: row.Kind, Count: float64(row.Count), Sessions: float64(row.Sessions),
			Persons: float64(row.Persons), UniqueUsers: float64(row.Users), Visitors: float64(row.Visitors),
			FirstSeen: timestamppb.New(row.FirstSeen), LastSeen: timestamppb.New(row.LastSeen),
		})
	}
	return res, nil
}

// SearchProductEvents finds the latest events of a window.
func (s *Service) SearchProductEvents(
	ctx context.Context, req *svcv2.SearchProductEventsRequest,
) (*svcv2.SearchProductEventsResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ActivityWindow)
	if err != nil {
		return nil, err
	}
	limit := paging.Limit(req.Limit)
	before, err := paging.ParseEvent(req.Cursor)
	if err != nil {
		return nil, err
	}
	filters, err := toFilters(req.GetFilters())
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.ProductEventRow](ctx, s.warehouse, org, reads.SearchProductEvents(reads.ProductEventSearch{
		Window: window, Filters: filters, Before: before, Limit: limit + 1,
	}))
	if err != nil {
		return nil, err
	}
	rows, next := paging.CutAfter(limit, rows, func(last reads.ProductEventRow) string {
		return paging.FormatEvent(paging.EventKey{Timestamp: last.Timestamp, Record: last.Record, Copy: last.Copy})
	})
	res := &svcv2.SearchProductEventsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toEvent(row))
	}
	return res, nil
}

func toEvent(row reads.ProductEventRow) *svcv2.ProductEvent {
	p := &svcv2.ProductEvent{
		Object: "product_event", Timestamp: timestamppb.New(row.Timestamp), Name: row.Name, Kind: row.Kind, Source: row.Source,
		UserId: text(row.UserID), VisitorId: text(row.VisitorID), GroupId: text(row.GroupID), ServiceName: row.ServiceName,
		Url: text(row.URL), Host: text(row.Host),
		PagePath: text(row.PagePath), Attributes: row.Attributes, ResourceAttributes: row.ResourceAttributes,
	}
	if row.SessionID != "" {
		id := publicid.EncodeText(publicid.SessionReplay, row.SessionID)
		p.SessionId = &id
	}
	return p
}

func toFilters(f *svcv2.ProductEventFilters) (reads.ProductEventFilters, error) {
	attributes, err := query.AttributeFilters("filters.attributes", query.OwnAttribute, f.GetAttributes())
	if err != nil {
		return reads.ProductEventFilters{}, err
	}
	resource, err := query.AttributeFilters("filters.resource_attributes", query.ResourceAttribute, f.GetResourceAttributes())
	if err != nil {
		return reads.ProductEventFilters{}, err
	}
	if f == nil {
		return reads.ProductEventFilters{}, nil
	}
	session, err := sessionID(f.SessionId)
	if err != nil {
		return reads.ProductEventFilters{}, err
	}
	return reads.ProductEventFilters{
		Names: f.GetNames(), Kind: f.Kind, Source: f.Source, NameSearch: f.Search, UserID: f.UserId, VisitorID: f.VisitorId, GroupID: f.GroupId,
		SessionID: session, ServiceName: f.ServiceName, Host: f.Host, PagePath: f.PagePath, Attributes: query.And(attributes, resource),
	}, nil
}

// sessionID accepts the public id of a session and the id that its sender gave it.
func sessionID(s *string) (*string, error) {
	if s == nil || !strings.HasPrefix(*s, publicid.SessionReplay+"_") {
		return s, nil
	}
	if u, err := publicid.Decode(publicid.SessionReplay, *s); err == nil {
		id := u.String()
		return &id, nil
	}
	id, err := publicid.DecodeText(publicid.SessionReplay, *s)
	if err != nil {
		const at = "filters.session_id"
		return nil, apierr.New(apierr.ParameterInvalid, fmt.Sprintf("%s is not the id of a session: %s.", at, err), apierr.Param(at))
	}
	return &id, nil
}

// text is nil for an empty column.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
