package errorgroup

import (
	"bytes"
	"strings"

	"github.com/svc-observability/svc/server/stacktrace"
)

// leftOut counts the frames that did not make the group, by reason.
type leftOut struct {
	library, repeated, outer, sections int
}

// frames chooses the frames of the group and writes their keys. It returns Message if no frame can be used.
func (g *Grouper) frames() Variant {
	chosen, app := g.choose()
	if chosen == nil || len(chosen.Frames) == 0 {
		return Message
	}
	if g.minified = minified(chosen.Frames, app); g.minified {
		g.left.outer = len(chosen.Frames)
		return Message
	}
	variant, most := Stack, stackFrames
	if app {
		variant, most = App, appFrames
	}
	for i := range chosen.Frames {
		f := &chosen.Frames[i]
		switch {
		case app && !f.InApp:
			g.left.library++
			continue
		case len(g.ends) == most:
			g.left.outer++
			continue
		}
		from := len(g.keys)
		g.keys = appendKey(g.keys, f)
		if len(g.keys) == from {
			continue
		}
		if g.known(from) {
			g.keys = g.keys[:from]
			g.left.repeated++
			continue
		}
		g.ends = append(g.ends, len(g.keys))
	}
	for i := range g.stack.Sections {
		if s := &g.stack.Sections[i]; s != chosen {
			g.left.sections += len(s.Frames)
		}
	}
	if len(g.ends) == 0 {
		return Message
	}
	return variant
}

// known reports whether the key that begins at from is there already. A recursion counts once, however deep it is.
func (g *Grouper) known(from int) bool {
	start := 0
	for _, end := range g.ends {
		if bytes.Equal(g.keys[start:end], g.keys[from:]) {
			return true
		}
		start = end
	}
	return false
}

// choose returns the innermost error with a call of the application, or else the outermost error with calls.
func (g *Grouper) choose() (section *stacktrace.Section, app bool) {
	for i := len(g.stack.Sections) - 1; i >= 0; i-- {
		s := &g.stack.Sections[i]
		if s.Role != stacktrace.Cause {
			continue
		}
		for j := range s.Frames {
			if s.Frames[j].InApp {
				return s, true
			}
		}
	}
	for i := range g.stack.Sections {
		if s := &g.stack.Sections[i]; s.Role == stacktrace.Cause && len(s.Frames) > 0 {
			return s, false
		}
	}
	return nil, false
}

// farColumn is a column that only the long lines of minified bundles have.
const farColumn = 1000

// minified reports whether most names are those of a minifier, which change with each build.
func minified(frames []stacktrace.Frame, app bool) bool {
	short, all := 0, 0
	for i := range frames {
		f := &frames[i]
		if app && !f.InApp {
			continue
		}
		name := f.Function[strings.LastIndexByte(f.Function, '.')+1:]
		switch f.Language {
		case stacktrace.JavaScript:
			all++
			if len(name) <= 2 && (name != "" || f.Column >= farColumn) || name == "<anonymous>" && f.Column >= farColumn {
				short++
			}
		case stacktrace.Java:
			all++
			if class := f.Module[strings.LastIndexByte(f.Module, '.')+1:]; len(name) <= 2 && len(class) <= 2 {
				short++
			}
		default:
			return false
		}
	}
	return short*2 > all
}

// appendKey writes the key of a frame: its module and function, without counters, addresses and hashes.
func appendKey(dst []byte, f *stacktrace.Frame) []byte {
	from := len(dst)
	module := f.Module
	if f.Language == stacktrace.Go || f.Language == stacktrace.Rust || f.Language == stacktrace.DotNet {
		module = withoutArguments(module)
	}
	if module != "" {
		dst = appendName(dst, className(module, f.Language))
	} else if f.File != "" {
		dst = appendFile(dst, f.File)
	}
	if function := functionName(f.Function, f.Language); function != "" {
		if len(dst) > from {
			dst = append(dst, separator(f)...)
		}
		dst = appendName(dst, function)
	}
	if f.Language == stacktrace.DotNet {
		// "Shop.<ChargeAsync" of a state machine is "Shop.ChargeAsync", as newer runtimes print it.
		kept := dst[:from]
		for _, c := range dst[from:] {
			if c != '<' {
				kept = append(kept, c)
			}
		}
		dst = kept
	}
	if len(dst)-from > maxFrame {
		dst = dst[:from+maxFrame]
	}
	return dst
}

func separator(f *stacktrace.Frame) string {
	switch {
	case f.Module == "":
		return ":"
	case f.Language == stacktrace.Rust:
		return "::"
	default:
		return "."
	}
}

// className cuts the counters of proxies and lambdas: "Shop$$Lambda$14/0x01", "Shop$$EnhancerBySpringCGLIB$$1a2b".
func className(s string, l stacktrace.Language) string {
	switch l {
	case stacktrace.Java:
		if i := strings.Index(s, "$$"); i > 0 {
			s = s[:i]
		}
	case stacktrace.DotNet:
		// "Shop.<ChargeAsync>d__5" is the state machine of an asynchronous method, "Shop.<>c__DisplayClass3_0" the variables of a lambda.
		if i := strings.Index(s, ".<>c"); i > 0 {
			s = s[:i]
		} else if i := strings.Index(s, "+<>c"); i > 0 {
			s = s[:i]
		} else if i := strings.LastIndex(s, ">d__"); i > 0 {
			s = s[:i]
		}
	}
	return s
}

// functionName cuts arguments, and additions of compilers, from the name of a function.
func functionName(s string, l stacktrace.Language) string {
	switch l {
	case stacktrace.DotNet:
		if s == "MoveNext" {
			return "" // The class has the name of the method.
		}
		// "<Charge>b__0" is a lambda, "<Charge>g__Pay|3_0" a local function.
		if strings.HasPrefix(s, "<") {
			if i := strings.IndexByte(s, '>'); i > 1 {
				return s[1:i]
			}
		}
	case stacktrace.Java:
		// "lambda$charge$0" of Java, "$anonfun$charge$1" of Scala, "charge$lambda$2" and "invokeSuspend" of Kotlin.
		s = strings.TrimPrefix(strings.TrimPrefix(s, "lambda$"), "$anonfun$")
		if i := strings.Index(s, "$lambda$"); i > 0 {
			s = s[:i]
		}
		if i := strings.LastIndexByte(s, '$'); i > 0 && digits(s[i+1:]) {
			s = s[:i]
		}
	case stacktrace.JavaScript:
		s = strings.TrimPrefix(s, "Object.")
		s = strings.TrimPrefix(s, "async ")
		s = strings.TrimSuffix(s, "/<") // a function within another, in Firefox
		if s == "<anonymous>" || s == "anonymous" || s == "?" {
			return ""
		}
		s = strings.TrimSuffix(s, ".<anonymous>")
	case stacktrace.Go:
		s = withoutArguments(s)
		// Closures have counters: "Charge.func1.2", "Charge.gowrap1", "Charge.deferwrap2".
		for {
			i := strings.LastIndexByte(s, '.')
			if i <= 0 || !closure(s[i+1:]) {
				break
			}
			s = s[:i]
		}
	case stacktrace.Rust:
		for {
			cut, ok := strings.CutSuffix(s, "::{{closure}}")
			if !ok {
				break
			}
			s = cut
		}
	case stacktrace.Elixir:
		// "-charge/2-fun-0-" is a function within charge.
		if strings.HasPrefix(s, "-") {
			if i := strings.IndexByte(s, '/'); i > 1 {
				return s[1:i]
			}
		}
	case stacktrace.Swift:
		// "closure #1 in Shop.charge()", "partial apply for …".
		if i := strings.LastIndex(s, " in "); i > 0 {
			s = s[i+4:]
		}
		if i := strings.IndexByte(s, '('); i > 0 {
			s = s[:i]
		}
	case stacktrace.PHP:
		if strings.Contains(s, "{closure") {
			return "{closure}"
		}
	}
	return s
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

func closure(s string) bool {
	for _, prefix := range [...]string{"func", "gowrap", "deferwrap", ""} {
		if rest, ok := strings.CutPrefix(s, prefix); ok && digits(rest) {
			return true
		}
	}
	return s == "func" || strings.HasSuffix(s, "-range1") || strings.HasSuffix(s, "-range2")
}

// withoutArguments cuts type parameters: "Map[go.shape.int_0]" and "Map[...]" are one function.
func withoutArguments(s string) string {
	if i := strings.IndexByte(s, '['); i > 0 && strings.HasSuffix(s, "]") {
		return s[:i]
	}
	return s
}

// appendName writes a name with "#" for addresses and for the numbers that compilers count with: those behind a sign or at the end of a
// word. A number within a word, as in S3Client, is part of the name.
func appendName(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c == '0' && i+2 < len(s) && s[i+1] == 'x' && isHex(s[i+2]) {
			for i += 2; i < len(s) && isHex(s[i]); i++ {
			}
			dst = append(dst, '#')
			continue
		}
		if c < '0' || c > '9' {
			dst = append(dst, c)
			i++
			continue
		}
		end := i
		for end < len(s) && s[end] >= '0' && s[end] <= '9' {
			end++
		}
		if i > 0 && isLetter(s[i-1]) && end < len(s) && isLetter(s[end]) {
			dst = append(dst, s[i:end]...)
		} else {
			dst = append(dst, '#')
		}
		i = end
	}
	return dst
}

// appendFile writes the last two names of a path, with "#" for content hashes: "main.3f2a.js" is "main.#.js".
func appendFile(dst []byte, path string) []byte {
	if i := strings.IndexAny(path, "?"); i > 0 {
		path = path[:i]
	}
	name := strings.LastIndexAny(path, `/\`)
	from := 0
	if name > 0 {
		from = strings.LastIndexAny(path[:name], `/\`) + 1
		// A host or a drive in front of the name is not a folder.
		if folder := path[from:name]; from > 1 && path[from-1] == '/' && path[from-2] == '/' || strings.HasSuffix(folder, ":") || folder == "." ||
			folder == ".." {
			from = name + 1
		}
	}
	path = path[from:]
	for i := 0; i < len(path); {
		end := i
		for end < len(path) && !fileSeparator(path[end]) {
			end++
		}
		if word := path[i:end]; contentHash(word) {
			dst = append(dst, '#')
		} else {
			dst = appendName(dst, word)
		}
		if end < len(path) {
			c := path[end]
			if c == '\\' {
				c = '/'
			}
			dst = append(dst, c)
			end++
		}
		i = end
	}
	return dst
}

func fileSeparator(c byte) bool {
	return c == '.' || c == '-' || c == '_' || c == '/' || c == '\\' || c == '~'
}

// contentHash reports whether a word of a file's name is a hash: hexadecimal with a digit, or eight and more letters and digits mixed.
func contentHash(s string) bool {
	if len(s) < 4 {
		return false
	}
	hex, number, upper, lower := true, 0, 0, 0
	for i := range len(s) {
		c := s[i]
		hex = hex && isHex(c)
		switch {
		case c >= '0' && c <= '9':
			number++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		default:
			return false
		}
	}
	if hex && number > 0 {
		return true
	}
	return len(s) >= 8 && (number >= 2 || number == 1 && upper > 1 && lower > 0)
}
