package pack

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// merge joins hits of different terms in one line.
func (s *search) merge() {
	slices.SortStableFunc(s.hits, func(a, b hit) int { return cmp.Compare(a.start, b.start) })
	kept := s.hits[:0]
	for _, h := range s.hits {
		if n := len(kept) - 1; n >= 0 && kept[n].start == h.start {
			kept[n].terms |= h.terms
			continue
		}
		kept = append(kept, h)
	}
	s.hits = kept
}

// lineSet remembers where lines begin. Terms that share a line then count it once.
type lineSet []uint64

// reset empties the set, for a file of that size.
func (s *lineSet) reset(size int) {
	words := size/64 + 1
	*s = slices.Grow((*s)[:0], words)[:words]
	clear(*s)
}

// add reports whether a line is new.
func (s lineSet) add(start int) bool {
	word, bit := start/64, uint64(1)<<(start%64)
	if s[word]&bit != 0 {
		return false
	}
	s[word] |= bit
	return true
}

// rated is a hit with its points and its number in the file.
type rated struct {
	hit    hit
	points int
}

// rate adds a file to the answer if it is among the best so far.
func (s *search) rate(f *fileText, e *entry, all uint32, lines int) {
	best := make([]rated, 0, s.plan.PerFile+1)
	for _, h := range s.hits {
		r := rated{h, h.points(f.text)}
		if len(best) == s.plan.PerFile && r.points <= best[len(best)-1].points {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, r, func(have, r rated) int {
			if have.points >= r.points {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, r)
		best = best[:min(len(best), s.plan.PerFile)]
	}
	points := best[0].points + s.plan.points(e) + min(lines, 5)
	if len(s.plan.terms) > 1 && near(s.hits, all) {
		points += pointsNear
	}
	files := s.result.Files
	at, _ := slices.BinarySearchFunc(files, points, func(have FileMatch, points int) int {
		if c := cmp.Compare(points, have.Points); c != 0 {
			return c
		}
		return strings.Compare(have.Path, e.path)
	})
	if at >= s.plan.Files {
		return
	}
	m := FileMatch{File: e.file(), Lines: lines, Points: points, Matches: f.matches(best, s.plan.Context)}
	if len(files) == s.plan.Files {
		files = files[:len(files)-1]
	}
	s.result.Files = slices.Insert(files, at, m)
}

// matches makes the answer of the best lines, sorted by place.
func (f *fileText) matches(best []rated, context int) []Match {
	slices.SortFunc(best, func(a, b rated) int { return cmp.Compare(a.hit.start, b.hit.start) })
	matches := make([]Match, 0, len(best))
	line, at, room := 1, 0, contextBytes
	for _, r := range best {
		line += bytes.Count(f.text[at:r.hit.start], []byte{'\n'})
		at = r.hit.start
		m := f.match(r.hit, line)
		if room > 0 {
			room -= f.addContext(&m, r.hit, context)
		}
		matches = append(matches, m)
	}
	return matches
}
