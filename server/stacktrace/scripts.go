package stacktrace

import "strings"

// python reads `x.py", line 1, in f`, which follows `File "`.
func python(s string) (Frame, bool) {
	file, rest, ok := strings.Cut(s, `", line `)
	if !ok {
		return Frame{}, false
	}
	f := Frame{Language: Python, File: file}
	f.Line, rest = number(rest)
	f.Function = strings.TrimPrefix(rest, ", in ")
	if f.Function == rest {
		f.Function = ""
	}
	return f, true
}

// ruby reads "file.rb:1:in 'Class#method'", with "from " or "2: from " in front. Before version 3.4 the first quote is a backtick.
func ruby(s string) (Frame, bool) {
	i := strings.Index(s, ":in ")
	if i <= 0 || i+5 >= len(s) {
		return Frame{}, false
	}
	quote := s[i+4]
	if quote != '\'' && quote != '`' {
		return Frame{}, false
	}
	end := strings.IndexByte(s[i+5:], '\'')
	if end < 0 {
		return Frame{}, false
	}
	head := s[:i]
	if j := strings.Index(head, "from "); j >= 0 && j < 8 {
		head = head[j+5:]
	}
	file, line, ok := lastNumber(head)
	if !ok {
		return Frame{}, false
	}
	name := s[i+5 : i+5+end]
	// "block (2 levels) in Class#method", "rescue in method": the method counts.
	if j := strings.LastIndex(name, " in "); j >= 0 {
		name = name[j+4:]
	}
	f := Frame{Language: Ruby, File: file, Line: line, Function: name}
	if j := strings.LastIndexAny(name, "#."); j > 0 && j+1 < len(name) {
		f.Module, f.Function = name[:j], name[j+1:]
	}
	return f, true
}

// hash reads a line that begins with "#0": PHP or Dart.
func (p *parser) hash(line string) (Frame, bool) {
	n := 1
	for n < len(line) && isDigit(line[n]) {
		n++
	}
	if n == 1 || n == len(line) || line[n] != ' ' {
		return Frame{}, false
	}
	s := strings.TrimLeft(line[n:], " ")
	if s == "" {
		return Frame{}, false
	}
	if strings.HasSuffix(s, ")") {
		if open := strings.LastIndex(s, " ("); open > 0 {
			if f, ok := dart(s[:open], s[open+2:len(s)-1]); ok {
				return f, true
			}
		}
	}
	return p.php(s)
}

// php reads "file.php(1): Class->method(…)". The line names the place of the call. The frame gets the place in the called function, which
// the line before has.
func (p *parser) php(s string) (Frame, bool) {
	f := Frame{Language: PHP, File: p.thrown, Line: p.thrownAt}
	if s == "{main}" {
		f.Function = s
		return f, true
	}
	called, ok := strings.CutPrefix(s, "[internal function]: ")
	if ok {
		p.thrown, p.thrownAt = "", 0
	} else {
		i := strings.Index(s, "): ")
		if i < 0 {
			return Frame{}, false
		}
		open := strings.LastIndexByte(s[:i], '(')
		if open < 0 || open+1 == i || !isDigit(s[open+1]) {
			return Frame{}, false
		}
		p.thrown, called = s[:open], s[i+3:]
		p.thrownAt, _ = number(s[open+1 : i])
	}
	if i := strings.IndexByte(called, '('); i > 0 {
		called = called[:i]
	}
	f.Function = called
	if i := strings.Index(called, "->"); i > 0 {
		f.Module, f.Function = called[:i], called[i+2:]
	} else if i := strings.Index(called, "::"); i > 0 && !strings.HasPrefix(called, "{") {
		f.Module, f.Function = called[:i], called[i+2:]
	} else if i := strings.LastIndexByte(called, '\\'); i > 0 && !strings.Contains(called[:i], "{") {
		f.Module, f.Function = called[:i], called[i+1:]
	}
	return f, true
}

// thrownIn returns the file and line at the end of a head of PHP: "Exception: text in /app/a.php:3".
func thrownIn(text string) (file string, line uint32) {
	i := strings.LastIndex(text, " in ")
	if i < 0 {
		return "", 0
	}
	file, line, ok := lastNumber(text[i+4:])
	if !ok || !strings.HasSuffix(file, ".php") {
		return "", 0
	}
	return file, line
}

// dart reads "Class.method" and "package:app/file.dart:1:2".
func dart(name, place string) (Frame, bool) {
	file, line, column, ok := location(place)
	if !strings.HasSuffix(file, ".dart") && !strings.HasPrefix(place, "dart:") {
		return Frame{}, false
	}
	if !ok {
		file = place
	}
	f := Frame{Language: Dart, Function: name, File: file, Line: line, Column: column}
	// "Class.method.<anonymous closure>": the method counts.
	f.Function = strings.TrimPrefix(f.Function, "new ")
	for {
		cut, found := strings.CutSuffix(f.Function, ".<anonymous closure>")
		if !found {
			break
		}
		f.Function = cut
	}
	if i := strings.IndexByte(f.Function, '.'); i > 0 {
		f.Module, f.Function = f.Function[:i], f.Function[i+1:]
	}
	return f, true
}

// elixir reads "(app 1.0.0) lib/file.ex:1: Module.function/2", also without the app.
func elixir(s string) (Frame, bool) {
	f := Frame{Language: Elixir}
	app := ""
	if s[0] == '(' {
		i := strings.Index(s, ") ")
		if i < 0 {
			return f, false
		}
		app, s = s[1:i], s[i+2:]
	}
	i := strings.Index(s, ": ")
	if i <= 0 {
		if app == "" || !strings.Contains(s, "/") || strings.IndexByte(s, ' ') >= 0 {
			return f, false
		}
		return elixirName(f, app, s), true
	}
	file, line, ok := lastNumber(s[:i])
	if !ok || !elixirFile(file) {
		return f, false
	}
	f.File, f.Line = file, line
	return elixirName(f, app, s[i+2:]), true
}

func elixirFile(file string) bool {
	return strings.HasSuffix(file, ".ex") || strings.HasSuffix(file, ".exs") || strings.HasSuffix(file, ".erl") ||
		strings.HasSuffix(file, ".eex") || strings.HasSuffix(file, ".heex") || strings.HasSuffix(file, ".leex") || strings.HasSuffix(file, "iex")
}

// elixirName reads "Module.function/2" and "anonymous fn/1 in Module.function/2". If the frame names no file, its file is the app, as
// code of a library has no other mark.
func elixirName(f Frame, app, name string) Frame {
	if i := strings.LastIndex(name, " in "); i >= 0 {
		name = name[i+4:]
	}
	name = strings.TrimPrefix(name, ":")
	if i := strings.IndexByte(name, '('); i > 0 { // arguments in place of the arity
		name = name[:i]
	} else if i := strings.LastIndexByte(name, '/'); i > 0 {
		name = name[:i]
	}
	f.Function = name
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		f.Module, f.Function = name[:i], name[i+1:]
	}
	if app != "" {
		library, _, _ := strings.Cut(app, " ")
		if elixirLibrary(library) {
			f.File = "deps/" + library
		}
	}
	return f
}

// erlang reads the tuples {module,function,arity,[{file,"x.erl"},{line,1}]} of a line.
func (p *parser) erlang(s string) (last Frame, ok bool) {
	for {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			return last, ok
		}
		s = s[i+1:]
		module, rest, found := strings.Cut(s, ",")
		if !found || !erlangAtom(module) {
			continue
		}
		function, rest, found := strings.Cut(rest, ",")
		if !found || !erlangAtom(strings.Trim(function, " ")) {
			continue
		}
		arity := strings.TrimLeft(rest, " ")
		if arity == "" || !isDigit(arity[0]) && arity[0] != '[' {
			continue
		}
		f := Frame{Language: Elixir, Module: strings.Trim(module, "'"), Function: strings.Trim(function, " '")}
		place := rest
		if end := strings.Index(place, "]}"); end >= 0 {
			place = place[:end]
		}
		if j := strings.Index(place, `{file,"`); j >= 0 {
			f.File, _, _ = strings.Cut(place[j+7:], `"`)
		}
		if j := strings.Index(place, `{line,`); j >= 0 {
			f.Line, _ = number(place[j+6:])
		}
		if f.File == "" && !strings.Contains(place, ",[") {
			continue
		}
		if ok {
			p.add(last)
		}
		last, ok = f, true
		s = rest
	}
}

func erlangAtom(s string) bool {
	if s == "" || !isLetter(s[0]) && s[0] != '\'' && s[0] != '-' {
		return false
	}
	return !strings.ContainsAny(s, " {}[]\"")
}
