package links

import (
	"context"
	"errors"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// OpenChart finds what the id of a chart shows and returns its organization and the function that reads it. The error of a chart that is
// not there is store.ErrNotFound.
type OpenChart func(ctx context.Context, id string) (
	org principal.OrgID, read func(context.Context) (*svcv2.ChartPicture, error), err error,
)

// ResolveAlertChart reads the chart of an alert.
func (p *Public) ResolveAlertChart(ctx context.Context, req *svcv2.ResolveAlertChartRequest) (*svcv2.ChartPicture, error) {
	return p.chart(ctx, req.GetChartId(), p.cfg.Alerts)
}

// ResolveChatChart reads the chart of another message to a chat.
func (p *Public) ResolveChatChart(ctx context.Context, req *svcv2.ResolveChatChartRequest) (*svcv2.ChartPicture, error) {
	return p.chart(ctx, req.GetChartId(), p.cfg.Chats)
}

// chart reads a chart once for all who show its message. Its subject is looked up each time, so a chart ends with its subject. The limit
// of addresses is for guesses: a chat service fetches the pictures of many organizations from few addresses, and asks for each with one
// id, which may be of either kind. Nobody but svc can make an id that opens, so its own limit comes before the store is asked, and guesses
// take no memory.
func (p *Public) chart(ctx context.Context, id string, open OpenChart) (*svcv2.ChartPicture, error) {
	limit, key := p.cfg.ByAddress, principal.OriginFrom(ctx).IP
	if p.cfg.Sealed(id) {
		limit, key = p.cfg.ByToken, "chart "+id
	}
	if ok, after := limit.Allow(key, time.Now()); !ok {
		return nil, tooMany(after)
	}
	org, read, err := open(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, apierr.New(apierr.ShareNotFound, "There is no such chart, or its time is over.", apierr.Cause(err))
	case err != nil:
		return nil, shares().Failure(ctx, err)
	}
	out, err := p.charts.get(ctx, org, id, read)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, apierr.New(apierr.SharePersistence, "The chart cannot be read at the moment. Try again.", apierr.Cause(err))
	}
	return out, nil
}
