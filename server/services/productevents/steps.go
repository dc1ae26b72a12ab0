package productevents

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	kindEvent   = "event"
	kindPage    = "page"
	kindSession = "session"
)

func invalid(param, format string, args ...any) error {
	return apierr.New(apierr.ParameterInvalid, param+" "+fmt.Sprintf(format, args...), apierr.Param(param))
}

// toStep reads a step. at is its place in the request. It refuses fields that the kind of step does not use.
func toStep(at string, s *svcv2.ProductEventStep) (reads.Step, error) {
	type field struct {
		name  string
		given bool
		kind  string
		// needed fields are required.
		needed bool
	}
	for _, f := range []field{
		{"event_name", s.EventName != nil, kindEvent, true},
		{"attribute_equals", len(s.GetAttributeEquals()) > 0, kindEvent, false},
		{"page_path", s.PagePath != nil, kindPage, true},
		{"host", s.Host != nil, kindPage, false},
		{"dimension", s.Dimension != nil, kindSession, true},
		{"value", s.Value != nil, kindSession, true},
	} {
		switch path := at + "." + f.name; {
		case f.given && f.kind != s.GetKind():
			return reads.Step{}, invalid(path, "is allowed only in steps of the kind %s; this step is of the kind %s.", f.kind, s.GetKind())
		case !f.given && f.needed && f.kind == s.GetKind():
			return reads.Step{}, invalid(path, "is required for steps of the kind %s.", f.kind)
		}
	}
	if problem := reads.CheckStepAttributes(s.GetAttributeEquals()); problem != "" {
		return reads.Step{}, invalid(at+".attribute_equals", "%s.", problem)
	}
	return reads.NewStep(s, s.Host), nil
}

// toBreakdown reads the field of the groups.
func toBreakdown(by *string) (dimension, attribute string, err error) {
	if by == nil {
		return "", "", nil
	}
	dimension, attribute = reads.NewBreakdown(*by)
	dimensions := query.SessionDimensions()
	switch {
	case attribute != "" || dimensions[dimension] != "":
		return dimension, attribute, nil
	case dimension == "" && *by != "":
		return "", "", invalid("breakdown_by", "must name an attribute after %q.", reads.AttributePrefix)
	}
	return "", "", invalid("breakdown_by", "must be %s, or %s and the key of an attribute.",
		strings.Join(slices.Sorted(maps.Keys(dimensions)), ", "), reads.AttributePrefix)
}
