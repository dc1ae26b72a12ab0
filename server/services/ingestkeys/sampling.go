package ingestkeys

import (
	"context"
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// GetSamplingPolicy returns the organization's policy. The default policy keeps every span.
func (s *Service) GetSamplingPolicy(ctx context.Context, _ *svcv2.GetSamplingPolicyRequest) (*svcv2.SamplingPolicy, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	policy, err := s.store.GetSamplingPolicy(ctx, caller.Org)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return ToSamplingPolicy(policy), nil
}

// UpdateSamplingPolicy changes the fields that the mask names.
func (s *Service) UpdateSamplingPolicy(ctx context.Context, req *svcv2.UpdateSamplingPolicyRequest) (*svcv2.SamplingPolicy, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	old, err := s.store.GetSamplingPolicy(ctx, caller.Org)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	paths := req.GetUpdateMask().GetPaths()
	if len(paths) == 0 {
		return ToSamplingPolicy(old), nil
	}
	in := store.SamplingPolicyParams{
		TraceSampleRatio: old.TraceSampleRatio, AlwaysKeepErrorSpans: old.AlwaysKeepErrorSpans, AlwaysKeepSlowSpansMS: old.AlwaysKeepSlowSpansMS,
	}
	for _, path := range paths {
		switch path {
		case "trace_sample_ratio":
			in.TraceSampleRatio = req.GetTraceSampleRatio()
		case "always_keep_error_spans":
			in.AlwaysKeepErrorSpans = req.GetAlwaysKeepErrorSpans()
		case "always_keep_slow_spans_ms":
			in.AlwaysKeepSlowSpansMS = req.AlwaysKeepSlowSpansMs
		default:
			return nil, fmt.Errorf("ingestkeys: no update of the field %s", path)
		}
	}
	policy, err := s.store.PutSamplingPolicy(ctx, caller.Org, in)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return ToSamplingPolicy(policy), nil
}

// ToSamplingPolicy returns a policy as the API shows it.
func ToSamplingPolicy(p store.SamplingPolicy) *svcv2.SamplingPolicy {
	return &svcv2.SamplingPolicy{
		Object: "sampling_policy", TraceSampleRatio: p.TraceSampleRatio, AlwaysKeepErrorSpans: p.AlwaysKeepErrorSpans,
		AlwaysKeepSlowSpansMs: p.AlwaysKeepSlowSpansMS, CreatedAt: optional(p.CreatedAt), UpdatedAt: optional(p.UpdatedAt),
	}
}
