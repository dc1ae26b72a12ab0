// Package stacktrace reads the text of a stack trace, in the formats that runtimes and error libraries of twelve languages print. It uses
// no regular expressions, and a Stack that is used again allocates nothing.
package stacktrace

import (
	"slices"

	"github.com/svc-observability/svc/server/limits"
)

// Language is the format of a frame.
type Language uint8

// The languages. Kotlin, Scala and Groovy print frames as Java does; TypeScript prints frames as JavaScript does.
const (
	Unknown Language = iota
	Java
	DotNet
	JavaScript
	Python
	Go
	Ruby
	PHP
	Rust
	Elixir
	Swift
	Dart
)

// String returns the name of the language in lower case.
func (l Language) String() string {
	switch l {
	case Java:
		return "java"
	case DotNet:
		return "dotnet"
	case JavaScript:
		return "javascript"
	case Python:
		return "python"
	case Go:
		return "go"
	case Ruby:
		return "ruby"
	case PHP:
		return "php"
	case Rust:
		return "rust"
	case Elixir:
		return "elixir"
	case Swift:
		return "swift"
	case Dart:
		return "dart"
	default:
		return "unknown"
	}
}

// Bounds of a stack. Further text is not read.
const (
	MaxLines = limits.StackLines
	MaxBytes = limits.StackBytes
)

// Frame is one call. Its texts are parts of the text that was parsed.
type Frame struct {
	Language Language
	// Module is the class, package or module. It is empty in languages that name only the file.
	Module   string
	Function string
	File     string
	Line     uint32
	Column   uint32
	// InApp is false for calls of the runtime, of libraries, and of code that the runtime generates.
	InApp bool
}

// Role says how a section belongs to the error.
type Role uint8

// The roles of sections.
const (
	// Cause is the error itself or one of its causes.
	Cause Role = iota
	// Aside is another stack in the text: a suppressed error, another goroutine, a further member of a group of errors.
	Aside
)

// Section is the part of a stack that belongs to one error of a chain of causes.
type Section struct {
	Role Role
	// Type is empty if the text does not name it.
	Type string
	// Frames begin with the innermost call.
	Frames   []Frame
	from, to int
	// reversed says that the text has the outermost call first.
	reversed bool
}

// Stack is a parsed stack. Parse fills it again and again without allocation.
type Stack struct {
	// Sections begin with the outermost error: each is the cause of the section before it. Sections with the role Aside come in the
	// order of the text.
	Sections []Section
	// Cut says that the text was longer than the bounds.
	Cut bool

	frames []Frame
}

// Parse reads a text. The message of the error, if it is known, keeps lines of the message from being read as frames. The stack refers to
// the text until the next call.
func (s *Stack) Parse(text, message string) {
	clear(s.Sections)
	clear(s.frames)
	*s = Stack{Sections: s.Sections[:0], frames: s.frames[:0]}
	if len(text) > MaxBytes {
		text, s.Cut = text[:MaxBytes], true
	}
	p := parser{stack: s, text: text, message: firstLine(message)}
	if len(p.message) < len(message) {
		p.messageFrom, p.messageTo = messageRange(text, message)
	}
	p.open("", Cause)
	p.run()
	p.finish()
	if len(s.frames) == 0 {
		p.numbered()
	}
	for i := range s.Sections {
		section := &s.Sections[i]
		section.Frames = s.frames[section.from:section.to:section.to]
		if section.reversed {
			slices.Reverse(section.Frames)
		}
	}
}

// Forget releases the text that was parsed last.
func (s *Stack) Forget() {
	clear(s.Sections)
	clear(s.frames)
	*s = Stack{Sections: s.Sections[:0], frames: s.frames[:0]}
}
