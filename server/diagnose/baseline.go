package diagnose

import (
	"context"

	"github.com/svc-observability/svc/server/atonce"
)

// Baseline tells whether figures of a period can be compared with those of the equally long period before it.
type Baseline struct {
	// Current and Previous are the parts of the two periods that have spans. A part without spans has no length.
	Current, Previous Period
	// Thin is true if the period before has too little data for a comparison.
	Thin bool
}

// Baseline finds the parts of a period and of the one before it that have spans, in one environment if that is given.
func (e *Engine) Baseline(ctx context.Context, p Period, environment *string) (Baseline, error) {
	var now, was coverage
	err := atonce.Run(
		func() (err error) { now, err = e.coverage(ctx, p, environment); return err },
		func() (err error) { was, err = e.coverage(ctx, p.Before(), environment); return err },
	)
	return Baseline{now.Period, was.Period, was.thin(now)}, err
}

// Expected is the figure that the current period would have if it were like the period before: a count of that period, adjusted
// for the different lengths of the parts with data.
func (b Baseline) Expected(previous float64) float64 {
	if b.Previous.length() <= 0 {
		return previous
	}
	return previous * float64(b.Current.length()) / float64(b.Previous.length())
}
