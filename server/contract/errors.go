package contract

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/apierr"
)

// Common lists the errors that every method with a credential can return.
func Common() []apierr.Tag {
	return []apierr.Tag{
		apierr.InvalidRequest, apierr.InvalidCredentials, apierr.InsufficientScope, apierr.OrganizationAccessDenied, apierr.RateLimit,
		apierr.ResponseSchema, apierr.Unexpected, apierr.WorkerUnavailable, apierr.Unauthorized, apierr.AuthorizationUnavailable,
		apierr.ApiKeyLookupPersistence,
	}
}

// Telemetry lists the errors that every method that reads telemetry can return. These are the failures of the warehouse, and the
// end of the time that a query may take. The error for SQL of the caller is not among them.
func Telemetry() []apierr.Tag {
	return []apierr.Tag{
		apierr.WarehouseQuery,
		apierr.WarehouseUpstream,
		apierr.WarehouseAuth,
		apierr.WarehouseConfig,
		apierr.WarehouseClient,
		apierr.WarehouseSchemaDrift,
		apierr.WarehouseResultDecode,
		apierr.WarehouseScope,
		apierr.WarehouseMalformedQuery,
		apierr.WarehouseQuotaExceeded,
		apierr.QueryEngineTimeout,
	}
}

// names maps the last segment of a tag, `ApiKeyNotFoundError`, to the tag. If two tags end alike, the v2 tag wins.
var names = sync.OnceValue(func() map[string]apierr.Tag {
	byName := map[string]apierr.Tag{}
	for _, tag := range apierr.All() {
		text := apierr.Spec(tag).GetTag()
		name := text[strings.LastIndexByte(text, '/')+1:]
		if _, taken := byName[name]; !taken || strings.HasPrefix(text, "@svc/http/v2/") {
			byName[name] = tag
		}
	}
	return byName
})

// readErrors fills Extra and Errors. It checks that the method lists the errors that its own policy and input can cause.
func (m *Method) readErrors(list []string) []string {
	var faults []string
	if m.ReadsTelemetry {
		m.Extra = Telemetry()
	}
	for _, name := range list {
		tag, ok := names()[name]
		switch {
		case !ok:
			faults = append(faults, fmt.Sprintf("error %q is not in svc.v2.ErrorTag", name))
		case slices.Contains(m.Extra, tag):
			faults = append(faults, fmt.Sprintf("error %q is listed twice", name))
		default:
			m.Extra = append(m.Extra, tag)
		}
	}
	expect := func(tag apierr.Tag, name, why string) {
		if !slices.Contains(m.Extra, tag) {
			faults = append(faults, fmt.Sprintf("%s, so its errors must list %s", why, name))
		}
	}
	if m.Admin {
		// A family with its own tag for this case uses that tag, for example AlertForbiddenError.
		m.RoleError = apierr.InsufficientPermissions
		for _, tag := range m.Extra {
			if strings.HasSuffix(apierr.Spec(tag).GetTag(), "ForbiddenError") {
				m.RoleError = tag
			}
		}
		expect(m.RoleError, "InsufficientPermissionsError, or a ForbiddenError of its family", "it needs an administrator")
	}
	if len(m.HTTP.QueryParams) > 0 {
		expect(apierr.ParameterInvalid, "ParameterInvalidError", "it takes query parameters")
	}
	for _, q := range m.HTTP.QueryParams {
		if Rules(m.Descriptor.Input().Fields().ByName(protoreflect.Name(q))).GetRequired() {
			expect(apierr.ParameterMissing, "ParameterMissingError", "query parameter "+q+" is required")
		}
	}

	common := Common()
	if m.HTTP.BodyField != "" {
		common = append(common, apierr.PayloadTooLarge, apierr.UnsupportedMediaType)
	}
	if m.IdempotencyKey {
		common = append(common, apierr.IdempotencyKeyReused, apierr.IdempotencyInProgress)
	}
	for _, tag := range append(common, m.Extra...) {
		status := apierr.Spec(tag).GetStatus()
		denied := m.Public && (status == 401 || status == 403) && !slices.Contains(m.Extra, tag)
		unscoped := m.AnyScope && tag == apierr.InsufficientScope
		if !denied && !unscoped && !slices.Contains(m.Errors, tag) {
			m.Errors = append(m.Errors, tag)
		}
	}
	slices.Sort(m.Errors)
	return faults
}

// ErrorName is the short name of a tag, in the form that method options use: `ApiKeyNotFoundError`.
func ErrorName(tag apierr.Tag) string {
	text := apierr.Spec(tag).GetTag()
	return text[strings.LastIndexByte(text, '/')+1:]
}
