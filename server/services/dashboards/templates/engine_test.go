package templates

import (
	"os"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// TestStatements runs every statement of the templates on the engine, with the macros as one may replace them: the tables and columns
// exist, and a value of a parameter stays inside its quotes.
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
						t.Errorf("%s, %s: the column %s is none of %s", template.Slug, widget.Id, c.Field, fields)
					}
				}
			}
		}
	}
	if run == 0 {
		t.Error("no template has a statement")
	}
}
