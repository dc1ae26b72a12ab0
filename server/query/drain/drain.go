// Package drain groups log messages by their fixed parts with the Drain algorithm. A tree of fixed depth leads from the number of
// words and the first words of a message to the few patterns that the message is compared with. The package does no I/O.
package drain

import (
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/limits"
)

// These are the parameters of the algorithm.
const (
	// prefixWords is the number of first words by which the tree branches. The tree's depth is 4: root, number of words, first
	// word, and leaf.
	prefixWords = 1
	similarity  = 0.4
	maxChildren = 100
	// Wildcard stands for a word that varies.
	Wildcard = "<*>"
	// maxWords is the number of words kept of a message. The rest becomes one wildcard.
	maxWords = limits.PatternWords
	// maxPatterns bounds the memory. Once there are this many, a message that matches no pattern belongs to the pattern of a
	// single wildcard.
	maxPatterns = limits.PatternsFound
)

// Pattern is a group of messages.
type Pattern struct {
	words []string
	// Number is the position of the pattern in the order of discovery, from 0.
	Number int
}

// Template is the text of the pattern.
func (p *Pattern) Template() string { return strings.Join(p.words, " ") }

type node struct {
	children map[string]*node
	patterns []*Pattern
}

func (n *node) child(key string) *node {
	if c := n.children[key]; c != nil {
		return c
	}
	if n.children == nil {
		n.children = map[string]*node{}
	}
	c := &node{}
	n.children[key] = c
	return c
}

// Tree holds the patterns of the messages that were added. The zero value is empty and ready to use. It is not safe for
// concurrent use.
type Tree struct {
	lengths  map[int]*node
	patterns []*Pattern
	rest     *Pattern
}

// Patterns returns all patterns in the order of discovery.
func (t *Tree) Patterns() []*Pattern { return t.patterns }

// Add returns the pattern of a message, which may be new. Later messages can make the pattern more general.
func (t *Tree) Add(message string) *Pattern {
	words := Words(message)
	leaf := t.leaf(words)
	var best *Pattern
	bestScore, bestFixed := -1.0, -1
	for _, p := range leaf.patterns {
		score, fixed := likeness(p.words, words)
		if score > bestScore || score == bestScore && fixed > bestFixed {
			best, bestScore, bestFixed = p, score, fixed
		}
	}
	if best != nil && bestScore >= similarity {
		for i, w := range best.words {
			if w != words[i] {
				best.words[i] = Wildcard
			}
		}
		return best
	}
	if len(t.patterns) >= maxPatterns {
		if t.rest == nil {
			t.rest = t.newPattern([]string{Wildcard})
		}
		return t.rest
	}
	p := t.newPattern(slices.Clone(words))
	leaf.patterns = append(leaf.patterns, p)
	return p
}

func (t *Tree) newPattern(words []string) *Pattern {
	p := &Pattern{words: words, Number: len(t.patterns)}
	t.patterns = append(t.patterns, p)
	return p
}

func (t *Tree) leaf(words []string) *node {
	if t.lengths == nil {
		t.lengths = map[int]*node{}
	}
	n := t.lengths[len(words)]
	if n == nil {
		n = &node{}
		t.lengths[len(words)] = n
	}
	for i := 0; i < prefixWords && i < len(words); i++ {
		key := words[i]
		if strings.ContainsAny(key, "0123456789") {
			key = Wildcard
		}
		if _, known := n.children[key]; !known && len(n.children) >= maxChildren-1 {
			key = Wildcard
		}
		n = n.child(key)
	}
	return n
}

// likeness is the share of words that are equal, and their number. A wildcard of the pattern equals no word.
func likeness(pattern, words []string) (score float64, same int) {
	if len(pattern) == 0 {
		return 1, 0
	}
	for i, w := range pattern {
		if w == words[i] && w != Wildcard {
			same++
		}
	}
	return float64(same) / float64(len(pattern)), same
}
