package store

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/ent/invitation"
	"github.com/svc-observability/svc/ent/membership"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/principal"
)

// TestChoicesAreThoseOfTheContract compares the constants of the store with the fields that show or set them.
func TestChoicesAreThoseOfTheContract(t *testing.T) {
	for _, tc := range []struct {
		message proto.Message
		field   protoreflect.Name
		want    []string
	}{
		{&svcv2.CreateApiKeyRequest{}, "kind", []string{string(ApiKeyStandard), string(ApiKeyMCP)}},
		{&svcv2.CreateCustomIngestKeyRequest{}, "allowed_signals", Signals()},
		{&svcv2.UpdateCustomIngestKeyRequest{}, "allowed_signals", Signals()},
		{&svcv2.IngestKeyAttribute{}, "mode", []string{string(AttributeAlwaysSet), string(AttributeIfMissing)}},
		{&svcv2.DashboardShare{}, "mode", []string{SharePublic, ShareOrg}},
		{&svcv2.Member{}, "role", []string{string(principal.RoleAdmin), string(principal.RoleMember)}},
		{&svcv2.Member{}, "role", []string{string(membership.RoleAdmin), string(membership.RoleMember)}},
		{&svcv2.CreateInvitationRequest{}, "role", []string{string(invitation.RoleAdmin), string(invitation.RoleMember)}},
		{&svcv2.CreateMarkerRequest{}, "kind", MarkerKinds()},
		{&svcv2.UpdateInvestigationRequest{}, "status", InvestigationStatuses()},
		{&svcv2.CreateSavedViewRequest{}, "page", texts(SavedViewPages())},
		{&svcv2.ListSavedViewsRequest{}, "page", texts(SavedViewPages())},
		{&svcv2.SavedView{}, "page", texts(SavedViewPages())},
		{&svcv2.CreateSavedViewRequest{}, "visibility", []string{ViewPrivate, ViewShared}},
		{&svcv2.UpdateSavedViewRequest{}, "visibility", []string{ViewPrivate, ViewShared}},
		{&svcv2.ListSavedViewsRequest{}, "visibility", []string{ViewPrivate, ViewShared}},
		{&svcv2.SavedView{}, "visibility", []string{ViewPrivate, ViewShared}},
		{&svcv2.UpdatePreferencesRequest{}, "theme", texts(Themes())},
		{&svcv2.Preferences{}, "theme", texts(Themes())},
		{&svcv2.UpdatePreferencesRequest{}, "stack_trace", texts(StackTraces())},
		{&svcv2.Preferences{}, "stack_trace", texts(StackTraces())},
		{&svcv2.Recommendation{}, "status", []string{
			string(RecommendationOpen), string(RecommendationDismissed), string(RecommendationApplied), string(RecommendationResolved),
		}},
	} {
		f := tc.message.ProtoReflect().Descriptor().Fields().ByName(tc.field)
		allowed, shown := contract.Choices(f)
		if len(allowed)+len(shown) == 0 || len(allowed) > 0 && !slices.Equal(allowed, tc.want) || len(shown) > 0 &&
			!slices.Equal(shown, tc.want) {
			t.Errorf("%s allows %q and shows %q, the store has %q", f.FullName(), allowed, shown, tc.want)
		}
	}
}

func texts[T ~string](all []T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = string(v)
	}
	return out
}
