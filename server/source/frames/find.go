package frames

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"
)

// Tree is the files of a commit.
type Tree interface {
	// Named returns the paths of the text files that have one of these names, by name.
	Named(names map[string]bool) map[string][]string
	Text(path string) ([]byte, error)
}

// Mapping is a difference of paths that is proven.
type Mapping struct {
	From, To string
	// Calls is the number of calls that prove it.
	Calls int
}

// Found is the answer of Find.
type Found struct {
	// Files has the file of each call, or "" where none is proven.
	Files    []string
	Mappings []Mapping
	// Proven is the number of different calls that are found by mappings, Paths that of their files.
	Proven, Paths int
}

// Bounds of a search.
const (
	maxCalls      = 250 // different calls that are looked at
	maxCandidates = 24  // files with the name of a call; of more, those whose folders agree best
	maxTexts      = 160 // files that are read
)

// candidate is a mapping that a file suggests.
type candidate struct {
	from, to []string
	// by holds the calls that are found by it.
	by      map[string]bool
	refuted bool
}

// search is one run of Find.
type search struct {
	tree  Tree
	texts map[string][]byte
	err   error
}

// Find searches the files of calls. The evidence is further calls of the same program at the same commit, which prove mappings.
func Find(ctx context.Context, tree Tree, calls, evidence []Call) (Found, error) {
	s := &search{tree: tree, texts: map[string][]byte{}}
	all := different(append(slices.Clone(calls), evidence...))
	names := map[string]bool{}
	for _, c := range all {
		names[c.file()] = true
	}
	files := map[string][][]string{}
	for name, paths := range tree.Named(names) {
		for _, path := range paths {
			files[name] = append(files[name], strings.Split(path, "/"))
		}
	}
	mappings := map[string]*candidate{}
	for _, c := range all {
		if err := ctx.Err(); err != nil {
			return Found{}, err
		}
		for _, file := range nearest(c, files[c.file()]) {
			if s.verify(c, file) != verified {
				continue
			}
			from, to := difference(c.Path, file)
			key := strings.Join(from, "/") + "\x00" + strings.Join(to, "/")
			m := mappings[key]
			if m == nil {
				m = &candidate{from: from, to: to, by: map[string]bool{}}
				mappings[key] = m
			}
			m.by[c.key()] = true
		}
	}
	if s.err != nil {
		return Found{}, s.err
	}
	exists := map[string]bool{}
	for _, list := range files {
		for _, file := range list {
			exists[strings.Join(file, "/")] = true
		}
	}
	var proven []*candidate
	for _, m := range mappings {
		if len(m.by) >= Proof {
			proven = append(proven, m)
		}
	}
	for _, m := range proven {
		for _, c := range all {
			if s.refutes(c, m, proven, exists) {
				m.refuted = true
				break
			}
		}
	}
	proven = slices.DeleteFunc(proven, func(m *candidate) bool { return m.refuted })
	slices.SortFunc(proven, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(len(b.by), len(a.by)), slices.Compare(a.from, b.from), slices.Compare(a.to, b.to))
	})
	return answer(calls, all, proven), s.err
}

// answer gives each call the one file that the mappings lead to. A call that they lead to two files has none.
func answer(calls, all []Call, proven []*candidate) Found {
	found := Found{Files: make([]string, len(calls))}
	fileOf := func(c Call) string {
		file := ""
		for _, m := range proven {
			if !m.by[c.key()] {
				continue
			}
			path, _ := m.file(c)
			if file != "" && file != path {
				return ""
			}
			file = path
		}
		return file
	}
	for i, c := range calls {
		found.Files[i] = fileOf(c)
	}
	paths := map[string]bool{}
	for _, c := range all {
		if file := fileOf(c); file != "" {
			found.Proven++
			paths[file] = true
		}
	}
	found.Paths = len(paths)
	for _, m := range proven {
		found.Mappings = append(found.Mappings, Mapping{join(m.from), join(m.to), len(m.by)})
	}
	return found
}

// different returns each call once.
func different(calls []Call) []Call {
	seen := map[string]bool{}
	var out []Call
	for _, c := range calls {
		if key := c.key(); !seen[key] && len(out) < maxCalls {
			seen[key] = true
			out = append(out, c)
		}
	}
	return out
}

// nearest bounds the files that a call may mean: those whose folders agree best. Where the bound would part files that agree equally, these
// are left out together.
func nearest(c Call, files [][]string) [][]string {
	if len(files) <= maxCandidates {
		return files
	}
	files = slices.Clone(files)
	agree := func(file []string) int { return common(c.Path, file) }
	slices.SortStableFunc(files, func(a, b []string) int { return cmp.Compare(agree(b), agree(a)) })
	n := maxCandidates
	for n > 0 && agree(files[n-1]) == agree(files[maxCandidates]) {
		n--
	}
	return files[:n]
}

// common counts the names at the end of two paths that agree.
func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	return n
}

func difference(path, file []string) (from, to []string) {
	n := common(path, file)
	return path[:len(path)-n], file[:len(file)-n]
}

// file is the file of a call by a mapping. It is not ok for a call outside of its folder.
func (m *candidate) file(c Call) (path string, ok bool) {
	if len(c.Path) <= len(m.from) || !slices.Equal(c.Path[:len(m.from)], m.from) {
		return "", false
	}
	return join(append(slices.Clone(m.to), c.Path[len(m.from):]...)), true
}

func join(names []string) string {
	if len(names) > 0 && names[0] == "/" {
		return "/" + strings.Join(names[1:], "/")
	}
	return strings.Join(names, "/")
}

// refutes reports whether a call speaks against a mapping: the file that the mapping names ends before the line; or it does not have the
// function, and the file of another mapping has it; or it does not exist, although the mapping stands for a whole folder of the machine.
func (s *search) refutes(c Call, m *candidate, others []*candidate, exists map[string]bool) bool {
	path, ok := m.file(c)
	if !ok || m.by[c.key()] {
		return false
	}
	explained := func(by func(*candidate) bool) bool {
		return slices.ContainsFunc(others, func(o *candidate) bool { return o != m && o.by[c.key()] && by(o) })
	}
	if !exists[path] {
		rooted := len(m.from) > 0 && (m.from[0] == "/" || strings.HasSuffix(m.from[0], ":"))
		inner := func(o *candidate) bool { return len(o.from) > len(m.from) }
		return rooted && !built(c.Path[len(m.from):]) && !explained(inner)
	}
	switch s.verify(c, strings.Split(path, "/")) {
	case noLine:
		return true
	case noName:
		return explained(func(*candidate) bool { return true })
	}
	return false
}

// built reports whether a path lies in a folder for the products of a build, which a commit does not have.
func built(path []string) bool {
	for _, name := range path[:len(path)-1] {
		switch name {
		case "dist", "build", "out", "target", "bin", "obj", "lib-cov", ".next", ".nuxt", "generated", "gen", "_build", "deps", "node_modules":
			return true
		}
	}
	return false
}

// How a file fits a call.
type fit int

const (
	verified fit = iota
	noLine
	noName
	unread
)

// verify reads the file and compares it with the call.
func (s *search) verify(c Call, file []string) fit {
	path := join(file)
	text, known := s.texts[path]
	if !known {
		if len(s.texts) == maxTexts || s.err != nil {
			return unread
		}
		if text, s.err = s.tree.Text(path); s.err != nil {
			return unread
		}
		s.texts[path] = text
	}
	start, end, ok := lineOf(text, c.Line)
	if !ok || len(bytes.TrimSpace(text[start:end])) == 0 {
		return noLine
	}
	if c.Name != "" && !hasWord(text[:end], c.Name) {
		return noName
	}
	return verified
}

// lineOf returns the bounds of a line of a text.
func lineOf(text []byte, line int) (start, end int, ok bool) {
	for ; line > 1; line-- {
		i := bytes.IndexByte(text[start:], '\n')
		if i < 0 {
			return 0, 0, false
		}
		start += i + 1
	}
	if start == len(text) {
		return 0, 0, false
	}
	if i := bytes.IndexByte(text[start:], '\n'); i >= 0 {
		return start, start + i, true
	}
	return start, len(text), true
}
