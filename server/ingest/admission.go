package ingest

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// inFlight counts the open requests of each organization.
type inFlight struct {
	limit int
	mu    sync.Mutex
	open  map[principal.OrgID]int
}

func (f *inFlight) enter(org principal.OrgID) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.open[org]
	if n >= f.limit {
		return false
	}
	f.open[org] = n + 1
	return true
}

func (f *inFlight) leave(org principal.OrgID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := f.open[org]; n > 1 {
		f.open[org] = n - 1
	} else {
		delete(f.open, org)
	}
}

// admit counts the request among the open ones of its organization. The caller ends that with inFlight.leave.
func (g *Gateway) admit(org principal.OrgID) *apierr.Error {
	if g.inFlight.enter(org) {
		return nil
	}
	g.metrics.inFlightLimited.Inc()
	return apierr.New(apierr.IngestRateLimited,
		"More than "+strconv.Itoa(g.limits.InFlight)+" requests of this organization are in flight. Wait for answers before you send more.")
}

// interrupted is the answer to a request whose context ended, by the time limit or because the sender closed the connection.
func (g *Gateway) interrupted(ctx context.Context) *apierr.Error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.Canceled) {
		return apierr.New(apierr.IngestRequestTimeout, "The sender closed the request before it was stored.", apierr.Cause(cause))
	}
	return g.timedOut(cause)
}

func (g *Gateway) timedOut(cause error) *apierr.Error {
	return apierr.New(
		apierr.IngestRequestTimeout,
		"The request took longer than "+g.limits.Request.String()+". Send it again, in smaller batches if the connection is slow.",
		apierr.Cause(cause),
	)
}
