package alerts

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Deliveries implements svcv2connect.AlertDeliveriesServiceHandler. It is safe for concurrent use.
type Deliveries struct{ store *store.Store }

// NewDeliveries returns the service.
func NewDeliveries(st *store.Store) *Deliveries { return &Deliveries{st} }

// ListAlertDeliveries lists attempts to send messages, the newest first.
func (s *Deliveries) ListAlertDeliveries(
	ctx context.Context, req *svcv2.ListAlertDeliveriesRequest,
) (*svcv2.ListAlertDeliveriesResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	filter := store.DeliveryFilter{Status: req.GetStatus()}
	for _, f := range []struct {
		name, prefix, noun string
		value              *string
		to                 **uuid.UUID
	}{
		{"incident_id", publicid.AlertIncident, "an alert incident", req.IncidentId, &filter.Incident},
		{"rule_id", publicid.AlertRule, "an alert rule", req.RuleId, &filter.Rule},
		{"destination_id", publicid.AlertDestination, "an alert destination", req.DestinationId, &filter.Destination},
	} {
		if f.value == nil {
			continue
		}
		id, err := publicid.Decode(f.prefix, *f.value)
		if err != nil {
			return nil, apierr.New(apierr.ParameterInvalid, fmt.Sprintf("`%s` is not the id of %s: %v.", f.name, f.noun, err), apierr.Param(f.name))
		}
		*f.to = &id
	}
	rows, err := s.store.ListDeliveries(ctx, caller.Org, filter, page.Offset, page.Want())
	if err != nil {
		return nil, storeerr.Resource{Unavailable: unavailable()}.Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListAlertDeliveriesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, showDelivery(row))
	}
	return res, nil
}

func showDelivery(row store.Delivery) *svcv2.AlertDelivery {
	out := &svcv2.AlertDelivery{
		Id: publicid.Encode(publicid.Delivery, row.ID), Object: "alert_delivery",
		DestinationId: publicid.Encode(publicid.AlertDestination, row.DestinationID), DestinationName: row.DestinationName,
		DestinationType: row.DestinationType, DeliveryKey: row.DeliveryKey, EventType: row.EventType, AttemptNumber: int32(row.AttemptNumber),
		Status: row.Status, ScheduledAt: timestamppb.New(row.ScheduledAt), ProviderMessage: row.ProviderMessage,
		ProviderReference: row.ProviderReference, ErrorMessage: row.ErrorMessage,
	}
	if row.IncidentID != nil {
		id := publicid.Encode(publicid.AlertIncident, *row.IncidentID)
		out.IncidentId = &id
	}
	if row.RuleID != nil {
		out.RuleId = publicid.Encode(publicid.AlertRule, *row.RuleID)
	}
	if row.AttemptedAt != nil {
		out.AttemptedAt = timestamppb.New(*row.AttemptedAt)
	}
	if row.ResponseCode != nil {
		code := int32(*row.ResponseCode)
		out.ResponseCode = &code
	}
	return out
}
