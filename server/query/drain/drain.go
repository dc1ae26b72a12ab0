// Package drain groups log messages by their fixed parts, after the Drain algorithm: a tree of fixed depth leads from the number of
// words and the first words of a message to the few patterns that it is compared with. It is pure.
package drain

import (
	"slices"
	"strings"
)

// Parameters of the algorithm.
const (
	// prefixWords are the first words by which the tree branches: its depth of 4 without the root, the number of words and the leaf.
	prefixWords = 1
	similarity  = 0.4
	maxChildren = 100
	// Wildcard stands for a word that varies.
	Wildcard = "<*>"
	// maxWords bounds a message; what follows is one wildcard.
	maxWords = 128
	// maxPatterns bounds the memory: a message that fits none when there are so many belongs to the pattern of a single wildcard.
	maxPatterns = 5000
)

// Pattern is a group of messages.
type Pattern struct {
	words []string
	// Number is its place in the order in which patterns were found, from 0.
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

// Tree holds the patterns of the messages that it has seen. The zero value is empty and ready. It is not safe for concurrent use.
type Tree struct {
	lengths  map[int]*node
	patterns []*Pattern
	rest     *Pattern
}

// Patterns are all patterns, in the order in which they were found.
func (t *Tree) Patterns() []*Pattern { return t.patterns }

// Add returns the pattern that a message belongs to, which may be a new one. The pattern can become more general with later messages.
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

// likeness is the part of the words that are the same, and how many. A wildcard of the pattern is like no word.
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
