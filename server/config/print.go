package config

import (
	"fmt"
	"slices"
	"strings"
)

// Entry is one key with its value in force, fit for printing: a secret reads ***.
type Entry struct {
	Key    Key    `json:"-"`
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source Source `json:"source"`
}

// Entries returns every key in table order.
func (c Config) Entries() []Entry {
	var out []Entry
	for _, key := range Keys() {
		r := c.resolved[key.Name]
		value := r.text
		switch key.Kind {
		case KindSecret:
			value = Secret(value).String()
		case KindDSN:
			value = DSN(value).String()
		}
		out = append(out, Entry{Key: key, Name: key.Name, Value: value, Source: r.source})
	}
	return out
}

// Changed returns the keys that are not at their defaults.
func (c Config) Changed() []Entry {
	return slices.DeleteFunc(c.Entries(), func(e Entry) bool { return e.Source == sourceDefault })
}

// MarkdownTable renders the keys for the documentation.
func MarkdownTable() string {
	var b strings.Builder
	b.WriteString("| key and flag | variable | default | meaning |\n|---|---|---|---|\n")
	for _, key := range Keys() {
		variable := "`" + key.Env() + "`"
		if key.Secret() {
			variable += ", `" + key.Env() + envFileSuffix + "`"
		}
		def := "–"
		if key.Default != "" {
			def = "`" + key.Default + "`"
		}
		help := strings.ReplaceAll(key.Help, "|", `\|`)
		if key.Kind == KindChoice || key.Kind == KindRoles {
			help += ": `" + strings.Join(key.Choices, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", key.Flag(), variable, def, help)
	}
	return b.String()
}
