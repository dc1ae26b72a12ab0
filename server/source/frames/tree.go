package frames

import (
	"errors"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/source/pack"
)

// packTree is the files of a pack.
type packTree struct{ *pack.Pack }

// FromPack returns the files of a pack.
func FromPack(p *pack.Pack) Tree { return packTree{p} }

func (t packTree) Named(names map[string]bool) map[string][]string {
	out := map[string][]string{}
	for _, f := range t.Files("") {
		if name := path.Base(f.Path); f.Kind == pack.Text && names[name] {
			out[name] = append(out[name], f.Path)
		}
	}
	return out
}

func (t packTree) Text(path string) ([]byte, error) {
	text, _, err := t.Read(path)
	if errors.Is(err, pack.ErrNotFound) {
		return nil, nil
	}
	return text, err
}

// Context is the lines around a line.
type Context struct {
	// Start is the number of the first line.
	Start int
	Lines []string
}

// Around returns the line of a text with as many lines before and behind it as there are, each cut to a number of characters.
func Around(text []byte, line, before, width int) Context {
	all := strings.Split(strings.TrimSuffix(strings.ToValidUTF8(string(text), "\uFFFD"), "\n"), "\n")
	c := Context{Start: max(1, line-before)}
	for _, l := range all[min(c.Start-1, len(all)):min(line+before, len(all))] {
		l = strings.TrimSuffix(l, "\r")
		if utf8.RuneCountInString(l) > width {
			l = string([]rune(l)[:width])
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}
