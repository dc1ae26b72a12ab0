package errorevents

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestLoggedSample: an exception that was logged, too, is shown by its span, which has a name and a duration. One that was only logged is
// shown by its record. Samples begin with the latest occurrence, whichever of the two it is.
func TestLoggedSample(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_errors_logged"
	at := warehousetest.Noon()
	row := func(trace, span, name, source string, after time.Duration, duration uint64) []any {
		when := at.Add(after)
		return []any{org, uint64(7), when, when.Add(time.Millisecond), trace, span, name, "shop", "no funds", duration, source}
	}
	columns := []string{
		"OrgId", "FingerprintHash", "Timestamp", "OccurredAt", "TraceId", "SpanId", "SpanName", "ServiceName", "ExceptionMessage", "DurationNano",
		"Source",
	}
	rows := [][]any{
		row("aa", "01", "POST /pay", "", 0, 5e6), row("aa", "01", "", "log", 2*time.Millisecond, 0),
		row("bb", "02", "", "log", time.Millisecond, 0),
		row("cc", "03", "GET /cart", "", time.Second, 7e6), row("cc", "04", "GET /early", "", time.Millisecond, 9e6),
		row("cc", "03", "", "log", time.Second, 0),
		row("dd", "05", "GET /old", "", -time.Second, 1e6),
	}
	if err := w.InsertRows(t.Context(), "error_events", columns, rows, ""); err != nil {
		t.Fatal(err)
	}
	window := query.Window{Start: at.Add(-time.Minute), End: at.Add(time.Minute)}
	filters := reads.ErrorFilters{Fingerprints: []uint64{7}, Logs: true}
	found, err := read.All[reads.ErrorSampleRow](t.Context(), w, org, reads.ErrorSamples(window, filters, 3))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range found {
		got = append(got, fmt.Sprintf("%s/%s %q %s", s.TraceID, s.SpanID, s.SpanName, time.Duration(s.DurationNano)))
	}
	want := `cc/03 "GET /cart" 7ms, aa/01 "POST /pay" 5ms, bb/02 "" 0s`
	if strings.Join(got, ", ") != want {
		t.Errorf("samples %s, want %s", strings.Join(got, ", "), want)
	}
	if s := found[1]; !s.Timestamp.Equal(at) || !s.OccurredAt.Equal(at.Add(time.Millisecond)) || s.ServiceName != "shop" ||
		s.Message != "no funds" {
		t.Errorf("the sample: %+v", s)
	}
}
