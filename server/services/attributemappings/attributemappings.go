// Package attributemappings answers the methods of svc.v2.AttributeMappingsService.
package attributemappings

import (
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Service implements svcv2connect.AttributeMappingsServiceHandler. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns the service.
func New(st *store.Store) *Service { return &Service{store: st} }

// resource describes the errors of an attribute mapping.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.AttributeMapping, ID: "an attribute mapping", Invalid: apierr.IngestAttributeMappingValidation,
		NotFound: storeerr.Answer{Tag: apierr.IngestAttributeMappingNotFound, Message: "This organization has no such attribute mapping."},
		Unavailable: storeerr.Answer{
			Tag: apierr.IngestAttributeMappingPersistence, Message: "Attribute mappings cannot be read or changed at the moment. Try again.",
		},
	}
}
