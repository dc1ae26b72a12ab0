package stacktrace

import "strings"

// golang reads the second line of a frame of Go: "\t/src/file.go:12 +0x1d". The function is on the line before.
func (p *parser) golang(line string) (Frame, bool) {
	place := line
	if i := strings.Index(line, " +0x"); i > 0 {
		place = line[:i]
	}
	file, n, ok := lastNumber(place)
	if !ok || !strings.HasSuffix(file, ".go") || p.previous == "" {
		return Frame{}, false
	}
	name := strings.Trim(p.previous, " \t")
	if strings.HasPrefix(name, "created by ") || strings.ContainsAny(name, " \t") && !strings.HasSuffix(name, ")") {
		return Frame{}, false
	}
	if strings.HasSuffix(name, ")") {
		if i := matching(name, '(', ')'); i > 0 {
			name = name[:i]
		}
	}
	name = strings.TrimSuffix(name, "[...]")
	f := Frame{Language: Go, File: file, Line: n}
	slash := strings.LastIndexByte(bracketFree(name), '/') + 1
	dot := strings.IndexByte(name[slash:], '.')
	if dot < 0 {
		f.Function = name // panic
		return f, true
	}
	f.Module, f.Function = name[:slash+dot], name[slash+dot+1:]
	return f, true
}

// bracketFree cuts the name at its type parameters, which may have slashes and dots.
func bracketFree(name string) string {
	if i := strings.IndexByte(name, '['); i >= 0 {
		return name[:i]
	}
	return name
}

// count reads a line that begins with a number: Rust "12: crate::function", Swift "3 App 0x… function + 4", old Ruby "2: from …".
func (p *parser) count(line string) (Frame, bool) {
	_, rest := number(line)
	if strings.HasPrefix(rest, ": ") {
		rest = strings.TrimLeft(rest[1:], " ")
		if f, ok := ruby(rest); ok {
			return f, true
		}
		return rust(rest)
	}
	if len(rest) < 4 || rest[0] != ' ' && rest[0] != '\t' {
		return Frame{}, false
	}
	return swift(strings.TrimLeft(rest, " \t"))
}

// rust reads "crate::module::function::h0123456789abcdef", also with an address in front.
func rust(s string) (Frame, bool) {
	if strings.HasPrefix(s, "0x") {
		if i := strings.Index(s, " - "); i > 0 {
			s = s[i+3:]
		}
	}
	if s == "" || strings.IndexByte(s, ' ') >= 0 && s[0] != '<' && !strings.Contains(s, "::") {
		return Frame{}, false
	}
	// The hash of the compiler changes with each build.
	if i := strings.LastIndex(s, "::h"); i > 0 && len(s)-i == 19 {
		s = s[:i]
	}
	f := Frame{Language: Rust, Function: s}
	if i := rustName(s); i > 0 {
		f.Module, f.Function = s[:i], s[i+2:]
	}
	return f, true
}

// rustName returns the index of the last "::" outside angle brackets. Closures stay with their function.
func rustName(s string) int {
	for {
		cut, found := strings.CutSuffix(s, "::{{closure}}")
		if !found {
			break
		}
		s = cut
	}
	depth := 0
	for i := len(s) - 1; i > 0; i-- {
		switch s[i] {
		case '>':
			if s[i-1] != '-' {
				depth++
			}
		case '<':
			depth--
		case ':':
			if depth == 0 && s[i-1] == ':' {
				return i - 1
			}
		}
	}
	return 0
}

// placeOfRust gives "file.rs:1:2" to the frame of the line before.
func (p *parser) placeOfRust(s string) bool {
	n := len(p.stack.frames)
	if n == 0 || p.stack.frames[n-1].Language != Rust || p.stack.frames[n-1].File != "" {
		return false
	}
	file, line, column, ok := location(s)
	if !ok {
		return false
	}
	f := &p.stack.frames[n-1]
	f.File, f.Line, f.Column = file, line, column
	f.InApp = inApp(f)
	return true
}

// swift reads the rest of a frame: "App 0x0000000102 function + 128 (File.swift:4)" of Darwin, "0x00007f function in App at
// /src/File.swift:4:9" of Linux.
func swift(s string) (Frame, bool) {
	f := Frame{Language: Swift}
	i := strings.Index(s, "0x")
	if i < 0 {
		return f, false
	}
	image := strings.TrimRight(s[:i], " \t")
	if strings.HasPrefix(image, "[") { // [ra], [async]: how the address was found
		image = ""
	}
	_, name, ok := strings.Cut(s[i:], " ")
	if !ok {
		return f, false
	}
	name = strings.TrimLeft(name, " ")
	if at := strings.LastIndex(name, " at "); at > 0 {
		file, line, column, ok := location(name[at+4:])
		if ok {
			f.File, f.Line, f.Column = file, line, column
		}
		name = name[:at]
		if in := strings.LastIndex(name, " in "); in > 0 && image == "" {
			image, name = name[in+4:], name[:in]
		}
	} else if strings.HasSuffix(name, ")") {
		if open := strings.LastIndex(name, " ("); open > 0 {
			if file, line, _, ok := location(name[open+2 : len(name)-1]); ok {
				f.File, f.Line = file, line
				name = name[:open]
			}
		}
	}
	if in := strings.LastIndex(name, " in "); in > 0 && image == "" {
		image, name = name[in+4:], name[:in]
	}
	if plus := strings.LastIndex(name, " + "); plus > 0 {
		name = name[:plus]
	}
	f.Module, f.Function = image, strings.TrimPrefix(name, "static ")
	return f, f.Function != "" && (image != "" || f.File != "")
}
