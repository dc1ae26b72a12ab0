package suspects

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/source"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func commitAt(sha string, minutes int) source.Commit {
	return source.Commit{SHA: sha, CommittedAt: noon.Add(time.Duration(minutes) * time.Minute), Parents: 1}
}

// patch changes one line of a file.
func patch(line int) string {
	return fmt.Sprintf("@@ -%d,3 +%[1]d,3 @@ func x\n before\n-old\n+new\n after", line-1)
}

func TestRank(t *testing.T) {
	places := []Place{{"cart.js", 40}, {"charge.js", 10}, {"cart.js", 100}}
	changed := func(path string, line int) []source.FileChange {
		return []source.FileChange{{Path: "README.md", Patch: patch(40)}, {Path: path, Status: "modified", Patch: patch(line)}}
	}
	list := []Candidate{
		{commitAt("far-new", 50), changed("cart.js", 70)},
		{commitAt("far-old", 10), changed("cart.js", 70)},
		{commitAt("near-deep", 60), changed("charge.js", 12)},
		{commitAt("near-top", 5), changed("cart.js", 45)},
		{commitAt("near-third", 90), changed("cart.js", 98)},
		{commitAt("elsewhere", 99), changed("other.js", 40)},
		{commitAt("removed", 98), []source.FileChange{{Path: "cart.js", Status: "removed", Patch: patch(40)}}},
	}
	var got []string
	for _, s := range Rank(places, list, 10) {
		got = append(got, fmt.Sprint(s.SHA, " ", s.Path, ":", s.Line, " ", s.Near))
	}
	want := []string{
		"near-top cart.js:40 true", "near-deep charge.js:10 true", "near-third cart.js:100 true", "far-new cart.js:40 false",
		"far-old cart.js:40 false",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if n := len(Rank(places, list, 3)); n != 3 {
		t.Errorf("%d suspects, want 3", n)
	}
}

func TestTouches(t *testing.T) {
	for _, c := range []struct {
		patch string
		line  int
		want  bool
	}{
		{patch(40), 45, true},
		{patch(40), 46, false},
		{patch(40), 35, true},
		{patch(40), 34, false},
		{"@@ -0,0 +1,2 @@\n+one\n+two", 2, true},
		{"@@ -10,2 +9,0 @@\n-gone\n-gone", 9, true}, // only lines removed
		{"@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file", 1, true},
		{"", 1, false},
		{"+no hunk", 1, false},
	} {
		if got := touches(c.patch, c.line); got != c.want {
			t.Errorf("%q line %d: %v", c.patch, c.line, got)
		}
	}
}

func TestEligible(t *testing.T) {
	sha := strings.Repeat("a1", 20)
	ignored := Ignored([]byte("# the formatter\n" + sha + " # since 2026\nnot a commit\n"))
	if len(ignored) != 1 {
		t.Errorf("ignored: %v", ignored)
	}
	merge := commitAt("m", 0)
	merge.Parents = 2
	for _, c := range []struct {
		commit source.Commit
		want   bool
	}{
		{commitAt("x", -1), true}, {commitAt("x", 0), true}, {commitAt("x", 1), false}, {merge, false}, {commitAt(sha, -1), false},
	} {
		if got := Eligible(c.commit, noon, ignored); got != c.want {
			t.Errorf("%+v: %v", c.commit, got)
		}
	}
}
