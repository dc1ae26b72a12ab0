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

// receipt is what is remembered of a request when it is answered: for the usage of the organization and the last outcomes of the key.
type receipt struct {
	signalName, doorName string
	agent                string
	// account is known from the moment that the key is. What comes with the test key, or with no key, is remembered of nobody.
	account outcome.Key
	// test is set for what comes with the test key: it is answered with success in any case, and stored in none.
	test bool
	// sent is the body as it came, decoded the same after decompression.
	sent, decoded               int
	accepted, rejected, sampled int
	// cut counts what was shortened or left out because it is beyond a limit.
	cut int
	// events are the product events that spans made.
	events int
	// reason is the first thing that was wrong in a request that succeeded.
	reason string
}

// identify notes whose request it is. A key that is refused is known too, when it is only disabled or expired.
func (rc *receipt) identify(key *Key) {
	rc.account = outcome.Key{Org: key.Org, ID: key.PublicID}
}

// note is a kind of problem in a result.
type note interface{ String() string }

// firstNote is the first reason for a rejection, or else the first warning.
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

// settle counts a request that was answered, and remembers the answer.
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
		Signal: rc.signalName, Door: rc.doorName, Status: http.StatusOK, Accepted: rc.accepted, Rejected: rc.rejected, Sampled: rc.sampled, Cut: rc.cut,
		Bytes: rc.sent, Reason: rc.reason, Agent: rc.agent,
	}
	if fail != nil {
		spec := apierr.Spec(fail.Tag)
		o.Status, o.Tag, o.Reason = int(spec.GetStatus()), spec.GetTag(), fail.Message
		o.Accepted, o.Rejected, o.Sampled, o.Cut = 0, 0, 0, 0
	}
	g.outcomes.Record(rc.account, o)
}

// paced refuses a request of a key that sends more requests a second than it may.
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
		fmt.Sprintf("The ingest key %s may send %s a second, and more came. Wait as told, and send fewer requests with more in each.",
			key.PublicID, requests(key.RateLimit)), apierr.RetryAfter(wait))
}

func requests(n float64) string {
	if n == 1 {
		return "1 request"
	}
	return strconv.FormatFloat(n, 'f', -1, 64) + " requests"
}

// entitled refuses what the organization's plan does not include.
func (g *Gateway) entitled(ctx context.Context, org principal.OrgID, signal string) *apierr.Error {
	if g.usage == nil {
		return nil
	}
	if refusal := g.usage.Check(ctx, org, signal); refusal != nil {
		return apierr.New(apierr.IngestPlanLimitReached, refusal.Error())
	}
	return nil
}
