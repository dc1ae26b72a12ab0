// Package tooltest has the parts that the tests of all tools share: a fixed time, and schemas of answers.
package tooltest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// Now is the time of the calls.
func Now() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

// Resolve reads a schema as clients do.
func Resolve(t *testing.T, schema any) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	again(t, schema, &s)
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Validate checks a result, in the form that clients see, against a schema.
func Validate(t *testing.T, schema, result any) {
	t.Helper()
	var seen any
	again(t, result, &seen)
	if err := Resolve(t, schema).Validate(seen); err != nil {
		t.Error(err)
	}
}

// again reads the JSON of a value.
func again(t *testing.T, v, into any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}
