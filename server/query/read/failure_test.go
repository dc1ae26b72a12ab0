package read

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestFailure checks that every kind of failure of the warehouse has its tag and reveals nothing of the engine's text.
func TestFailure(t *testing.T) {
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	kind := func(kind error) error {
		return fmt.Errorf("reading: %w", &warehouse.Error{Kind: kind, Code: 1, Message: "stored value", RetryAfter: 3 * time.Second})
	}
	for name, tt := range map[string]struct {
		ctx context.Context
		err error
		tag apierr.Tag
	}{
		"timeout":     {nil, kind(warehouse.ErrTimeout), apierr.QueryEngineTimeout},
		"memory":      {nil, kind(warehouse.ErrMemory), apierr.WarehouseQuotaExceeded},
		"too costly":  {nil, kind(warehouse.ErrTooCostly), apierr.WarehouseQuotaExceeded},
		"unavailable": {nil, kind(warehouse.ErrUnavailable), apierr.WarehouseUpstream},
		"credentials": {nil, kind(warehouse.ErrAuth), apierr.WarehouseAuth},
		"rights":      {nil, kind(warehouse.ErrConfig), apierr.WarehouseConfig},
		"schema":      {nil, kind(warehouse.ErrSchema), apierr.WarehouseSchemaDrift},
		"statement":   {nil, kind(warehouse.ErrMalformed), apierr.WarehouseMalformedQuery},
		"rows":        {nil, kind(warehouse.ErrDecode), apierr.WarehouseResultDecode},
		"protocol":    {nil, kind(warehouse.ErrClient), apierr.WarehouseClient},
		"tenant":      {nil, kind(warehouse.ErrScope), apierr.WarehouseScope},
		"fence":       {nil, fmt.Errorf("%w: stored value", warehouse.ErrFence), apierr.WarehouseScope},
		"other":       {nil, kind(warehouse.ErrOther), apierr.WarehouseQuery},
		"anything":    {nil, errors.New("stored value"), apierr.WarehouseQuery},
		"own":         {nil, apierr.New(apierr.TraceNotFound, ""), apierr.TraceNotFound},
		"gone":        {gone, context.Canceled, apierr.RequestCanceled},
	} {
		ctx := tt.ctx
		if ctx == nil {
			ctx = t.Context()
		}
		err := Failure(ctx, tt.err)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != tt.tag {
			t.Errorf("%s: %v, want %v", name, err, tt.tag)
			continue
		}
		if strings.Contains(e.Message, "stored value") {
			t.Errorf("%s shows the engine's text: %s", name, e.Message)
		}
		if !errors.Is(err, tt.err) {
			t.Errorf("%s: the cause is lost: %v", name, err)
		}
		if tt.tag == apierr.WarehouseUpstream && e.RetryAfterSeconds() != 3 {
			t.Errorf("%s: Retry-After %d", name, e.RetryAfterSeconds())
		}
	}
}

// TestUnreadable reads rows that do not have the form that the statement asked for.
func TestUnreadable(t *testing.T) {
	w := warehousetest.Shared(t)
	if _, err := All[numberRow](t.Context(), w, "org_unreadable",
		sqlbuild.Statement{SQL: "SELECT 'x' AS other WHERE {org:String} != ''"}); tagOf(err) != apierr.WarehouseResultDecode {
		t.Errorf("another column: %v", err)
	}
	if _, err := One[numberRow](t.Context(), w, "org_unreadable", numbers("2")); tagOf(err) != apierr.WarehouseResultDecode {
		t.Errorf("two rows where one is: %v", err)
	}
}
