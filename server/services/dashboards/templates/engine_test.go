package templates

import (
	"os"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// TestStatements runs every statement of the templates on the engine, with their macros replaced. The tables and columns exist,
// and a value of a parameter stays inside its quotes.
func TestStatements(t *testing.T) {
	w := warehousetest.Shared(t)
	macros := strings.NewReplacer("$__orgFilter", "OrgId = 'org_templates'", "$__timeFilter(Timestamp)", "Timestamp > now() - INTERVAL 1 HOUR")
	run := 0
	for _, template := range All() {
		for _, values := range []map[string]string{nil, {"service_name": `a'b\c`}} {
			for _, widget := range template.Build(values).Widgets {
				text := widget.DataSource.GetSql()
				if text == "" {
					continue
				}
				run++
				var out strings.Builder
				if err := w.RawQuery(t.Context(), macros.Replace(text), "TSVWithNames", &out); err != nil {
					t.Errorf("%s, %s: %v", template.Slug, widget.Id, err)
					continue
				}
				header, _, _ := strings.Cut(out.String(), "\n")
				fields := strings.Split(header, "\t")
				for _, c := range widget.Display.Columns {
					if !strings.Contains("\t"+header+"\t", "\t"+c.Field+"\t") {
						t.Errorf("%s, %s: the column %s is not one of %s", template.Slug, widget.Id, c.Field, fields)
					}
				}
			}
		}
	}
	if run == 0 {
		t.Error("no template has a statement")
	}
}

// TestStatementsAreWeighted checks that a span that stands for ten counts as ten, in every statement that counts or computes a
// quantile.
func TestStatementsAreWeighted(t *testing.T) {
	w := warehousetest.Shared(t)
	// One failed span of 1 s stands for ten spans; nineteen spans of 1 ms stand for themselves. Without weights, the 95th
	// percentile would be 1 ms.
	if err := w.Exec(t.Context(), `INSERT INTO spans (OrgId, Timestamp, TraceId, SpanId, SpanName, SpanKind, ServiceName, DurationNano, StatusCode, StatusMessage, HasError, IsEntry, SampleRate)
		SELECT 'org_weighted', now64(9) - toIntervalMinute(5), lower(hex(MD5(toString(number)))), lower(leftPad(hex(number + 1), 16, '0')), 'op', 'Server', 'checkout',
			if(number = 0, 1000000000, 1000000), if(number = 0, 'Error', 'Unset'), if(number = 0, 'card declined', ''), number = 0, true, if(number = 0, 10, 1)
		FROM numbers(20)`); err != nil {
		t.Fatal(err)
	}
	macros := strings.NewReplacer("$__orgFilter", "OrgId = 'org_weighted'", "$__timeFilter(Timestamp)", "Timestamp > now() - INTERVAL 1 HOUR")
	for template, want := range map[string]map[string]string{
		"platform-overview": {"Service Overview": "checkout\t29\t1000\t10\n"},
		"error-tracking":    {"Errors by Type": "card declined\t10\t1\n"}, "top-errors": {"Errors by Type": "card declined\t10\t1\n"},
	} {
		for _, widget := range Find(template).Build(nil).Widgets {
			title := widget.GetDisplay().GetTitle()
			if want[title] == "" {
				continue
			}
			var out strings.Builder
			if err := w.RawQuery(t.Context(), macros.Replace(widget.DataSource.GetSql()), "TSV", &out); err != nil || out.String() != want[title] {
				t.Errorf("%s, %s: %q, want %q (%v)", template, title, out.String(), want[title], err)
			}
			delete(want, title)
		}
		if len(want) > 0 {
			t.Errorf("%s has no %v", template, want)
		}
	}
}
