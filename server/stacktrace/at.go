package stacktrace

import "strings"

// at reads a frame of Java, .NET or V8, or the place of a frame of Rust. The text follows the word "at".
func (p *parser) at(s string) (Frame, bool) {
	if p.placeOfRust(s) {
		return Frame{}, false
	}
	if strings.HasSuffix(s, ")") {
		if f, ok := bracketed(s); ok {
			return f, true
		}
	}
	s = strings.TrimSuffix(strings.TrimSuffix(s, " {"), ",")
	// Logback adds the archive of the class: "[spring.jar:5.3]".
	if strings.HasSuffix(s, "]") {
		if i := strings.LastIndexByte(s, '['); i > 0 && strings.HasSuffix(strings.TrimRight(s[:i], " ~"), ")") {
			s = strings.TrimRight(s[:i], " ~")
		}
	}
	// Mono adds the offset of the code: "Shop.Cart.Add (Item item) [0x00012] in /src/Cart.cs:7", and so does native code: "Add(Item) + 0x9c".
	if i := strings.Index(s, ") [0x"); i >= 0 {
		if f, ok := dotnet(s[:i+1]); ok {
			if _, place, ok := strings.Cut(s[i:], "] in "); ok {
				f.File, f.Line, _, _ = location(strings.TrimSpace(place))
			}
			return f, true
		}
	}
	if i := strings.LastIndex(s, ") + 0x"); i >= 0 {
		if f, ok := dotnet(s[:i+1]); ok {
			return f, true
		}
	}
	if i := strings.Index(s, ") in "); i >= 0 {
		if f, ok := dotnet(s[:i+1]); ok {
			f.File, f.Line = dotnetPlace(s[i+5:])
			return f, true
		}
	}
	if strings.HasSuffix(s, ")") {
		if f, ok := bracketed(s); ok {
			return f, true
		}
	}
	return v8(s)
}

// bracketed reads a frame of Java or .NET without a file. V8 has a space in front of the first bracket; .NET has spaces between the
// types and the names of parameters only.
func bracketed(s string) (Frame, bool) {
	open := strings.IndexByte(s, '(')
	if open <= 0 || s[open-1] == ' ' {
		return Frame{}, false
	}
	if f, ok := java(s); ok {
		return f, true
	}
	if strings.Contains(s, ") in ") {
		return Frame{}, false
	}
	return dotnet(s)
}

// java reads "module/package.Class.method(File.java:1)".
func java(s string) (Frame, bool) {
	open := strings.LastIndexByte(s, '(')
	if open <= 0 {
		return Frame{}, false
	}
	place := s[open+1 : len(s)-1]
	file, line, _, numbered := location(place)
	if !numbered && !javaPlace(place) {
		return Frame{}, false
	}
	name := s[:open]
	f := Frame{Language: Java, File: file, Line: line}
	// The loader and the module are in front: "app//", "java.base@17/". The name of a lambda's class may have a slash behind "$$".
	head := name
	if i := strings.Index(name, "$$"); i >= 0 {
		head = name[:i]
	}
	if i := strings.LastIndexByte(head, '/'); i >= 0 {
		name = name[i+1:]
	}
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 {
		return Frame{}, false
	}
	f.Module, f.Function = name[:dot], name[dot+1:]
	return f, true
}

// javaPlace reports whether the text in brackets is a place without a line.
func javaPlace(s string) bool {
	switch s {
	case "Native Method", "Unknown Source", "<generated>", "Source", "SourceFile", "Hidden Source", "Coroutine boundary":
		return true
	}
	for _, ending := range [...]string{".java", ".kt", ".scala", ".groovy", ".clj"} {
		if strings.HasSuffix(s, ending) {
			return true
		}
	}
	return false
}

// dotnet reads "Namespace.Class.Method[T](String name)".
func dotnet(s string) (Frame, bool) {
	open := matching(s, '(', ')')
	if open <= 0 || strings.Contains(s[:open], "://") {
		return Frame{}, false
	}
	name := strings.TrimRight(s[:open], " ")
	if strings.HasSuffix(name, "]") {
		if i := matching(name, '[', ']'); i > 0 {
			name = name[:i]
		}
	}
	dot := strings.LastIndexByte(name, '.')
	if strings.HasSuffix(name, "..ctor") || strings.HasSuffix(name, "..cctor") {
		dot = strings.LastIndexByte(name[:dot], '.')
	}
	if strings.IndexByte(name, ' ') >= 0 {
		return Frame{}, false
	}
	if dot < 0 {
		return Frame{Language: DotNet, Function: name}, name != ""
	}
	return Frame{Language: DotNet, Module: name[:dot], Function: name[dot+1:]}, true
}

// dotnetPlace reads "/src/File.cs:line 12". The word for line depends on the language of the system.
func dotnetPlace(s string) (file string, line uint32) {
	i := strings.LastIndexByte(s, ' ')
	j := strings.LastIndexByte(s, ':')
	if j < 2 || i < j {
		return s, 0
	}
	line, _ = number(s[i+1:])
	return s[:j], line
}

// v8 reads "function (file:1:2)", "async function (file:1:2)" or "file:1:2".
func v8(s string) (Frame, bool) {
	s = strings.TrimPrefix(s, "async ")
	f := Frame{Language: JavaScript, File: s}
	if strings.HasSuffix(s, ")") {
		if i := strings.Index(s, " ("); i > 0 {
			f.Function, f.File = s[:i], s[i+2:len(s)-1]
			// "new Foo (…)" and "Object.foo [as bar] (…)".
			f.Function = strings.TrimPrefix(f.Function, "new ")
			if j := strings.Index(f.Function, " [as "); j > 0 {
				f.Function = f.Function[:j]
			}
		}
	}
	if strings.HasPrefix(f.File, "eval at ") {
		if i := strings.LastIndex(f.File, ", "); i > 0 {
			f.File = f.File[i+2:]
		}
	}
	file, line, column, ok := location(f.File)
	if !ok {
		switch {
		case f.File == "<anonymous>", f.File == "native", f.File == "native code", f.File == "address at native",
			strings.HasPrefix(f.File, "index "):
			return f, true
		}
		return f, false
	}
	if strings.IndexByte(file, ' ') >= 0 && f.Function == "" && !strings.ContainsAny(file, "/\\") {
		return f, false
	}
	f.File, f.Line, f.Column = strings.TrimPrefix(file, "async "), line, column
	return f, true
}

// gecko reads "function@file:1:2" of Firefox and Safari.
func gecko(s string) (Frame, bool) {
	i := strings.IndexByte(s, '@')
	if i < 0 {
		if s == "[native code]" {
			return Frame{Language: JavaScript, File: s}, true
		}
		if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "file:///") {
			file, line, column, ok := location(s)
			return Frame{Language: JavaScript, File: file, Line: line, Column: column}, ok && strings.IndexByte(s, ' ') < 0
		}
		return Frame{}, false
	}
	// A path of a package may have an "@": the function ends at the one before the scheme or the first slash.
	f := Frame{Language: JavaScript, Function: s[:i], File: s[i+1:]}
	if strings.ContainsAny(f.Function, " \t(") && !strings.HasPrefix(f.Function, "async") || strings.ContainsAny(f.Function, ":=\"") {
		return Frame{}, false
	}
	f.Function = strings.TrimPrefix(strings.TrimPrefix(f.Function, "async*"), "async ")
	if f.File == "[native code]" {
		return f, true
	}
	if j := strings.Index(f.File, " line "); j > 0 { // "file line 3 > eval:1:2"
		f.File = f.File[:j]
		return f, strings.Contains(f.File, "/")
	}
	file, line, column, ok := location(f.File)
	if !ok || !strings.ContainsAny(file, "/.") {
		return Frame{}, false
	}
	f.File, f.Line, f.Column = file, line, column
	return f, true
}
