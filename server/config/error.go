package config

import (
	"fmt"
	"strings"

	"github.com/svc-observability/svc/server/nearest"
)

// Source is the origin of a value.
type Source string

// sourceDefault is the source of a default value.
const sourceDefault Source = "default"

func fromFlag(k Key) Source { return Source("flag " + k.Flag()) }

func fromEnv(variable string) Source { return Source("environment variable " + variable) }

func fromFile(path string) Source { return Source("file " + path) }

// Error is one problem of the configuration.
type Error struct {
	Key    string // as written by the user when it is unknown, else the key's name; empty: the file itself is bad
	Source Source
	Reason string // the problem, and the allowed values
}

func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("configuration: %s: %s", e.Source, e.Reason)
	}
	return fmt.Sprintf("configuration: %s (%s): %s", e.Key, e.Source, e.Reason)
}

// badValue names the value unless it is a secret.
func badValue(k Key, r resolved, why string) *Error {
	value := fmt.Sprintf("%q is not allowed: ", r.text)
	if k.Secret() {
		value = "the value is not allowed: "
	}
	return &Error{Key: k.Name, Source: r.source, Reason: value + why + "; allowed: " + k.Allowed()}
}

// Allowed describes the values of the key.
func (k Key) Allowed() string {
	optional := ""
	if k.Default == "" {
		optional = ", or nothing"
	}
	//exhaustive:enforce
	switch k.Kind {
	case KindAddress:
		return "host:port with a port from 0 to 65535, such as 127.0.0.1:8080" + optional
	case KindURL:
		return "a URL such as https://svc.example.com" + optional
	case KindDSN:
		return "a URL such as scheme://user:password@host:port/database" + optional
	case KindName:
		return "up to 32 lower-case letters, digits and dashes, beginning with a letter"
	case KindRoles:
		return "a comma-separated list of " + strings.Join(k.Choices, ", ")
	case KindChoice:
		return strings.Join(k.Choices, ", ")
	case KindSecret:
		if k.Min == 0 {
			return "any text" + optional
		}
		return fmt.Sprintf("%d characters or more", k.Min) + optional
	case KindPEM:
		return "an RSA private key in the PEM format" + optional
	case KindText:
		return "text" + optional
	case KindDuration:
		return "a duration above zero such as 500ms, 30s or 2m"
	case KindSize:
		return fmt.Sprintf("bytes, at least %s, as 64MiB, 20MB or 1048576", Size(k.Min))
	case KindCount:
		return fmt.Sprintf("a whole number, at least %d", k.Min)
	case KindList:
		return "comma-separated networks or addresses such as 10.0.0.0/8,fd00::/8" + optional
	case KindPath:
		return "a path" + optional
	}
	return "any text" + optional
}

// unknown suggests the most similar candidate.
func unknown(name string, source Source, candidates []string) *Error {
	return &Error{
		Key:    name,
		Source: source,
		Reason: fmt.Sprintf(
			"there is no such setting; the nearest is %s (all of them: svc config print --effective)",
			nearest.Name(name, candidates),
		),
	}
}
