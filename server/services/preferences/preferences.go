// Package preferences answers the methods of svc.v2.PreferencesService.
package preferences

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Service implements svcv2connect.PreferencesServiceHandler. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns the service.
func New(st *store.Store) *Service { return &Service{store: st} }

// person returns the user of the session. Programs have no preferences.
func person(ctx context.Context) (principal.UserID, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return "", err
	}
	if caller.Kind != principal.KindSession {
		return "", apierr.New(apierr.ApiKeyNotAccepted, "Preferences belong to a person who is signed in, not to a key or a program.")
	}
	return caller.User, nil
}

func failure(ctx context.Context, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return apierr.New(apierr.InvalidCredentials, "The session has just ended.", apierr.Cause(err))
	}
	return storeerr.Resource{
		Invalid: apierr.InvalidRequest,
		Unavailable: storeerr.Answer{
			Tag: apierr.AuthorizationUnavailable, Message: "Preferences cannot be read or changed at the moment. Try again.",
		},
	}.Failure(ctx, err)
}

// GetPreferences returns the preferences of the person.
func (s *Service) GetPreferences(ctx context.Context, _ *svcv2.GetPreferencesRequest) (*svcv2.Preferences, error) {
	user, err := person(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.store.UserPreferences(ctx, user)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return toProto(r), nil
}

// UpdatePreferences changes the preferences that the mask names.
func (s *Service) UpdatePreferences(ctx context.Context, req *svcv2.UpdatePreferencesRequest) (*svcv2.Preferences, error) {
	user, err := person(ctx)
	if err != nil {
		return nil, err
	}
	var edit store.PreferencesEdit
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "theme":
			edit.Theme = store.Set(req.GetTheme())
		case "stack_trace":
			edit.StackTrace = store.Set(req.GetStackTrace())
		case "time_zone":
			edit.TimeZone = store.Set(req.GetTimeZone())
		default:
			return nil, fmt.Errorf("preferences: no update of the field %s", path)
		}
	}
	r, err := s.store.EditPreferences(ctx, user, edit)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return toProto(r), nil
}

func toProto(r store.Preferences) *svcv2.Preferences {
	p := &svcv2.Preferences{Object: "preferences", Theme: r.Theme, StackTrace: r.StackTrace, TimeZone: r.TimeZone}
	if r.UpdatedAt != nil {
		p.UpdatedAt = timestamppb.New(*r.UpdatedAt)
	}
	return p
}
