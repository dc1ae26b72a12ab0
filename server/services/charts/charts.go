package charts

import (
	"context"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
)

// Config has the parts of which charts are made. All fields are required.
type Config struct {
	Store *store.Store
	// Figures evaluates rules. Warehouse has the checks of rules and the occurrences of errors.
	Figures   alerting.Source
	Warehouse read.Warehouse
	Seals     Seals
	Now       func() time.Time
}

// Charts reads charts. It is safe for concurrent use.
type Charts struct{ cfg Config }

// New returns the charts.
func New(cfg Config) *Charts { return &Charts{cfg} }

// Read reads the data of a chart.
type Read = func(ctx context.Context) (*svcv2.ChartPicture, error)

// Sealed reports whether this server made the id of a chart, of either kind, and its time is not over. It asks no store.
func (c *Charts) Sealed(text string) bool {
	for _, kind := range []string{kindAlert, kindChat} {
		if _, err := open(c.cfg.Seals, kind, text, c.cfg.Now()); err == nil {
			return true
		}
	}
	return false
}
