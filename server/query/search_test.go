package query

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/apierr"
)

// TestNarrowed joins conditions with a text, and names the character at which a text cannot be read.
func TestNarrowed(t *testing.T) {
	conditions := And(Where("service.name", OpEqual, "cart"), Where("has_error", OpEqual, "true"))
	for text, want := range map[string]string{
		"": `service.name = "cart" AND has_error = "true"`, " ": `service.name = "cart" AND has_error = "true"`,
		"duration > 5 OR span.kind = Server":  `service.name = "cart" AND has_error = "true" AND (duration > "5" OR span.kind = "Server")`,
		"span.name = x AND NOT attr.k exists": `service.name = "cart" AND has_error = "true" AND span.name = "x" AND NOT attr.k exists`,
	} {
		got, err := Narrowed(Traces, conditions, text, apierr.TraceQueryInvalid)
		if err != nil || got.String() != want {
			t.Errorf("%q gives %s, %v", text, got, err)
		}
		if got.Service() == nil {
			t.Errorf("%q hides the service, by which the latest spans are found", text)
		}
	}
	if got, err := Narrowed(Traces, Filter{}, "duration > 5 AND service.name = cart", apierr.TraceQueryInvalid); err != nil ||
		got.Service() == nil {
		t.Errorf("the service of a text is not found: %v, %v", got, err)
	}
	if got, err := Narrowed(Traces, Filter{}, "duration > 5 OR service.name = cart", apierr.TraceQueryInvalid); err != nil ||
		got.Service() != nil {
		t.Errorf("one side of an OR counts as the service: %v, %v", got, err)
	}
	_, err := Narrowed(Traces, conditions, strings.Repeat("attr.k = v AND ", 49)+"attr.k = v", apierr.TraceQueryInvalid)
	if e := (*apierr.Error)(nil); !errors.As(err, &e) || e.Tag != apierr.TraceQueryInvalid || e.Param != "where" {
		t.Errorf("too many conditions together: %v", err)
	}
	_, err = Narrowed(Logs, conditions, "körper contains x OR >", apierr.LogQueryInvalid)
	var e *apierr.Error
	if !errors.As(err, &e) || e.Tag != apierr.LogQueryInvalid || e.Param != "where" {
		t.Fatalf("a text that cannot be read: %v", err)
	}
	reason := "at character 22: a condition is expected, such as service.name = checkout, not `>`"
	if diff := cmp.Diff([]apierr.Violation{{Field: "where", Message: reason}}, e.Violations); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
	// The methods of queries name the character in the same way.
	_, err = SignalQuery{Source: Logs, Aggregation: "count", Where: "a = 1 OR"}.Request()
	if err = Explain(err, apierr.LogQueryInvalid); !errors.As(err, &e) || len(e.Violations) != 1 || e.Violations[0].Field != "where" {
		t.Errorf("a query whose text cannot be read: %v", err)
	}
}
