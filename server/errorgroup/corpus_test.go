package errorgroup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/errorgroup"
	"github.com/svc-observability/svc/server/golden"
)

// stackCase is one error of testdata/corpus. A file has the errors of a language, each with a head of "key: value" lines. Errors with one
// name belong to one group, and errors with different names to different groups.
type stackCase struct {
	language, name, number string
	variant                errorgroup.Variant
	frames                 []string
	error                  errorgroup.Exception
}

func (c stackCase) String() string { return c.language + "/" + c.name + " " + c.number }

func corpus(t testing.TB) []stackCase {
	t.Helper()
	files, err := filepath.Glob("testdata/corpus/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all []stackCase
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		language := strings.TrimSuffix(filepath.Base(file), ".txt")
		for part := range strings.SplitSeq("\n"+string(text), "\n=== ") {
			if part = strings.TrimPrefix(part, "\n"); part != "" {
				all = append(all, readCase(t, language, part))
			}
		}
	}
	return all
}

func readCase(t testing.TB, language, part string) stackCase {
	t.Helper()
	head, stack, ok := strings.Cut(part, "\n---\n")
	if !ok {
		t.Fatalf("%s: no stack in %q", language, part)
	}
	lines := strings.Split(head, "\n")
	space := strings.LastIndexByte(lines[0], ' ')
	c := stackCase{language: language, name: lines[0][:space], number: lines[0][space+1:]}
	c.error = errorgroup.Exception{Org: "org_corpus", Service: "shop", Stack: strings.TrimRight(stack, "\n")}
	for _, line := range lines[1:] {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch key {
		case "variant":
			c.variant = errorgroup.Variant(value)
		case "type":
			c.error.Type = value
		case "message":
			c.error.Message = strings.ReplaceAll(value, `\n`, "\n")
		case "frame":
			c.frames = append(c.frames, value)
		case "span":
			c.error.SpanName = value
		case "grpc":
			c.error.GRPCStatus = value
		case "http":
			n, err := strconv.ParseUint(value, 10, 16)
			if err != nil {
				t.Fatal(err)
			}
			c.error.HTTPStatus = uint16(n)
		default:
			t.Fatalf("%s: unknown key %q", c, key)
		}
	}
	return c
}

func TestCorpus(t *testing.T) {
	type group struct {
		first stackCase
		hash  uint64
	}
	byName, byHash := map[string]group{}, map[uint64]group{}
	cases := corpus(t)
	languages := map[string]bool{}
	var grouper errorgroup.Grouper
	for _, c := range cases {
		languages[c.language] = true
		g := errorgroup.Of(c.error)
		if g.Variant != c.variant || !slices.Equal(g.Grouping.Frames, c.frames) && c.variant != errorgroup.Message {
			t.Errorf("%s: %s %q, want %s %q", c, g.Variant, g.Grouping.Frames, c.variant, c.frames)
		}
		if len(c.frames) > 0 && g.Frame != c.frames[0] {
			t.Errorf("%s: frame %q, want %q", c, g.Frame, c.frames[0])
		}
		// A Grouper that has seen other errors gives the same group.
		if again := grouper.Of(&c.error); again.Hash != g.Hash || again.Label != g.Label || again.Frame != g.Frame || again.Variant != g.Variant {
			t.Errorf("%s: %+v, and of a Grouper %+v", c, g, again)
		}
		name := c.language + "/" + c.name
		if known, ok := byName[name]; !ok {
			byName[name] = group{c, g.Hash}
		} else if known.hash != g.Hash {
			t.Errorf("%s is not in the group of %s:\n%s\n%s", c, known.first, errorgroup.Of(known.first.error).Grouping.JSON(), g.Grouping.JSON())
		}
		if known, ok := byHash[g.Hash]; !ok {
			byHash[g.Hash] = group{c, g.Hash}
		} else if known.first.language+"/"+known.first.name != name {
			t.Errorf("%s is in the group of %s: %s", c, known.first, g.Grouping.JSON())
		}
		if label := g.Label; label == "" || len(label) > 150 || g.Title == "" {
			t.Errorf("%s: label %q, title %q", c, label, g.Title)
		}
	}
	shapes := 0 // groups of errors with a stack
	for name := range byName {
		if !strings.HasPrefix(name, "message/") {
			shapes++
		}
	}
	if shapes < 200 || len(languages) < 11 {
		t.Errorf("%d shapes of stacks in %d languages", shapes, len(languages))
	}
}

// TestGoldenHashes compares the hashes of version 2 with those that were released. They never change: issues are stored under them. With
// -update, the test adds the hashes of new errors of the corpus, and still fails for one that changed.
func TestGoldenHashes(t *testing.T) {
	if errorgroup.Version != "2" {
		t.Fatalf("the version is %s: keep this file for version 2, and add one for the new version", errorgroup.Version)
	}
	const path = "hashes_v2.txt"
	released := map[string]string{}
	text, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		released[name] = hash
	}
	var b strings.Builder
	for _, c := range corpus(t) {
		hash := fmt.Sprintf("%016x", errorgroup.Of(c.error).Hash)
		if old, ok := released[c.String()]; ok && old != hash {
			t.Fatalf("%s: hash %s, released %s: the hash of a version never changes; make a new version", c, hash, old)
		}
		fmt.Fprintf(&b, "%s %s\n", hash, c)
	}
	golden.Compare(t, path, b.String())
}
