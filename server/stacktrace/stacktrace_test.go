package stacktrace_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/stacktrace"
)

// print writes a section a line, then its frames: language, module, function, file, line, and an asterisk for the application.
func print(s *stacktrace.Stack) string {
	var b strings.Builder
	for _, section := range s.Sections {
		role := "cause"
		if section.Role == stacktrace.Aside {
			role = "aside"
		}
		b.WriteString(strings.TrimRight(role+" "+section.Type, " ") + "\n")
		for _, f := range section.Frames {
			mark := ""
			if f.InApp {
				mark = " *"
			}
			fmt.Fprintf(&b, "%s %s %s %s:%d%s\n", f.Language, f.Module, f.Function, f.File, f.Line, mark)
		}
	}
	return strings.TrimSpace(b.String())
}

func check(t *testing.T, text, message, want string) {
	t.Helper()
	var s stacktrace.Stack
	s.Parse(text, message)
	if got := print(&s); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	s.Parse("other\n  at a.b.C.d(E.java:1)\n", "")
	s.Parse(strings.ReplaceAll(text, "\n", "\r\n"), strings.ReplaceAll(message, "\n", "\r\n"))
	if got := print(&s); got != strings.TrimSpace(want) {
		t.Errorf("with other line ends, and a Stack that was used:\n%s\nwant\n%s", got, want)
	}
}

func TestUnknown(t *testing.T) {
	check(t, "  main src/a.foo:12\n  run (src/b.foo:3)\nno frame\n at 12:30 o'clock", "",
		"cause\nunknown  main src/a.foo:12\nunknown  run src/b.foo:3")
}

// The lines of the message are no frames, even if they look like frames.
func TestMessage(t *testing.T) {
	const message = "bad\n    at fake (a.js:1:1)\n  b.yaml:3 is wrong"
	check(t, "Error: "+message+"\n    at real (/app/b.js:2:2)", message, "cause Error\njavascript  real /app/b.js:2 *")
}

func TestBounds(t *testing.T) {
	var s stacktrace.Stack
	s.Parse(strings.Repeat("\tat a.b.C.d(E.java:1)\n", 300), "")
	if n := len(s.Sections[0].Frames); n != stacktrace.MaxLines || !s.Cut {
		t.Errorf("%d frames, cut %v", n, s.Cut)
	}
	s.Parse(strings.Repeat("x", 2*stacktrace.MaxBytes), "")
	if len(s.Sections) != 1 || len(s.Sections[0].Frames) != 0 || !s.Cut {
		t.Errorf("%+v", s)
	}
	s.Forget()
	if len(s.Sections) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestNoAllocation(t *testing.T) {
	var s stacktrace.Stack
	text := strings.Repeat("\tat com.acme.Cart.total(Cart.java:1)\n", 40)
	s.Parse(text, "")
	if n := testing.AllocsPerRun(20, func() { s.Parse(text, "no") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"A: a ---> B: b\n   at C.D(E f) in /g.cs:line 1\n   --- End of inner exception stack trace ---\n   at H.I()\n",
		"Traceback (most recent call last):\n  File \"/a.py\", line 1, in b\nC: d\n\nDuring handling of the above exception, another exception " +
			"occurred:\n\nTraceback (most recent call last):\n",
		"goroutine 1 [running]:\nmain.a(0x1)\n\t/b.go:1 +0x2\n", "#0 /a.php(1): B->c(1)\n#1 {main}\n\nNext D: e in /f.php:2\n#0 /g.php(1): h()\n",
		"   0: a::b::h0123456789abcdef\n             at ./c.rs:1:2\n", "[{a,b,1,[{file,\"c.erl\"},{line,2}]}]",
		"  + Exception Group Traceback (most recent call last):\n  +-+--- 1 ---\n    | A: b",
		"x@https://a.example/b.js:1:2\n", "1 a 0x1 b + 2 (c.swift:3)\n", "a.rb:1:in 'B#c': d (E)\n", "#0 a (package:b/c.dart:1:2)",
		"    (a 1.0) lib/b.ex:1: C.d/2\n", "\tat a.B.c(D.java:1)\nCaused by: e.F: g\n",
	} {
		f.Add(text, "message\nof two lines")
	}
	var used stacktrace.Stack
	f.Fuzz(func(t *testing.T, text, message string) {
		from := time.Now()
		used.Parse(text, message)
		if d := time.Since(from); d > 2*time.Second {
			t.Errorf("took %v", d)
		}
		var fresh stacktrace.Stack
		fresh.Parse(text, message)
		if a, b := print(&used), print(&fresh); a != b {
			t.Errorf("a Stack that was used gives\n%s\na fresh one\n%s", a, b)
		}
		frames := 0
		for _, s := range used.Sections {
			frames += len(s.Frames)
		}
		if frames > stacktrace.MaxBytes/8 || len(used.Sections) == 0 {
			t.Errorf("%d frames in %d sections", frames, len(used.Sections))
		}
	})
}
