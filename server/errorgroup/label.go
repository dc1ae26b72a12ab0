package errorgroup

import (
	"encoding/json"
	"strconv"
	"strings"
)

// unknownLabel is the label of an error that says nothing about itself.
const unknownLabel = "Unknown Error"

// label returns the type, or the start of the message, or the operation.
func (g *Grouper) label(e *Exception, variant Variant, message string) string {
	switch {
	case len(g.types) > 0:
		return cut(g.types[0], maxLabel)
	case variant == Operation:
		return operationLabel(e)
	default:
		return messageLabel(message)
	}
}

// title returns the type and the normal message.
func (g *Grouper) title(e *Exception, label string) string {
	if len(g.types) == 0 {
		return label
	}
	message := e.Message
	if message == "" {
		message = e.StatusMessage
	}
	if message == "" {
		message = headMessage(e.Stack, g.types[0])
	}
	normal := AppendNormal(nil, message)
	if len(normal) == 0 {
		return label
	}
	return cut(label+": "+string(normal), maxLabel)
}

func operationLabel(e *Exception) string {
	label := e.SpanName
	if label == "" {
		label = unknownLabel
	}
	if e.HTTPStatus > 0 {
		label += ": HTTP " + strconv.Itoa(int(e.HTTPStatus))
	}
	if e.GRPCStatus != "" {
		label += ": gRPC " + e.GRPCStatus
	}
	return cut(label, maxLabel)
}

// messageLabel returns the name in a message that is a JSON object, or the text before the first sign that ends a phrase.
func messageLabel(message string) string {
	message = strings.TrimSpace(message)
	if message == "" {
		return unknownLabel
	}
	if strings.HasPrefix(message, "{") && len(message) <= maxObject {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(message), &object) == nil {
			return objectLabel(object)
		}
	}
	if parseDump(message) {
		return "Schema parse error"
	}
	end := len(message)
	for i := range len(message) {
		if i >= 3 && phraseEnd(message[i:]) {
			end = i
			break
		}
	}
	return cut(strings.TrimSpace(message[:end]), maxLabel)
}

func phraseEnd(s string) bool {
	switch s[0] {
	case '\n', '(':
		return true
	case ':', ',':
		return len(s) > 1 && s[1] == ' '
	}
	return false
}

func objectLabel(object map[string]json.RawMessage) string {
	for _, key := range [...]string{"title", "message", "error", "_tag", "reason", "name", "type"} {
		var text string
		if json.Unmarshal(object[key], &text) != nil || text == "" {
			continue
		}
		if key == "type" {
			text = text[strings.LastIndexAny(text, "/.:#")+1:]
		}
		if text != "" {
			return cut(text, maxLabel)
		}
	}
	return "JSON error"
}

// parseDump reports the output of a schema checker, which lists many failures.
func parseDump(message string) bool {
	first, _, more := strings.Cut(message, "\n")
	if !more {
		return false
	}
	first = strings.TrimSpace(strings.TrimPrefix(strings.ToLower(first), "schema"))
	for _, word := range [...]string{"parse", "decode"} {
		if rest, ok := strings.CutPrefix(first, word); ok {
			rest = strings.TrimPrefix(rest, " ")
			if rest, ok = strings.CutPrefix(rest, "error"); ok && (rest == "" || !isLetter(rest[0])) {
				return true
			}
		}
	}
	return false
}

// headMessage returns the message in the first line of a stack that has the type in it.
func headMessage(stack, typ string) string {
	if len(stack) > maxObject {
		stack = stack[:maxObject]
	}
	i := strings.Index(stack, typ+": ")
	if i < 0 {
		return ""
	}
	rest := stack[i+len(typ)+2:]
	if end := strings.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimSpace(rest)
}

// cleanType cuts a type: its addresses and proxies would make groups of one error each.
func cleanType(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.Index(s, "0x"); i > 0 {
		s = s[:i]
	}
	if i := strings.Index(s, "$$"); i > 0 {
		s = s[:i]
	}
	return cut(s, maxType)
}

// genericType reports a type that says nothing about the cause. The message then is part of the group.
func genericType(s string) bool {
	switch strings.TrimPrefix(s, "*") {
	case "", "Error", "Exception", "RuntimeError", "StandardError", "Throwable", "object", "Object", "string", "String", "panic",
		"builtins.Exception",
		"errors.errorString", "errors.joinError", "fmt.wrapError", "fmt.wrapErrors", "errors.fundamental", "errors.withStack",
		"errors.withMessage",
		"errors.Error", "runtime.Error", "xerrors.wrapError", "xerrors.errorString",
		"java.lang.Exception", "java.lang.RuntimeException", "java.lang.Throwable", "java.lang.Error", "kotlin.Exception",
		"kotlin.RuntimeException",
		"System.Exception", "System.ApplicationException", "System.SystemException", "ErrorException", "RuntimeException",
		"anyhow::Error", "anyhow.Error", "eyre::Report", "Box<dyn Error>", "alloc::boxed::Box<dyn core::error::Error>",
		"Elixir.RuntimeError", "NSError", "_Exception", "UnhandledRejection":
		return true
	}
	return false
}
