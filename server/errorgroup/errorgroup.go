// Package errorgroup decides which errors belong together. It makes a fingerprint of an exception from the calls of the application, or
// else from its message, or else from the operation that failed.
//
// The hash of a version never changes: stored issues are found by it. A change of the rules, of the table of libraries in stacktrace, or of
// its parsers that gives a stack of the corpus another hash needs a new version.
package errorgroup

import (
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/svc-observability/svc/server/stacktrace"
)

// Version is the version of the rules.
const Version = "2"

// Exception is an error as its sender described it. Every field may be empty.
type Exception struct {
	Org, Service string
	// Type, Message and Stack are the attributes of the exception.
	Type, Message, Stack string
	// StatusMessage stands in for an empty Message.
	StatusMessage string
	// SpanName, or the name of an event, names the operation.
	SpanName string
	// HTTPStatus is 0 if there was none. GRPCStatus is the number or name of the status of a call, as the sender gave it.
	HTTPStatus uint16
	GRPCStatus string
}

// Variant says which part of an error made its group.
type Variant string

// The variants.
const (
	// App: the innermost calls of the application.
	App Variant = "app"
	// Stack: the innermost calls, because none is of the application.
	Stack Variant = "stack"
	// Message: the type and the message, because there is no stack or the names in it are minified.
	Message Variant = "message"
	// Operation: the operation and its status, because there is no exception and no message.
	Operation Variant = "operation"
)

// Group is the group of an error.
type Group struct {
	// Hash is the fingerprint. It is never 0, which stands for an error without a fingerprint.
	Hash    uint64
	Variant Variant
	// Label is the type of the exception, or else the start of the message, or else the operation.
	Label string
	// Frame is the key of the innermost call that made the group, or else of the innermost call. It may be empty.
	Frame string
	// Title has the type and the normal message, or the label. Grouper does not fill it.
	Title string
	// Grouping says why the error is in this group. Grouper does not fill it.
	Grouping Grouping
}

// Bounds of the parts that make a group.
const (
	appFrames   = 3
	stackFrames = 5
	mostTypes   = 3
	maxLabel    = 150
	maxFrame    = 300
	maxType     = 200
)

// Of returns the group of an error, with all fields.
func Of(e Exception) Group {
	var g Grouper
	group := g.Of(&e)
	group.Title = g.title(&e, group.Label)
	group.Grouping = g.grouping(group.Variant)
	return group
}

// Grouper finds groups one after the other, and keeps its memory between them. The zero value is ready.
type Grouper struct {
	stack stacktrace.Stack
	types []string
	// keys holds the keys of the frames that made the group, one after the other; ends has their ends.
	keys []byte
	ends []int
	// normal is the normal message.
	normal []byte
	input  []byte
	left   leftOut
	// minified and generic are reasons of a group.
	minified, generic bool
}

// Of returns the group of an error, without its title and its grouping. The texts of the group are parts of the error, or copies.
func (g *Grouper) Of(e *Exception) Group {
	message := e.Message
	if message == "" {
		message = e.StatusMessage
	}
	g.stack.Parse(e.Stack, e.Message)
	g.types, g.keys, g.ends, g.normal = g.types[:0], g.keys[:0], g.ends[:0], g.normal[:0]
	g.left, g.minified, g.generic = leftOut{}, false, false
	g.collectTypes(e)
	if message == "" && len(g.types) > 0 && e.Stack != "" {
		message = headMessage(e.Stack, g.types[0])
	}
	variant := g.frames()
	switch {
	case variant != Message:
		if g.generic = genericType(g.first()); g.generic {
			g.normal = AppendNormal(g.normal, message)
		}
	case len(g.types) == 0 && message == "":
		variant = Operation
	default:
		g.normal = AppendNormal(g.normal, message)
	}
	group := Group{Hash: g.hash(e, variant), Variant: variant, Label: g.label(e, variant, message)}
	if len(g.ends) > 0 {
		group.Frame = string(g.keys[:g.ends[0]])
	}
	return group
}

// Forget releases the texts of the last error.
func (g *Grouper) Forget() {
	g.stack.Forget()
	clear(g.types)
	if cap(g.normal)+cap(g.keys)+cap(g.input) > 1<<16 {
		*g = Grouper{}
	}
}

func (g *Grouper) first() string {
	if len(g.types) == 0 {
		return ""
	}
	return g.types[0]
}

// collectTypes takes the type of the error and those of its causes.
func (g *Grouper) collectTypes(e *Exception) {
	if t := cleanType(e.Type); t != "" {
		g.types = append(g.types, t)
	}
	outer := true
	for i := range g.stack.Sections {
		s := &g.stack.Sections[i]
		if s.Role != stacktrace.Cause {
			continue
		}
		t := cleanType(s.Type)
		// The outermost section describes the same error as the attribute, which may have the type with or without its package.
		if outer && len(g.types) > 0 {
			t = ""
		}
		outer = false
		if t != "" && len(g.types) < mostTypes {
			g.types = append(g.types, t)
		}
	}
}

// hash hashes the parts of the group. The byte 0xff ends each part, as it is in no text; 0xfe begins the frames or the message.
func (g *Grouper) hash(e *Exception, variant Variant) uint64 {
	b := g.input[:0]
	b = append(append(b, Version...), 0xff)
	b = append(append(b, e.Org...), 0xff)
	b = append(append(b, e.Service...), 0xff)
	for _, t := range g.types {
		b = append(append(b, t...), 0xff)
	}
	b = append(append(append(b, 0xfe), variant...), 0xff)
	switch variant {
	case Operation:
		b = append(append(b, e.SpanName...), 0xff)
		b = append(strconv.AppendUint(b, uint64(e.HTTPStatus), 10), 0xff)
		b = append(append(b, e.GRPCStatus...), 0xff)
	case Message:
		b = append(append(b, g.normal...), 0xff)
	default:
		from := 0
		for _, end := range g.ends {
			b = append(append(b, g.keys[from:end]...), 0xff)
			from = end
		}
		if g.generic {
			b = append(append(append(b, 0xfe), g.normal...), 0xff)
		}
	}
	g.input = b
	return max(xxhash.Sum64(b), 1)
}
