package warehousetest

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/principal"
)

// As returns a context in which an organization calls.
func As(ctx context.Context, org principal.OrgID) context.Context {
	return principal.WithResult(ctx, principal.Result{Principal: &principal.Principal{Org: org}})
}

// Noon is the noon of the day before yesterday. It is recent, because the tables expire old rows.
func Noon() time.Time { return time.Now().UTC().Truncate(24 * time.Hour).Add(-36 * time.Hour) }
