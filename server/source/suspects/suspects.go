// Package suspects finds the commits that may have brought an error: those that changed the files of its stack between the release before
// and the release in which it began. It ranks them; nobody is blamed or assigned by it.
package suspects

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/source/frames"
)

// Near is the number of lines within which a change counts as one of the line that a call names.
const Near = 5

// Question asks for the suspects of an error.
type Question struct {
	// At is the time at which the error began.
	At time.Time
	// Head is the release in which it began, Base the release before. Base is empty if there was none, or telemetry names none.
	Head, Base frames.Origin
}

// Answer has the suspects, the likeliest first.
type Answer struct {
	Repository string
	// Base and Head are the commits of the releases. Without a base the commits of a time before the error are taken.
	Base, Head string
	// Deployed says that a hosting platform named Base and Head: it had deployed them.
	Deployed bool
	Commits  []Suspect
	// Problem says in a sentence why there are no suspects, if a person can do something about it.
	Problem string
}

// Suspect is a commit and a line of the stack. The commit changed the file of the line.
type Suspect struct {
	source.Commit

	Place
	// Near says that it changed lines within Near of the line.
	Near bool
}

// Place is a line that a call of the stack names.
type Place struct {
	Path string
	Line int
}

// Candidate is a commit with its changes.
type Candidate struct {
	Commit  source.Commit
	Changes []source.FileChange
}

// Eligible reports whether a commit can have brought an error that began at a time. A merge changes nothing itself.
func Eligible(c source.Commit, at time.Time, ignored map[string]bool) bool {
	return c.Parents <= 1 && !c.CommittedAt.After(at) && !ignored[c.SHA]
}

var wholeID = regexp.MustCompile(`(?m)^[ \t]*([0-9a-f]{40})\b`)

// Ignored reads the file .git-blame-ignore-revs: commits that changed only the form of the code.
func Ignored(text []byte) map[string]bool {
	out := map[string]bool{}
	for _, m := range wholeID.FindAllSubmatch(text, -1) {
		out[string(m[1])] = true
	}
	return out
}

// Rank orders candidates: first those that changed lines near a call, then by the place of the call in the stack, then the newest. The
// places are in the order of the stack. A candidate that changed none of their files is left out.
func Rank(places []Place, list []Candidate, most int) []Suspect {
	type ranked struct {
		Suspect
		place int
	}
	var all []ranked
	for _, c := range list {
		var best *ranked
		for i, p := range places {
			change := slices.IndexFunc(c.Changes, func(f source.FileChange) bool { return f.Path == p.Path && f.Status != "removed" })
			if change < 0 {
				continue
			}
			near := touches(c.Changes[change].Patch, p.Line)
			if best == nil || near && !best.Near {
				best = &ranked{Suspect{c.Commit, p, near}, i}
			}
		}
		if best != nil {
			all = append(all, *best)
		}
	}
	slices.SortStableFunc(all, func(a, b ranked) int {
		if a.Near != b.Near {
			if a.Near {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.place, b.place), b.CommittedAt.Compare(a.CommittedAt), cmp.Compare(a.SHA, b.SHA))
	})
	var out []Suspect
	for _, r := range all[:min(len(all), most)] {
		out = append(out, r.Suspect)
	}
	return out
}

var hunk = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// touches reports whether a patch changes a line within Near of a line of the file after it. The lines of later commits may have moved it,
// so this is a hint and no proof.
func touches(patch string, line int) bool {
	at := 0
	for text := range strings.SplitSeq(patch, "\n") {
		if m := hunk.FindStringSubmatch(text); m != nil {
			at, _ = strconv.Atoi(m[1])
			continue
		}
		switch {
		case strings.HasPrefix(text, "+"), strings.HasPrefix(text, "-"):
			if at > 0 && max(at-line, line-at) <= Near {
				return true
			}
			if text[0] == '+' {
				at++
			}
		case strings.HasPrefix(text, " "):
			at++
		}
	}
	return false
}
