package productevents

import (
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// TestFunnelNamesUnknownEvents: a step whose event nobody sends has a warning with the nearest name. A step that nobody reached,
// but whose event exists, has none. Events of other organizations are unknown.
func TestFunnelNamesUnknownEvents(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_funnel_names"
	at := time.Now().UTC().Truncate(time.Hour).Add(-3 * time.Hour)
	row := func(org, session string, seq int, name string) []any {
		return []any{org, session, at.Add(time.Duration(seq) * time.Second), name, "visitor"}
	}
	if err := w.InsertRows(t.Context(), "product_events",
		strings.Fields("OrgId SessionId Timestamp Name VisitorId"), [][]any{
			row(org, "s1", 1, "added to cart"), row(org, "s1", 2, "product viewed"), row("org_funnel_other", "s2", 1, "checkout started"),
		}, ""); err != nil {
		t.Fatal(err)
	}
	ask := func(names ...string) string {
		req := &svcv2.SearchProductEventFunnelRequest{StartTime: timestamppb.New(at.Add(-time.Hour)), EndTime: timestamppb.New(at.Add(time.Hour))}
		for _, name := range names {
			req.Steps = append(req.Steps, &svcv2.ProductEventStep{Kind: "event", EventName: &name})
		}
		res, err := New(w).SearchProductEventFunnel(warehousetest.As(t.Context(), org), req)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(res.GetWarnings(), "; ")
	}
	const listed = " The names in this window are added to cart, product viewed."
	for steps, want := range map[string]string{
		"added to cart,product viewed": "",
		"product viewed,added to cart": "", // the second step exists, but nobody reached it
		"product viewed,add to cart": `No product event "add to cart" was received in this window; the nearest name is "added to cart".` +
			listed,
		"product viewed,checkout started": `No product event "checkout started" was received in this window.` + listed,
	} {
		if got := ask(strings.Split(steps, ",")...); got != want {
			t.Errorf("%s: %q, want %q", steps, got, want)
		}
	}
}
