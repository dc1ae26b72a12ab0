package errorissues

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// verifications adds the checks of the fixes of an issue.
func (c *Config) verifications(ctx context.Context, i *store.ErrorIssue, out *svcv2.ErrorIssueDetail) error {
	rows, err := c.Store.ListErrorIssueVerifications(ctx, i.Org, i.ID, limits.IssueVerifications)
	if err != nil {
		return resource().Failure(ctx, err)
	}
	for n := range rows {
		v, err := verificationMessage(&rows[n])
		if err != nil {
			return err
		}
		out.Verifications = append(out.Verifications, v)
	}
	return nil
}

func verificationMessage(v *store.ErrorIssueVerification) (*svcv2.ErrorIssueVerification, error) {
	f, err := issues.ReadFigures(v.Figures)
	if err != nil {
		return nil, err
	}
	out := &svcv2.ErrorIssueVerification{
		Id: publicid.Encode(publicid.ErrorVerification, v.ID), IssueId: publicIssue(v.IssueID), Attempt: int32(v.Attempt), Status: v.Status,
		Reason: v.Reason, PullRequestUrl: v.URL, CommitSha: v.Commit, Version: v.Version, FixedAt: timestamppb.New(v.FixedAt),
		DeployedAt: stamp(v.DeployedAt), EstimatedSpanCount: f.Spans, SpanShare: f.Share, ExpectedOccurrenceCount: f.Expected,
		OccurrenceCount: f.Occurrences, OtherOccurrenceCount: f.Others, CheckedAt: stamp(v.CheckedAt), EndedAt: stamp(v.EndedAt),
		CreatedAt: timestamppb.New(v.CreatedAt),
	}
	if f.DeployedBy != "" {
		out.DeployedBy = &f.DeployedBy
	}
	for _, r := range f.Releases {
		p := &svcv2.ErrorIssueFixedRelease{
			DeploymentEnvironment: r.Environment, Version: r.Version, FirstSeen: timestamppb.New(r.First), LastSeen: timestamppb.New(r.Last),
			State: r.State, EstimatedSpanCount: r.Spans, OccurrenceCount: r.Occurrences,
		}
		if r.Commit != "" {
			p.CommitSha = &r.Commit
		}
		out.Releases = append(out.Releases, p)
	}
	return out, nil
}
