package store

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/samplingpolicy"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// SamplingPolicy says which spans of an organization are kept.
type SamplingPolicy struct {
	// TraceSampleRatio is between MinSampleRatio and 1. The value 1 keeps every span.
	TraceSampleRatio      float64
	AlwaysKeepErrorSpans  bool
	AlwaysKeepSlowSpansMS *int64
	// CreatedAt and UpdatedAt are nil for an organization without a policy of its own.
	CreatedAt, UpdatedAt *time.Time
}

// MinSampleRatio is the smallest ratio. A smaller ratio is raised to it.
const MinSampleRatio = 1. / limits.LeastSampleParts

const maxSlowMS = int64(limits.SlowSpan / time.Millisecond)

// DefaultSamplingPolicy keeps every span.
func DefaultSamplingPolicy() SamplingPolicy {
	return SamplingPolicy{TraceSampleRatio: 1, AlwaysKeepErrorSpans: true}
}

// SamplingPolicyParams is a policy to put.
type SamplingPolicyParams struct {
	// TraceSampleRatio is clamped to the range from MinSampleRatio to 1.
	TraceSampleRatio      float64
	AlwaysKeepErrorSpans  bool
	AlwaysKeepSlowSpansMS *int64
}

func (p *SamplingPolicyParams) check() error {
	var c checker
	if math.IsNaN(p.TraceSampleRatio) || math.IsInf(p.TraceSampleRatio, 0) {
		c.fail("trace_sample_ratio", "must be a number from %g to 1", MinSampleRatio)
	}
	p.TraceSampleRatio = min(max(p.TraceSampleRatio, MinSampleRatio), 1)
	if ms := p.AlwaysKeepSlowSpansMS; ms != nil && (*ms < 1 || *ms > maxSlowMS) {
		c.fail("always_keep_slow_spans_ms", "must be from 1 to %d milliseconds, or null to keep none for its duration", maxSlowMS)
	}
	return c.err()
}

// GetSamplingPolicy returns the organization's policy, or DefaultSamplingPolicy if it has none.
func (s *Store) GetSamplingPolicy(ctx context.Context, org principal.OrgID) (SamplingPolicy, error) {
	return samplingPolicyOf(ctx, s.read.SamplingPolicy, org)
}

func samplingPolicyOf(ctx context.Context, c *ent.SamplingPolicyClient, org principal.OrgID) (SamplingPolicy, error) {
	row, err := c.Query().Where(samplingpolicy.OrgID(string(org))).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return DefaultSamplingPolicy(), nil
	case err != nil:
		return SamplingPolicy{}, mapError("get sampling policy", err)
	}
	return toSamplingPolicy(row), nil
}

// PutSamplingPolicy sets or replaces the organization's policy. It returns an *InvalidError if the input breaks a rule.
func (s *Store) PutSamplingPolicy(ctx context.Context, org principal.OrgID, in SamplingPolicyParams) (out SamplingPolicy, err error) {
	if err := in.check(); err != nil {
		return SamplingPolicy{}, err
	}
	err = s.mutate(ctx, "put sampling policy", func(tx *ent.Tx) (Change, error) {
		old, err := samplingPolicyOf(ctx, tx.SamplingPolicy, org)
		if err != nil {
			return Change{}, err
		}
		id, err := uuid.NewV7()
		if err != nil {
			return Change{}, err
		}
		now := s.stamp()
		err = tx.SamplingPolicy.Create().SetID(id).SetOrgID(string(org)).SetTraceSampleRatio(in.TraceSampleRatio).
			SetAlwaysKeepErrorSpans(in.AlwaysKeepErrorSpans).SetNillableAlwaysKeepSlowSpansMs(in.AlwaysKeepSlowSpansMS).
			SetCreatedAt(now).SetUpdatedAt(now).
			OnConflictColumns(samplingpolicy.FieldOrgID).
			Update(func(u *ent.SamplingPolicyUpsert) {
				u.UpdateTraceSampleRatio().UpdateAlwaysKeepErrorSpans().UpdateAlwaysKeepSlowSpansMs().UpdateUpdatedAt()
			}).Exec(ctx)
		if err != nil {
			return Change{}, err
		}
		if out, err = samplingPolicyOf(ctx, tx.SamplingPolicy, org); err != nil {
			return Change{}, err
		}
		return Change{Subject: SubjectIngestPolicy, Org: org}, s.audit(ctx, tx, org, AuditEvent{
			Action: "sampling_policy.updated", Before: old.auditFields(), After: out.auditFields(),
		})
	})
	if err != nil {
		return SamplingPolicy{}, err
	}
	return out, nil
}

// ResetSamplingPolicy returns the organization to DefaultSamplingPolicy. Doing it again changes nothing.
func (s *Store) ResetSamplingPolicy(ctx context.Context, org principal.OrgID) error {
	err := s.mutate(ctx, "reset sampling policy", func(tx *ent.Tx) (Change, error) {
		old, err := samplingPolicyOf(ctx, tx.SamplingPolicy, org)
		if err != nil {
			return Change{}, err
		}
		n, err := tx.SamplingPolicy.Delete().Where(samplingpolicy.OrgID(string(org))).Exec(ctx)
		if err := affected("reset sampling policy", n, err); err != nil {
			return Change{}, err
		}
		to := DefaultSamplingPolicy()
		return Change{Subject: SubjectIngestPolicy, Org: org}, s.audit(ctx, tx, org, AuditEvent{
			Action: "sampling_policy.reset", Before: old.auditFields(), After: to.auditFields(),
		})
	})
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

func (p *SamplingPolicy) auditFields() map[string]any {
	return map[string]any{
		"trace_sample_ratio": p.TraceSampleRatio, "always_keep_error_spans": p.AlwaysKeepErrorSpans,
		"always_keep_slow_spans_ms": p.AlwaysKeepSlowSpansMS,
	}
}

func toSamplingPolicy(row *ent.SamplingPolicy) SamplingPolicy {
	created, updated := utc(row.CreatedAt), utc(row.UpdatedAt)
	return SamplingPolicy{
		TraceSampleRatio: row.TraceSampleRatio, AlwaysKeepErrorSpans: row.AlwaysKeepErrorSpans, AlwaysKeepSlowSpansMS: row.AlwaysKeepSlowSpansMs,
		CreatedAt: &created, UpdatedAt: &updated,
	}
}
