package shardtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// Check runs each statement on the plain tables and on two shards, and compares the answers. empty names the statements that find no
// row of the demo; any other statement must find one, because two answers without rows prove little.
func (b *Bed) Check(t *testing.T, statements map[string]sqlbuild.Statement, empty string) {
	t.Helper()
	none := map[string]bool{}
	for _, name := range strings.Fields(empty) {
		none[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(statements)) {
		s := statements[name]
		plain, err := b.Plain(t.Context(), s)
		if err != nil {
			t.Errorf("%s fails on plain tables: %v", name, err)
			continue
		}
		sharded, err := b.Sharded(t.Context(), s)
		if err != nil {
			t.Errorf("%s fails on two shards: %v", name, err)
			continue
		}
		if (plain == "") != none[name] {
			t.Errorf("%s finds %d bytes of rows in the demo, and the list of statements that find none says otherwise", name, len(plain))
		}
		if !strings.Contains(s.SQL, "\nORDER BY") { // the rows come in any order
			plain, sharded = sorted(plain), sorted(sharded)
		}
		if problem := differ(rows(t, plain), rows(t, sharded), digests.MatchString(s.SQL)); problem != "" {
			t.Errorf("%s has other rows on two shards: %s", name, problem)
		}
		delete(none, name)
	}
	if len(none) > 0 {
		t.Errorf("there are no statements %v", slices.Sorted(maps.Keys(none)))
	}
}

// digests matches the functions whose result depends on the order in which states are merged.
var digests = regexp.MustCompile(`[tT]Digest`)

// These are the relative differences that two answers may have. A sum of floating-point numbers depends on their order. So does a
// digest: each of the two may be off by one percent.
const (
	sumError    = 1e-9
	digestError = 0.02
)

func sorted(lines string) string { return strings.Join(slices.Sorted(strings.Lines(lines)), "") }

func rows(t *testing.T, lines string) (out []any) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var row any
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out = append(out, row)
	}
	return out
}

// differ describes the first difference.
func differ(a, b any, digest bool) string {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return fmt.Sprintf("%.500s and %.500s", fmt.Sprint(a), fmt.Sprint(b))
		}
		for i := range a {
			if problem := differ(a[i], b[i], digest); problem != "" {
				return fmt.Sprintf("%d: %s", i, problem)
			}
		}
		return ""
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return fmt.Sprintf("%v and %v", a, b)
		}
		for k := range a {
			if problem := differ(a[k], b[k], digest); problem != "" {
				return k + ": " + problem
			}
		}
		return ""
	case float64:
		b, ok := b.(float64)
		allowed := sumError
		if digest {
			allowed = digestError
		}
		if ok && math.Abs(a-b) <= allowed*max(math.Abs(a), math.Abs(b)) {
			return ""
		}
	}
	if a == b {
		return ""
	}
	return fmt.Sprintf("%v and %v", a, b)
}
