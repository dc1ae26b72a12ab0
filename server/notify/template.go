package notify

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/nearest"
)

// TemplateKeys lists the keys of templates.
func TemplateKeys() []string {
	return []string{
		"rule.name", "rule.id", "event.type", "event.label", "event.emoji", "severity", "signal", "signal.label", "comparator.label",
		"threshold", "thresholdUpper", "value", "observed.summary", "sampleCount", "group", "window", "incidentId", "incidentStatus",
		"links.app", "links.chat", "sentAt",
	}
}

// part is a piece of a template: text, the value of a key, or a block.
type part struct {
	text string
	// key is empty for text. fallback is written when the value is empty.
	key, fallback string
	// block is written if the value of the key is not empty.
	block []part
	isIf  bool
}

var (
	tag       = regexp.MustCompile(`\{\{(.*?)\}\}`)
	valueTag  = regexp.MustCompile(`^\s*([A-Za-z][A-Za-z0-9_.]*)\s*(?:\|\s*default:\s*"([^"]*)"\s*)?$`)
	ifTag     = regexp.MustCompile(`^#if\s+([A-Za-z][A-Za-z0-9_.]*)\s*$`)
	knownKeys = TemplateKeys()
)

// parseTemplate reads a text with keys. It knows `{{ key }}`, `{{ key | default:"x" }}` and `{{#if key}}…{{/if}}`.
func parseTemplate(text string) ([]part, error) {
	var out, inner []part
	open := "" // the key of the block that is open
	add := func(p part) {
		if open != "" {
			inner = append(inner, p)
		} else {
			out = append(out, p)
		}
	}
	for {
		at := tag.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		if at[0] > 0 {
			add(part{text: text[:at[0]]})
		}
		body := text[at[2]:at[3]]
		text = text[at[1]:]
		if m := ifTag.FindStringSubmatch(strings.TrimSpace(body)); m != nil {
			if open != "" {
				return nil, fmt.Errorf("has a block {{#if %s}} inside the block {{#if %s}}; blocks cannot be nested", m[1], open)
			}
			if err := checkKey(m[1]); err != nil {
				return nil, err
			}
			open, inner = m[1], nil
			continue
		}
		if strings.TrimSpace(body) == "/if" {
			if open == "" {
				return nil, fmt.Errorf("has {{/if}} without {{#if key}}")
			}
			out, open = append(out, part{key: open, block: inner, isIf: true}), ""
			continue
		}
		m := valueTag.FindStringSubmatch(body)
		if m == nil {
			return nil, fmt.Errorf("has {{%s}}, but a template may have {{ key }}, {{ key | default:\"text\" }}, {{#if key}} and {{/if}} only", body)
		}
		if err := checkKey(m[1]); err != nil {
			return nil, err
		}
		add(part{key: m[1], fallback: m[2]})
	}
	if open != "" {
		return nil, fmt.Errorf("has a block {{#if %s}} without {{/if}}", open)
	}
	if strings.Contains(text, "{{") {
		return nil, fmt.Errorf("has {{ without }}")
	}
	if text != "" {
		out = append(out, part{text: text})
	}
	return out, nil
}

func checkKey(key string) error {
	if slices.Contains(knownKeys, key) {
		return nil
	}
	return fmt.Errorf("has the unknown key %s; did you mean %s?", key, nearest.Name(key, knownKeys))
}

// write puts the values into a template. escape is for values, literal for the text of the template.
func write(parts []part, value func(key string) string, escape, literal func(string) string) string {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.isIf:
			if value(p.key) != "" {
				b.WriteString(write(p.block, value, escape, literal))
			}
		case p.key != "":
			if v := value(p.key); v != "" {
				b.WriteString(escape(v))
			} else {
				b.WriteString(literal(p.fallback))
			}
		default:
			b.WriteString(literal(p.text))
		}
	}
	return b.String()
}

// CheckTemplate checks the template of a rule. field is its name in the request. The error is a *FieldError, which names the part.
func CheckTemplate(field string, t *Template) error {
	if t == nil {
		return nil
	}
	check := func(field string, text Text) error {
		for _, part := range []struct{ name, text string }{{"title", text.Title}, {"body", text.Body}} {
			name := field + "." + part.name
			if n := utf8.RuneCountInString(part.text); n > limits.NotificationText {
				return &FieldError{name, fmt.Sprintf("has %d characters; at most %d are allowed", n, limits.NotificationText)}
			}
			if !utf8.ValidString(part.text) || strings.ContainsRune(part.text, 0) {
				return &FieldError{name, "holds bytes that are not text"}
			}
			if _, err := parseTemplate(part.text); err != nil {
				return &FieldError{name, err.Error()}
			}
		}
		return nil
	}
	if err := check(field, t.Text); err != nil {
		return err
	}
	for _, kind := range slices.Sorted(maps.Keys(t.Overrides)) {
		if !slices.Contains(Types(), kind) {
			return &FieldError{
				field + ".overrides." + kind, fmt.Sprintf("is not a type of destination; did you mean %s?", nearest.Name(kind, Types())),
			}
		}
		if err := check(field+".overrides."+kind, t.Overrides[kind]); err != nil {
			return err
		}
	}
	return nil
}

// texts returns the templates of title and body for a type of destination, in the order in which they are tried.
func (t *Template) texts(kind string) (titles, bodies []string) {
	if t != nil {
		for _, text := range []Text{t.Overrides[kind], t.Text} {
			titles, bodies = append(titles, text.Title), append(bodies, text.Body)
		}
	}
	return append(titles, builtInTitle), append(bodies, builtInBody)
}

// first writes the first template that gives a text. A stored template that is not readable counts as empty: a message is never lost
// because of its text.
func first(templates []string, value func(string) string, escape, literal func(string) string) string {
	for _, t := range templates {
		parts, err := parseTemplate(t)
		if err != nil {
			continue
		}
		if out := strings.TrimSpace(write(parts, value, escape, literal)); out != "" {
			return out
		}
	}
	return ""
}
