package logpushconnectors_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/services/logpushconnectors"
	"github.com/svc-observability/svc/server/store"
)

// TestAddressed: without the address of the gateway no secret is made, and the answer names the setting.
func TestAddressed(t *testing.T) {
	t.Parallel()
	s := logpushconnectors.New(logpushconnectors.Config{Secret: func() (string, store.Secret) {
		t.Error("a secret was made")
		return "", store.Secret{}
	}})
	ctx := principal.WithResult(t.Context(), principal.Result{Principal: &principal.Principal{Kind: principal.KindAPIKey, Org: "org_a"}})
	_, create := s.CreateLogpushConnector(ctx, &svcv2.CreateLogpushConnectorRequest{Name: "a", ZoneName: "b"})
	_, rotate := s.RotateLogpushConnector(ctx, &svcv2.RotateLogpushConnectorRequest{Id: publicid.Encode(publicid.LogpushConnector,
		uuid.New())})
	for _, err := range []error{create, rotate} {
		if err == nil || apierr.From(err).Tag != apierr.IntegrationsConfiguration || !strings.Contains(err.Error(), "ingest-public-url") {
			t.Errorf("%v", err)
		}
	}
}
