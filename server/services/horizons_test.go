package services_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
)

// TestHorizonsOfSpans compares the conditions of the two statements that find traces by random filters. The horizon of a slice only
// bounds the cost of a page: with other conditions than the search, the pages of TestFiltersAgree would stay right.
func TestHorizonsOfSpans(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 2))
	items := []item{{id: "0af7651916cd43dd8448eb211c80319c", spanID: "b7ad6b7169203331"}}
	w := query.Window{Start: time.Unix(1_700_000_000, 0).UTC(), End: time.Unix(1_700_003_600, 0).UTC()}
	filtered := 0
	for range 300 {
		filters := randomTraceFilters(r, items)
		f := must[query.Filter](t, filters)(query.TraceFilter(filters))
		b := &sqlbuild.Builder{}
		want, wantArgs := strings.Join(query.FilterSQL(b, query.Traces, f), " AND "), b.Args
		if want = strings.Join(strings.Fields(want), " "); want != "" {
			filtered++
		}
		for name, s := range map[string]sqlbuild.Statement{
			"the horizon": reads.SpanHorizon(w, f, 84), "the matching traces": reads.MatchingTraces(w, f, 1001),
		} {
			got, args := filterOf(t, s)
			if got != want || !cmp.Equal(args, wantArgs, cmpopts.EquateEmpty()) {
				t.Fatalf("%s of %v has the conditions\n%s\nwith %v, the filter has\n%s\nwith %v", name, filters, got, args, want, wantArgs)
			}
		}
	}
	if filtered < 250 {
		t.Errorf("only %d of 300 filters have conditions", filtered)
	}
}

// filterOf returns the conditions of a statement that follow those on the organization and the time, and their parameters.
func filterOf(t *testing.T, s sqlbuild.Statement) (conditions string, args []warehouse.Arg) {
	t.Helper()
	text := strings.Join(strings.Fields(s.SQL), " ")
	_, text, hasWhere := strings.Cut(text, "Int64}, 'UTC') AND Timestamp <= ")
	_, text, hasEnd := strings.Cut(text, "Int64}, 'UTC')")
	if !hasWhere || !hasEnd {
		t.Fatalf("the conditions on the time are not where they were: %s", s.SQL)
	}
	text, _, _ = strings.Cut(text, " ORDER BY ")
	text, _, _ = strings.Cut(text, " LIMIT ")
	return strings.TrimPrefix(text, " AND "), slices.DeleteFunc(slices.Clone(s.Args), func(a warehouse.Arg) bool {
		return slices.Contains([]string{"lo", "hi", "reach_hi", "limit"}, a.Name)
	})
}
