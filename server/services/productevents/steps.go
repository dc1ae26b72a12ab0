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

func invalid(param, format string, args ...any) error {
	return apierr.New(apierr.ParameterInvalid, param+" "+fmt.Sprintf(format, args...), apierr.Param(param))
}

// toStep reads a step. at is its place in the request. It refuses fields that the kind of step does not use.
func toStep(at string, s *svcv2.ProductEventStep) (reads.Step, error) {
	for _, f := range reads.StepFields(s) {
		switch path := at + "." + f.Name; {
		case f.Given && f.Kind != s.GetKind():
			return reads.Step{}, invalid(path, "is allowed only in steps of the kind %s; this step is of the kind %s.", f.Kind, s.GetKind())
		case !f.Given && f.Needed && f.Kind == s.GetKind():
			return reads.Step{}, invalid(path, "is required for steps of the kind %s.", f.Kind)
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
