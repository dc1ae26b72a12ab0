package store

import (
	"context"
	"errors"
	"slices"

	"github.com/svc-observability/svc/server/principal"
)

// IngestPolicy holds all settings of an organization that affect its ingest.
type IngestPolicy struct {
	// Mappings are the active mappings, in the order in which they run.
	Mappings []AttributeMapping
	Sampling SamplingPolicy
	// Plan is nil when nothing is limited.
	Plan *Plan
}

// IngestPolicy returns the policy of the organization, which need not exist. It leaves out settings from a newer version of the
// program that this version does not understand, so that they never stop ingest.
func (s *Store) IngestPolicy(ctx context.Context, org principal.OrgID) (IngestPolicy, error) {
	mappings, err := s.ListAttributeMappings(ctx, org)
	if err != nil {
		return IngestPolicy{}, err
	}
	out := IngestPolicy{Mappings: slices.DeleteFunc(mappings, func(m AttributeMapping) bool { return !m.Enabled || m.valid() != nil })}
	if out.Sampling, err = s.GetSamplingPolicy(ctx, org); err != nil {
		return IngestPolicy{}, err
	}
	plan, err := s.GetPlan(ctx, org)
	switch {
	case err == nil:
		plan.Limits = slices.DeleteFunc(plan.Limits, func(l PlanLimit) bool { return !slices.Contains(Signals(), l.Signal) })
		out.Plan = &plan
	case !errors.Is(err, ErrNotFound):
		return IngestPolicy{}, err
	}
	return out, nil
}
