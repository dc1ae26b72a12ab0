package frames_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/source/frames"
	"github.com/svc-observability/svc/server/stacktrace"
)

// tree is files by path.
type tree map[string]string

func (t tree) Named(names map[string]bool) map[string][]string {
	out := map[string][]string{}
	for file := range t {
		if names[path.Base(file)] {
			out[path.Base(file)] = append(out[path.Base(file)], file)
		}
	}
	return out
}

func (t tree) Text(file string) ([]byte, error) {
	text, ok := t[file]
	if !ok {
		return nil, errors.New("no file " + file)
	}
	return []byte(text), nil
}

// stack is the calls of one stack of the corpus.
type stack struct {
	language, name string
	calls          []frames.Call
}

// stacks reads the corpus of package errorgroup: stacks of twelve languages as their runtimes print them.
func stacks(t *testing.T) []stack {
	t.Helper()
	files, err := filepath.Glob("../../errorgroup/testdata/corpus/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all []stack
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq("\n"+string(text), "\n=== ") {
			head, body, ok := strings.Cut(part, "\n---\n")
			if !ok {
				continue
			}
			name, rest, _ := strings.Cut(head, "\n")
			s := stack{language: strings.TrimSuffix(filepath.Base(file), ".txt"), name: name}
			message := ""
			for line := range strings.Lines(rest) {
				if m, ok := strings.CutPrefix(line, "message: "); ok {
					message = strings.ReplaceAll(strings.TrimSpace(m), `\n`, "\n")
				}
			}
			var parsed stacktrace.Stack
			parsed.Parse(strings.TrimRight(body, "\n"), message)
			for i := range parsed.Sections {
				for j := range parsed.Sections[i].Frames {
					if c, ok := frames.Of(&parsed.Sections[i].Frames[j]); ok {
						s.calls = append(s.calls, c)
					}
				}
			}
			all = append(all, s)
		}
	}
	return all
}

// place is the file of a commit for a path of a stack, and the truth of the test. Layouts are those of real repositories: the container
// holds the whole repository, or one of its folders.
func place(call frames.Call, language, layout string) string {
	names := call.Path
	switch {
	case names[0] == "/" && len(names) > 2:
		names = names[2:] // /app, /src, /srv
	case names[0] == "/":
		names = names[1:]
	case strings.HasSuffix(names[0], ":"):
		names = names[min(2, len(names)-1):]
	case strings.HasPrefix(names[0], "package:"):
		names = append([]string{"lib"}, names[1:]...)
	case language == "java" || language == "kotlin" || language == "scala":
		names = append([]string{"src", "main", language}, names...)
	}
	return path.Join(append([]string{layout}, names...)...)
}

// plant writes the files of calls: each line that a stack names, with the name of its function.
func plant(calls []frames.Call, file func(frames.Call) string) tree {
	lines := map[string]map[int][]string{}
	for _, c := range calls {
		f := file(c)
		if lines[f] == nil {
			lines[f] = map[int][]string{}
		}
		lines[f][c.Line] = append(lines[f][c.Line], c.Name)
	}
	t := tree{}
	for f, named := range lines {
		var b strings.Builder
		last := 0
		for line := range named {
			last = max(last, line)
		}
		for n := 1; n <= last+3; n++ {
			if names, ok := named[n]; ok {
				fmt.Fprintf(&b, "x = %s(y)\n", strings.Join(names, "("))
			} else {
				b.WriteString("nothing here\n")
			}
		}
		t[f] = b.String()
	}
	return t
}

// TestPlanted maps the stacks of the corpus to planted repositories: each call has its file or none, never a wrong one.
func TestPlanted(t *testing.T) {
	all := stacks(t)
	byLanguage := map[string][]stack{}
	for _, s := range all {
		byLanguage[s.language] = append(byLanguage[s.language], s)
	}
	random := rand.New(rand.NewPCG(19, 4))
	layouts := []string{"", "services/shop", "backend"}
	right, wrong, none := map[string]int{}, 0, map[string]int{}
	for language, list := range byLanguage {
		var calls []frames.Call
		for _, s := range list {
			calls = append(calls, s.calls...)
		}
		if len(calls) == 0 {
			continue
		}
		for round := range 12 {
			layout := layouts[round%len(layouts)]
			truth := func(c frames.Call) string { return place(c, language, layout) }
			files := plant(calls, truth)
			decoys(random, files)
			for _, s := range list {
				if len(s.calls) == 0 {
					continue
				}
				// Other errors of the service are the evidence.
				evidence := slices.Clone(calls)
				random.Shuffle(len(evidence), func(i, j int) { evidence[i], evidence[j] = evidence[j], evidence[i] })
				evidence = evidence[:random.IntN(len(evidence)+1)]
				found, err := frames.Find(t.Context(), files, s.calls, evidence)
				if err != nil {
					t.Fatal(err)
				}
				for i, file := range found.Files {
					switch file {
					case truth(s.calls[i]):
						right[language]++
					case "":
						none[language]++
					default:
						wrong++
						t.Errorf("%s/%s: %v is %s, want %s", language, s.name, s.calls[i], file, truth(s.calls[i]))
					}
				}
			}
		}
	}
	languages := 0
	for language := range byLanguage {
		n, of := right[language], right[language]+none[language]
		if of == 0 {
			continue
		}
		languages++
		t.Logf("%-10s %5d of %5d calls have their file, %3.0f %%", language, n, of, 100*float64(n)/float64(of))
		if n == 0 {
			t.Errorf("no call of %s has its file", language)
		}
	}
	if languages < 13 || wrong != 0 {
		t.Errorf("%d languages, %d wrong", languages, wrong)
	}
}

// decoys adds files with the names of others in other folders: some are short, some have other functions, some are drafts of the real one.
func decoys(random *rand.Rand, files tree) {
	var paths []string
	for file := range files {
		paths = append(paths, file)
	}
	slices.Sort(paths)
	for _, file := range paths {
		folder := []string{"legacy", "test/fixtures", "examples/" + path.Dir(file), "old/shop"}[random.IntN(4)]
		decoy := path.Join(folder, path.Base(file))
		if _, there := files[decoy]; there {
			continue
		}
		switch random.IntN(4) {
		case 0:
			files[decoy] = "short\n"
		case 1:
			files[decoy] = strings.Repeat("other code\n", 2000)
		case 2: // a draft, whose lines moved
			files[decoy] = "// draft\n\n" + files[file]
		}
	}
}

// TestForeign maps the stacks to repositories that do not have their code: no call has a file.
func TestForeign(t *testing.T) {
	all := stacks(t)
	random := rand.New(rand.NewPCG(4, 19))
	for _, s := range all {
		var others []frames.Call
		for _, o := range all {
			if o.language != s.language || o.name != s.name {
				others = append(others, o.calls...)
			}
		}
		// The files of the stack, with the right names and other code.
		files := tree{}
		for _, c := range s.calls {
			files[place(c, s.language, "")] = strings.Repeat("other code\n", 1+random.IntN(400))
		}
		found, err := frames.Find(t.Context(), files, s.calls, others[:min(40, len(others))])
		if err != nil {
			t.Fatal(err)
		}
		for i, file := range found.Files {
			if file != "" && s.calls[i].Name != "" {
				t.Errorf("%s/%s: %v is %s", s.language, s.name, s.calls[i], file)
			}
		}
	}
}
