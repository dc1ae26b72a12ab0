package alerts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/store"
)

// Destinations implements svcv2connect.AlertDestinationsServiceHandler. It is safe for concurrent use.
type Destinations struct{ cfg DestinationsConfig }

// DestinationsConfig configures Destinations.
type DestinationsConfig struct {
	Store  *store.Store
	Sender *notify.Sender
	// BaseURL is the address of the web application, for links in messages. Empty: messages have no links.
	BaseURL string
	// Seals seals the secrets; its purpose is notify.SealPurpose.
	Seals notify.Seals
	// Integrations knows the connected chat workspaces.
	Integrations *integrations.Engine
	// Tests bounds the test messages of an organization.
	Tests ratelimit.Limiter
	Now   func() time.Time
}

// NewDestinations returns the service.
func NewDestinations(cfg DestinationsConfig) *Destinations { return &Destinations{cfg} }

// ListAlertDestinations lists destinations, the newest first.
func (s *Destinations) ListAlertDestinations(
	ctx context.Context, req *svcv2.ListAlertDestinationsRequest,
) (*svcv2.ListAlertDestinationsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.cfg.Store.ListAlertDestinations(ctx, caller.Org, page.Offset, page.Want())
	if err != nil {
		return nil, destination().Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListAlertDestinationsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		shown, err := showDestination(row)
		if err != nil {
			return nil, err
		}
		res.Data = append(res.Data, shown)
	}
	return res, nil
}

// GetAlertDestination returns one destination.
func (s *Destinations) GetAlertDestination(ctx context.Context, req *svcv2.GetAlertDestinationRequest) (*svcv2.AlertDestination, error) {
	caller, id, err := destination().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.cfg.Store.GetAlertDestination(ctx, caller.Org, id)
	if err != nil {
		return nil, destination().Failure(ctx, err)
	}
	return showDestination(row)
}

// CreateAlertDestination checks and stores a destination.
func (s *Destinations) CreateAlertDestination(
	ctx context.Context, req *svcv2.CreateAlertDestinationRequest,
) (*svcv2.AlertDestinationMutationResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	d := &notify.Destination{Org: caller.Org, Name: req.GetName(), Type: req.GetType()}
	if d.ID, err = uuid.NewV7(); err != nil {
		return nil, err
	}
	for _, field := range given(req) {
		if err := owns(d.Type, field); err != nil {
			return nil, err
		}
		apply(d, field, req)
	}
	if err := s.check(ctx, d, true, true, true); err != nil {
		return nil, err
	}
	in := store.NewAlertDestination{
		ID: d.ID, Name: d.Name, Type: d.Type, Enabled: req.Enabled == nil || req.GetEnabled(), CreatedBy: caller.User,
	}
	if in.Config, in.Secret, err = s.stored(d); err != nil {
		return nil, err
	}
	row, txid, err := s.cfg.Store.CreateAlertDestination(ctx, caller.Org, in)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return mutated(row, txid)
}

// UpdateAlertDestination changes the fields that the mask names.
func (s *Destinations) UpdateAlertDestination(
	ctx context.Context, req *svcv2.UpdateAlertDestinationRequest,
) (*svcv2.AlertDestinationMutationResponse, error) {
	caller, id, err := destination().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	// The checks ask other servers, so they come before the transaction. The transaction applies the same fields to the newest state.
	row, err := s.cfg.Store.GetAlertDestination(ctx, caller.Org, id)
	if err != nil {
		return nil, destination().Failure(ctx, err)
	}
	d, secret, err := edited(row, req)
	if err != nil {
		return nil, err
	}
	names := req.GetUpdateMask().GetPaths()
	channel := slices.Contains(names, "channel_id")
	if err := s.check(ctx, d, secret, slices.Contains(names, "member_user_ids"), channel); err != nil {
		return nil, err
	}
	checked := d.Config
	row, txid, err := s.cfg.Store.EditAlertDestination(ctx, caller.Org, id, caller.User,
		func(newest store.AlertDestination) (store.AlertDestinationChange, error) {
			d, secret, err := edited(newest, req)
			if err != nil {
				return store.AlertDestinationChange{}, err
			}
			if d.Type == notify.Chat && channel && d.Config.ChannelID == checked.ChannelID {
				d.Config = checked
			}
			if err := s.cfg.Sender.Check(d, secret); err != nil {
				return store.AlertDestinationChange{}, invalid(err)
			}
			change := store.AlertDestinationChange{Name: d.Name, Enabled: newest.Enabled}
			if req.Enabled != nil {
				change.Enabled = req.GetEnabled()
			}
			change.Config, change.Secret, err = s.stored(d)
			change.NewSecret = secret && (change.Secret != nil || newest.Secret != nil)
			return change, err
		})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return mutated(row, txid)
}

// edited is a stored destination with the changes of a request. secret reports a new secret; the stored one is not opened.
func edited(row store.AlertDestination, req *svcv2.UpdateAlertDestinationRequest) (d *notify.Destination, secret bool, err error) {
	if req.GetType() != row.Type {
		return nil, false, apierr.New(apierr.AlertValidation,
			fmt.Sprintf("`type` must be %s, the type of the destination. It cannot change; create another destination.", row.Type),
			apierr.Param("type"))
	}
	stored, err := notify.Stored(row)
	if err != nil {
		return nil, false, unreadable(err)
	}
	for _, field := range req.GetUpdateMask().GetPaths() {
		switch field {
		case "name":
			stored.Name = req.GetName()
		case "enabled":
		default:
			if err := owns(row.Type, field); err != nil {
				return nil, false, err
			}
			if field == "workspace_id" {
				if err := sameWorkspace(&stored, req.GetWorkspaceId()); err != nil {
					return nil, false, err
				}
				continue
			}
			secret = apply(&stored, field, req) || secret
		}
	}
	return &stored, secret, nil
}

// check checks the settings as a whole, and asks those who know more: PagerDuty about a key, the store about members.
func (s *Destinations) check(ctx context.Context, d *notify.Destination, secret, members, channel bool) error {
	switch d.Type {
	case notify.HazelOAuth:
		return apierr.New(apierr.IntegrationsNotConnected,
			"There is no provider for destinations of the type hazel-oauth. A connected chat has the type chat.", apierr.Param("type"))
	case notify.Chat:
		if channel {
			if err := s.checkChannel(ctx, d); err != nil {
				return err
			}
		}
	case notify.Email:
		if members {
			if err := s.checkMembers(ctx, d); err != nil {
				return err
			}
		}
	}
	if err := s.cfg.Sender.Check(d, secret); err != nil {
		return invalid(err)
	}
	if d.Type == notify.PagerDuty && secret {
		if err := s.cfg.Sender.CheckIntegrationKey(ctx, d); err != nil {
			return invalid(err)
		}
	}
	return nil
}

// checkMembers refuses recipients that are not members.
func (s *Destinations) checkMembers(ctx context.Context, d *notify.Destination) error {
	if !s.cfg.Sender.HasMail() {
		return apierr.New(apierr.AlertMemberDirectoryNotConfigured,
			"svc has no mail server, so it cannot send e-mail. The operator sets --smtp-url and --mail-from.", apierr.Param("type"))
	}
	users, seen := make([]principal.UserID, len(d.Config.MemberUserIDs)), map[string]bool{}
	for i, id := range d.Config.MemberUserIDs {
		if seen[id] {
			return apierr.New(apierr.AlertRecipientSelection, fmt.Sprintf("`member_user_ids` names %s twice.", id), apierr.Param("member_user_ids"))
		}
		users[i], seen[id] = principal.UserID(id), true
	}
	found, err := s.cfg.Store.MembersByID(ctx, d.Org, users)
	if err != nil {
		return apierr.New(apierr.AlertMemberDirectoryUnavailable, "The members cannot be read at the moment. Try again.", apierr.Cause(err))
	}
	for _, m := range found {
		delete(seen, string(m.User))
	}
	for _, id := range d.Config.MemberUserIDs {
		if seen[id] {
			return apierr.New(apierr.AlertRecipientSelection,
				fmt.Sprintf("`member_user_ids` names %s, who is not a member of this organization.", id), apierr.Param("member_user_ids"))
		}
	}
	return nil
}

// stored is the form in which the settings are kept.
func (s *Destinations) stored(d *notify.Destination) (config json.RawMessage, secret []byte, err error) {
	if config, err = json.Marshal(d.Config); err != nil {
		return nil, nil, err
	}
	if secret, err = d.Seal(s.cfg.Seals); err != nil {
		return nil, nil, apierr.New(apierr.AlertDestinationEncryption, "The secret cannot be stored.", apierr.Cause(err))
	}
	return config, secret, nil
}

// DeleteAlertDestination deletes a destination that no rule names.
func (s *Destinations) DeleteAlertDestination(
	ctx context.Context, req *svcv2.DeleteAlertDestinationRequest,
) (*svcv2.DeletedAlertDestination, error) {
	caller, id, err := destination().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	txid, err := s.cfg.Store.DeleteAlertDestination(ctx, caller.Org, id)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return &svcv2.DeletedAlertDestination{Id: req.GetId(), Object: "alert_destination", Deleted: true, Txid: &txid}, nil
}

// failure is the error of the contract for a failed change.
func failure(ctx context.Context, err error) error {
	var used *store.DestinationInUseError
	switch {
	case errors.As(err, &used):
		var names []string
		for _, r := range used.Rules {
			if len(names) == 5 {
				names = append(names, fmt.Sprintf("%d more", len(used.Rules)-len(names)))
				break
			}
			names = append(names, fmt.Sprintf("%q", r.Name))
		}
		return apierr.New(apierr.AlertDestinationInUse, "These alert rules name the destination: "+strings.Join(names, ", ")+
			". Take it out of them first.", apierr.Param("id"), apierr.Cause(err))
	case errors.Is(err, store.ErrConflict):
		return apierr.New(apierr.AlertValidation, "Another destination has this `name`.", apierr.Param("name"), apierr.Cause(err))
	default:
		return destination().Failure(ctx, err)
	}
}

// invalid names the setting that is not valid.
func invalid(err error) error {
	var field *notify.FieldError
	if errors.As(err, &field) {
		return apierr.New(apierr.AlertValidation, field.Error()+".", apierr.Param(field.Field))
	}
	return err
}

// unreadable is the error of a stored destination that cannot be used.
func unreadable(err error) error {
	if errors.Is(err, notify.ErrSecret) {
		return apierr.New(apierr.AlertDestinationDecryption,
			"The secret of the destination cannot be read: it was stored under another secret key of the server. Set it again.", apierr.Cause(err))
	}
	return apierr.New(apierr.AlertDestinationStoredConfigInvalid, "The stored settings of the destination cannot be read.", apierr.Cause(err))
}
