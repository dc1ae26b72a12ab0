package read_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestContains searches texts without regard to case, and in a bounded time whatever the texts are.
func TestContains(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	found := func(value, text string) (yes bool) {
		t.Helper()
		sql := "SELECT " + sqlbuild.Contains(value, "{text:String}", text) + " WHERE {org:String} != ''"
		if err := w.QueryRow(t.Context(), principal.OrgID("org_contains"), sql,
			[]warehouse.Arg{warehouse.Named("text", text)}, &yes); err != nil {
			t.Fatalf("%.40s in %.40s: %v", text, value, err)
		}
		return yes
	}
	for _, tt := range []struct {
		value, text string
		want        bool
	}{
		{"Card DECLINED", "card declined", true},
		{"card declined", "DECLINED!", false},
		{"Änderung der Straße", "ÄNDERUNG", true},
		{"ÄNDERUNG", "änderung", true},
		{"ΟΔΥΣΣΕΥΣ ΛΑΕΡΤΙΑΔΗΣ", "οδυσσευς", true},
		{"Οδυσσευς", "ΟΔΥΣ", true},
		{"ΣΑΣΑ", "ας", true},
		{"日本語 TEXT", "本語 text", true},
		{"100% of_it", "0% OF_", true},
		{"x", "", true},
	} {
		if got := found(fmt.Sprintf("materialize('%s')", tt.value), tt.text); got != tt.want {
			t.Errorf("%q in %q: %v", tt.text, tt.value, got)
		}
	}
	// 1,000 bytes in 5 MB: positionCaseInsensitiveUTF8 takes more than a minute for the first.
	for _, text := range []string{
		strings.Repeat("a", 999) + "b", "b" + strings.Repeat("a", 999), strings.Repeat("a", 500) + "b" + strings.Repeat("a", 499),
		strings.Repeat("ä", 499) + "b", strings.Repeat("σ", 499) + "b", strings.Repeat("a", 250) + "ba", strings.Repeat("ab", 250) + "c",
	} {
		unit := text[:1]
		if text[0] >= 0x80 {
			unit = text[:2]
		}
		begun := time.Now()
		million := fmt.Sprintf("repeat(materialize('%s'), 1000000)", unit)
		if found("concat("+strings.Join([]string{million, million, million, million, million}, ", ")+")", text) {
			t.Errorf("found %.20s…", text)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("a search for %.20s… takes %s", text, took)
		}
	}
}
