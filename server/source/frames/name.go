package frames

import (
	"bytes"
	"strings"

	"github.com/svc-observability/svc/server/stacktrace"
)

// nameOf is the name that a person gave to the function of a frame, without its class, arguments, and the words of compilers.
func nameOf(f *stacktrace.Frame) string {
	name := f.Function
	switch f.Language {
	case stacktrace.Java:
		name = strings.TrimPrefix(strings.TrimPrefix(name, "lambda$"), "$anonfun$")
		if name == "<init>" || name == "<clinit>" {
			name = f.Module
			name, _, _ = strings.Cut(name[strings.LastIndexByte(name, '.')+1:], "$")
		}
		name, _, _ = strings.Cut(name, "$")
	case stacktrace.DotNet:
		// "<ChargeAsync>d__5.MoveNext", "<Charge>b__0", "get_Total", ".ctor".
		if name == "MoveNext" {
			name = f.Module
		}
		if i := strings.LastIndexByte(name, '<'); i >= 0 {
			if j := strings.IndexByte(name[i:], '>'); j > 1 {
				return plain(name[i+1 : i+j])
			}
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name[strings.LastIndexByte(name, '.')+1:], "get_"), "set_")
		if name == "ctor" || name == "cctor" {
			name = f.Module[strings.LastIndexAny(f.Module, ".+")+1:]
		}
	case stacktrace.JavaScript:
		name, _, _ = strings.Cut(name, " [as ")
		name = strings.TrimSuffix(name, "/<")
		name = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(name, "async "), "new "), "get ")
		name = name[strings.LastIndexByte(name, '.')+1:]
	case stacktrace.Go:
		name = closures(name)
	case stacktrace.Rust:
		name = strings.ReplaceAll(name, "::{{closure}}", "")
		name = name[strings.LastIndexByte(name, ':')+1:]
	case stacktrace.Elixir:
		name = strings.TrimPrefix(name, "-")
		name, _, _ = strings.Cut(name, "/")
		name, _, _ = strings.Cut(name, "(")
		name = name[strings.LastIndexByte(name, '.')+1:]
	case stacktrace.Swift, stacktrace.Ruby:
		if i := strings.LastIndex(name, " in "); i >= 0 { // "closure #1 in Shop.charge()", "block (2 levels) in charge"
			name = name[i+4:]
		}
		name, _, _ = strings.Cut(name, "(")
		name = name[strings.LastIndexAny(name, ".#")+1:]
	case stacktrace.Dart:
		name = strings.ReplaceAll(name, ".<anonymous closure>", "")
		name = name[strings.LastIndexByte(name, '.')+1:]
	}
	return plain(name)
}

// closures cuts the receiver and the counters of closures: "(*Cart).Total.func1.2" is Total.
func closures(name string) string {
	parts := strings.Split(strings.ReplaceAll(name, "[...]", ""), ".")
	for i := len(parts) - 1; i >= 0; i-- {
		word, _, _ := strings.Cut(parts[i], "[")
		word, _, _ = strings.Cut(word, "-")
		counter := strings.TrimRight(word, "0123456789")
		if counter == "" || counter != word && (counter == "func" || counter == "gowrap" || counter == "deferwrap") {
			continue
		}
		return word
	}
	return ""
}

// plain returns a name if it is a word that stands in the source, else "". Languages give functions without a name one of these words.
func plain(name string) string {
	name = strings.TrimRight(name, "!?=") // Ruby
	if len(name) < 2 {
		return ""
	}
	for i := range len(name) {
		if !wordByte(name[i]) {
			return ""
		}
	}
	switch name {
	case "anonymous", "invoke", "invokeSuspend", "apply", "accept", "eval", "module", "main", "init", "lambda", "call":
		return ""
	}
	return name
}

func wordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// hasWord reports whether a text has a word.
func hasWord(text []byte, word string) bool {
	for {
		i := bytes.Index(text, []byte(word))
		if i < 0 {
			return false
		}
		end := i + len(word)
		if (i == 0 || !wordByte(text[i-1])) && (end == len(text) || !wordByte(text[end])) {
			return true
		}
		text = text[end:]
	}
}
