package store

import (
	"context"
	"errors"
	"slices"

	"github.com/svc-observability/svc/server/principal"
)

// IngestPolicy is all that an organization has decided about what it ingests.
type IngestPolicy struct {
	// Mappings are those that run, in their order.
	Mappings []AttributeMapping
	Sampling SamplingPolicy
	// Plan is nil when nothing is limited.
	Plan *Plan
}

// IngestPolicy returns the policy of the organization, which need not exist. What a newer version of the program has written and
// this one does not understand is left out, so that it never stops ingest.
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
