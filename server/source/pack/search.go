package pack

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Result answers a query. Files are sorted by rank.
type Result struct {
	Files []FileMatch
	// Matched counts the files that match, Lines their lines. Both may exceed what Files has.
	Matched, Lines int
	// Searched counts the files that were searched or that the index excluded, of Total that the path allows. Bytes is the text that was
	// read.
	Searched, Total int
	Bytes           int64
	// LongLines counts lines of which a regular expression saw only the first longLine bytes.
	LongLines int
	// Truncated says that a bound ended the search: files that match may be missing. Reason names the bound.
	Truncated bool
	Reason    Reason
}

// Reason is the bound that ended a search.
type Reason string

// The bounds of a Query.
const (
	TimeBound    Reason = "time"
	BytesBound   Reason = "bytes"
	MatchesBound Reason = "matches"
)

// FileMatch is a file of the answer.
type FileMatch struct {
	File
	// Matches are the best lines, sorted by number. Lines counts all lines that match.
	Matches []Match
	Lines   int
	// Points order the files of an answer. They mean nothing beyond it.
	Points int
}

// keptHits bounds the lines of one file that are rated. Further ones are counted.
const keptHits = 1000

// Search finds the files that hold all terms of a query. It returns *QueryError for a query that it does not understand, ErrDamaged, or
// the error of ctx. A bound of the query is not an error: the answer then has the files found so far.
func (p *Pack) Search(ctx context.Context, q Query) (Result, error) {
	if p.closed.Load() {
		return Result{}, ErrClosed
	}
	plan, err := compile(q)
	if err != nil {
		return Result{}, err
	}
	s := &search{ctx: ctx, pack: p.shared, plan: plan, until: time.Now().Add(plan.Time)}
	if err := s.run(); err != nil {
		return Result{}, err
	}
	s.result.Truncated = s.result.Reason != ""
	return s.result, nil
}

type search struct {
	ctx    context.Context
	pack   *shared
	plan   *plan
	until  time.Time
	result Result
	// work is that since the clock was read, in bytes.
	work    int
	failure error
	buffers buffers
	folded  []byte
	hits    []hit
	lines   lineSet
}

// stretch is the files of one block that the path allows: a part of shared.order.
type stretch struct {
	block uint32
	files []int32
}

func (s *search) run() error {
	stretches := s.stretches()
	raw, err := s.pack.read(s.pack.index, &s.buffers)
	if err != nil {
		return err
	}
	set := allBlocks(len(s.pack.directory.blocks))
	for _, t := range s.plan.terms {
		for i, b := range t.blocks(index{rows: raw, width: len(set)}, s.pack.directory.blocks) {
			set[i] &= b
		}
	}
	// Blocks of vendored code come last, so that a bound cuts these off.
	slices.SortStableFunc(stretches, func(a, b stretch) int {
		return cmp.Compare(vendoredOnly(s.pack.directory, a), vendoredOnly(s.pack.directory, b))
	})
	for _, b := range stretches {
		if !set.has(int(b.block)) {
			s.result.Searched += len(b.files)
			continue
		}
		if !s.now() {
			break
		}
		size := int64(s.pack.directory.blocks[b.block].raw)
		if s.result.Bytes+size > s.plan.Bytes {
			s.end(BytesBound)
			break
		}
		s.result.Bytes += size
		if raw, err = s.pack.read(s.pack.directory.blocks[b.block], &s.buffers); err != nil {
			return err
		}
		for _, i := range b.files {
			s.file(&s.pack.directory.entries[i], raw)
			if s.result.Reason != "" || s.failure != nil {
				break
			}
			s.result.Searched++
		}
	}
	return s.failure
}

func vendoredOnly(d *directory, s stretch) int {
	if d.blocks[s.block].firstParty {
		return 0
	}
	return 1
}

// stretches groups the files that the path allows by block.
func (s *search) stretches() []stretch {
	var all []stretch
	order := s.pack.order
	for at := 0; at < len(order) && s.going(0); {
		block := s.pack.directory.entries[order[at]].block
		var files []int32
		for ; at < len(order) && s.pack.directory.entries[order[at]].block == block; at++ {
			e := &s.pack.directory.entries[order[at]]
			if e.size > 0 && s.going(len(e.path)) && s.plan.path.matches(e.path) {
				files = append(files, order[at])
			}
		}
		if len(files) > 0 {
			all = append(all, stretch{block, files})
			s.result.Total += len(files)
		}
	}
	return all
}

const (
	// clockEvery is the work between two looks at the clock. The slowest expressions take 50 ms for it.
	clockEvery = 16 << 10
	// lineWork is the work of a line or a path beside its bytes.
	lineWork = 256
)

// going reports whether the search may go on to a line of that many bytes.
func (s *search) going(bytes int) bool {
	if s.work += lineWork + bytes; s.work < clockEvery {
		return s.result.Reason == "" && s.failure == nil
	}
	s.work = 0
	return s.now()
}

func (s *search) now() bool {
	if s.failure == nil {
		s.failure = s.ctx.Err()
	}
	if s.result.Reason == "" && !time.Now().Before(s.until) {
		s.end(TimeBound)
	}
	return s.result.Reason == "" && s.failure == nil
}

func (s *search) end(reason Reason) { s.result.Reason = reason }

// file searches one file and adds it to the answer if it holds all terms.
func (s *search) file(e *entry, block []byte) {
	f := &fileText{text: block[e.offset : int64(e.offset)+e.size], foldsBeyond7: e.has(flagFoldsBeyond7), buffer: &s.folded}
	s.hits = s.hits[:0]
	s.lines.reset(len(f.text))
	all, lines := uint32(0), 0
	for i, t := range s.plan.terms {
		found := 0
		t.find(f, s.going, func(h hit) bool {
			if s.lines.add(h.start) {
				lines++
			}
			if found++; found <= keptHits {
				h.terms = 1 << i
				s.hits = append(s.hits, h)
			}
			return s.result.Lines+lines < s.plan.Matches
		})
		if found == 0 {
			s.result.LongLines += f.long
			return
		}
		all |= 1 << i
	}
	s.result.LongLines += f.long
	if len(s.plan.terms) > 1 {
		s.merge()
	}
	s.result.Matched++
	if s.result.Lines += lines; s.result.Lines >= s.plan.Matches {
		s.end(MatchesBound)
	}
	s.rate(f, e, all, lines)
}
