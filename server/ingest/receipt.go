package ingest

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/outcome"
	"github.com/svc-observability/svc/server/principal"
)

// receipt collects the data of a request that is recorded with its answer, for the usage of the organization and the last
// outcomes of the key.
type receipt struct {
	signalName, doorName string
	agent                string
	// account is set as soon as the key is known. Requests with the test key, or without a key, are not recorded.
	account outcome.Key
	// test is set for a request with the test key, which always succeeds and is never stored.
	test bool
	// sent is the size of the body as received, decoded its size after decompression.
	sent, decoded               int
	accepted, rejected, sampled int
	// cut counts values that were shortened or left out because they exceed a limit.
	cut int
	// events counts the product events that came from spans.
	events int
	// reason is the first problem of a request that succeeded.
	reason string
}

// identify records the owner of the request, also for a disabled or expired key.
func (rc *receipt) identify(key *Key) {
	rc.account = outcome.Key{Org: key.Org, ID: key.PublicID}
}

// note is a kind of problem in a result.
type note interface{ String() string }

// firstNote returns the first reason for a rejection, or else the first warning.
func firstNote[N note](reasons, warnings []N) string {
	switch {
	case len(reasons) > 0:
		return reasons[0].String()
	case len(warnings) > 0:
		return warnings[0].String()
	default:
		return ""
	}
}

// settle counts an answered request and records its answer.
func (g *Gateway) settle(rc *receipt, fail *apierr.Error) {
	if rc.account.Org == "" || rc.account.ID == "" {
		return
	}
	if fail == nil && g.usage != nil {
		g.usage.Add(rc.account.Org, rc.signalName, rc.account.ID, rc.accepted, rc.decoded)
		if rc.events > 0 {
			g.usage.AddItems(rc.account.Org, activity.ProductEvents.String(), rc.account.ID, rc.events)
		}
	}
	if g.outcomes == nil {
		return
	}
	o := outcome.Outcome{
		Signal:   rc.signalName,
		Door:     rc.doorName,
		Status:   http.StatusOK,
		Accepted: rc.accepted,
		Rejected: rc.rejected,
		Sampled:  rc.sampled,
		Cut:      rc.cut,
		Bytes:    rc.sent,
		Reason:   rc.reason,
		Agent:    rc.agent,
	}
	if fail != nil {
		spec := apierr.Spec(fail.Tag)
		o.Status, o.Tag, o.Reason = int(spec.GetStatus()), spec.GetTag(), fail.Message
		o.Accepted, o.Rejected, o.Sampled, o.Cut = 0, 0, 0, 0
	}
	g.outcomes.Record(rc.account, o)
}

// paced refuses a request if its key exceeds its rate.
func (g *Gateway) paced(key *Key) *apierr.Error {
	if key.RateLimit <= 0 {
		return nil
	}
	wait, ok := g.rates.Allow(key.PublicID, key.RateLimit, g.now())
	if ok {
		return nil
	}
	g.metrics.keyLimited.Inc()
	return apierr.New(apierr.IngestRateLimited,
		fmt.Sprintf("The ingest key %s may send %s a second, and more came. Wait before the next request, and send fewer requests with more in each.",
			key.PublicID, requests(key.RateLimit)), apierr.RetryAfter(wait))
}

func requests(n float64) string {
	if n == 1 {
		return "1 request"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " requests"
}

// entitled refuses a request that the plan of the organization does not include.
func (g *Gateway) entitled(ctx context.Context, org principal.OrgID, signal string) *apierr.Error {
	if g.usage == nil {
		return nil
	}
	if refusal := g.usage.Check(ctx, org, signal); refusal != nil {
		return apierr.New(apierr.IngestPlanLimitReached, refusal.Error())
	}
	return nil
}
