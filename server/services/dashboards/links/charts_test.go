package links

import (
	"context"
	"errors"
	"fmt"
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// TestCharts checks the public reads of charts: the two kinds, their limits, one answer for every miss, and what is kept. A chart ends with
// its subject, also if its data is kept.
func TestCharts(t *testing.T) {
	reads, unread, opened, gone := 0, 0, 0, false
	failing := errors.New("the warehouse says no: SELECT secret")
	opens := func(known string) OpenChart {
		return func(_ context.Context, id string) (principal.OrgID, func(context.Context) (*svcv2.ChartPicture, error), error) {
			opened++
			switch {
			case id == "broken":
				return "", nil, failing
			case id == "unread":
				return "org_a", func(context.Context) (*svcv2.ChartPicture, error) { unread++; return nil, failing }, nil
			case id != known || gone:
				return "", nil, fmt.Errorf("%w: %s is not %s", store.ErrNotFound, id, known)
			}
			return "org_a", func(context.Context) (*svcv2.ChartPicture, error) {
				reads++
				return &svcv2.ChartPicture{Title: known}, nil
			}, nil
		}
	}
	tokens, addresses := &budget{each: 5}, &budget{each: 100}
	p := NewPublic(PublicConfig{
		Alerts: opens("alert"), Chats: opens("chat"), ByToken: tokens, ByAddress: addresses,
		Sealed: func(id string) bool { return id != "a-guess" },
	})
	ctx := principal.WithOrigin(t.Context(), principal.Origin{IP: "10.0.0.1"})
	ask := func(kind, id string) (*svcv2.ChartPicture, error) {
		if kind == "alert" {
			return p.ResolveAlertChart(ctx, &svcv2.ResolveAlertChartRequest{ChartId: id})
		}
		return p.ResolveChatChart(ctx, &svcv2.ResolveChatChartRequest{ChartId: id})
	}
	refused := func(kind, id string, tag apierr.Tag, message string) {
		t.Helper()
		_, err := ask(kind, id)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != tag || e.Message != message {
			t.Errorf("%s %s: %v", kind, id, err)
		}
	}
	for _, kind := range []string{"alert", "chat"} {
		for range 2 {
			if got, err := ask(kind, kind); err != nil || got.GetTitle() != kind {
				t.Errorf("%s: %v %v", kind, got, err)
			}
		}
	}
	if reads != 2 {
		t.Errorf("two charts were read %d times", reads)
	}
	const missing, later = "There is no such chart, or its time is over.", "The chart cannot be read at the moment. Try again."
	refused("alert", "chat", apierr.ShareNotFound, missing)
	refused("chat", "alert", apierr.ShareNotFound, missing)
	refused("chat", "a-guess", apierr.ShareNotFound, missing)
	refused("alert", "unread", apierr.SharePersistence, later)
	refused("alert", "unread", apierr.SharePersistence, later)
	if unread != 1 {
		t.Errorf("a chart that fails was read %d times in a row", unread)
	}
	refused("alert", "broken", apierr.SharePersistence, "Share links cannot be read or changed at the moment. Try again.")
	if len(tokens.used) != 4 || tokens.used["chart a-guess"] != 0 {
		t.Errorf("guesses are counted as charts: %v", tokens.used)
	}
	gone = true
	refused("alert", "alert", apierr.ShareNotFound, missing)
	gone = false
	if _, err := ask("alert", "alert"); err != nil {
		t.Errorf("the last request for a chart: %v", err)
	}
	// Both ends take from one limit, and ask the store for nothing when it is used up.
	before := opened
	refused("alert", "alert", apierr.ShareRateLimited, "Too many requests. Try again later.")
	refused("chat", "alert", apierr.ShareRateLimited, "Too many requests. Try again later.")
	// An address is limited in guesses. A chart that is asked for by the other kind, or whose subject is gone, does not exist.
	if got := addresses.used["10.0.0.1"]; got != 1 {
		t.Errorf("%d requests of the address count, want the one for a guess", got)
	}
	addresses.each = 0
	refused("chat", "a-guess", apierr.ShareRateLimited, "Too many requests. Try again later.")
	if opened != before {
		t.Errorf("charts were looked up %d times without a budget", opened-before)
	}
	if _, err := ask("chat", "chat"); err != nil {
		t.Errorf("a chart that exists: %v", err)
	}
}
