package warehouse_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/svc-observability/svc/server/warehouse"
)

// TestAdviceIsWeighted: whoever follows an example gets figures that are corrected for sampling.
func TestAdviceIsWeighted(t *testing.T) {
	t.Parallel()
	unweighted := regexp.MustCompile(
		`\b(avg|median|quantiles?|quantilesTDigestMerge)(\([0-9., ]+\))?\((DurationNano|DurationQuantiles)|\bsum\((SpanCount|ErrorCount)\)`)
	texts := map[string]string{}
	for _, o := range warehouse.SQLTables() {
		texts["the example of "+o.Name] = o.Example
		for _, note := range o.Notes {
			texts["a note of "+o.Name+": "+note] = note
		}
	}
	for _, file := range []string{"../../docs/sql.md", "../web/ui/src/pages/sql/index.tsx", "../web/ui/src/sql/complete.ts"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[file] = string(text)
	}
	for where, text := range texts {
		if found := unweighted.FindString(text); found != "" {
			t.Errorf("%s advises %s), which is of the received spans", where, found)
		}
	}
	offered := regexp.MustCompile(`(?m)^  "(\w+)`).FindAllStringSubmatch(texts["../web/ui/src/sql/complete.ts"], -1)
	for _, name := range []string{"avgWeighted", "quantileTDigestWeighted", "quantilesTDigestWeighted"} {
		if !slices.ContainsFunc(offered, func(m []string) bool { return m[1] == name }) {
			t.Errorf("the editor does not offer %s", name)
		}
	}
}
