package ingest

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/principal"
)

// SubmitMetrics stores an export request of metrics that this process itself made, as if a key of the type KeyScrape had sent it: within
// the same bounds, through the same walk, plan and queue. id is the public id under which usage and outcomes are recorded. The body may
// be used again after the call.
func (g *Gateway) SubmitMetrics(ctx context.Context, org principal.OrgID, id string, body []byte) error {
	started := time.Now()
	ctx, cancel := context.WithDeadline(ctx, started.Add(g.limits.Request))
	defer cancel()
	e := export{
		signal: otlp.Metrics, door: doorScrape,
		receipt: receipt{signalName: otlp.Metrics.String(), doorName: doorScrape.String(), agent: "svc"},
	}
	e.key = Key{Origin: otlp.Origin{Org: org, KeyType: otlp.KeyScrape}, PublicID: id}
	e.identify(&e.key)
	fail := g.submit(ctx, &e, body)
	g.metrics.answered(&e, started, fail)
	g.settle(&e.receipt, fail)
	if fail != nil {
		g.report(otlp.Metrics, doorScrape, id, fail)
		return fail
	}
	return nil
}

func (g *Gateway) submit(ctx context.Context, e *export, body []byte) *apierr.Error {
	place, fail := g.admit(ctx, e.key.share())
	if fail != nil {
		return fail
	}
	defer place.leave()
	held := g.buffers.get(e.key.share())
	defer g.release(held)
	if fail := g.charge(held, max(len(body), cap(held.b))); fail != nil {
		return fail
	}
	held.b = append(held.b[:0], body...)
	if fail := place.enter(); fail != nil {
		return fail
	}
	e.body, e.held = held.b, held
	return g.store(ctx, e)
}
