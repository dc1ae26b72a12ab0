package errorissues

import (
	"context"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/errorstack"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/source/frames"
	"github.com/svc-observability/svc/server/source/suspects"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/wording"
)

// suspects adds the commits that may have brought an issue. An organization without repositories, or a caller without the right to read
// source code, costs no read of the warehouse.
func (s *Issues) suspects(
	ctx context.Context, caller *principal.Principal, issue *store.ErrorIssue, w query.Window, samples []reads.ErrorSampleRow,
	out *svcv2.ErrorIssueDetail,
) error {
	if s.Suspects == nil || len(samples) == 0 || !caller.Allows("integrations", false) {
		return nil
	}
	connected, err := s.Store.ListSourceRepositories(ctx, caller.Org, store.RepositoryFilter{Status: store.RepositoryActive}, 0, 1)
	if err != nil {
		return resource().Failure(ctx, err)
	}
	if len(connected) == 0 {
		return nil
	}
	stacks, err := read.All[reads.ErrorStackRow](ctx, s.Warehouse, caller.Org, reads.ErrorStacks(samples))
	if err != nil || len(stacks) == 0 {
		return err
	}
	row := stacks[0]
	q := suspects.Question{At: issue.FirstSeenAt.UTC(), Head: errorstack.Origin(row)}
	if again := issue.LastRegressedAt; again != nil && again.After(q.At) {
		q.At = again.UTC()
	}
	head, base, err := s.releases(ctx, caller.Org, row, q.At)
	if err != nil {
		return err
	}
	q.Head.At = q.At
	if head != nil {
		q.Head.Commit, q.Head.Version = head.Commit, head.Version
	}
	if base != nil {
		q.Base = frames.Origin{Commit: base.Commit, Version: base.Version}
	}
	answer := s.Suspects.Suspects(ctx, caller, q, frames.CallsOf(row.Stack, row.Message), errorstack.Others(s.Warehouse, caller.Org, w, row))
	if answer.Problem != "" {
		out.SuspectProblem = &answer.Problem
	}
	for i := range answer.Commits {
		out.SuspectCommits = append(out.SuspectCommits, suspectMessage(&answer, &answer.Commits[i], q))
	}
	return nil
}

// releases returns the release of a service in which something began, and the release of another commit before it. Either may be nil.
func (s *Issues) releases(
	ctx context.Context, org principal.OrgID, row reads.ErrorStackRow, at time.Time,
) (head, base *reads.ReleaseCommitRow, err error) {
	list, err := read.All[reads.ReleaseListRow](ctx, s.Warehouse, org, reads.Releases(reads.ReleaseList{
		Window:  query.Window{Start: at.Add(-limits.SuspectWindow), End: at.Add(time.Minute)},
		Service: &row.Service, DeploymentEnvironment: &row.Environment, Limit: limits.SuspectReleases, Rollups: s.Rollups,
	}))
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	commits, err := read.All[reads.ReleaseCommitRow](ctx, s.Warehouse, org, reads.ReleaseCommits(list))
	if err != nil {
		return nil, nil, err
	}
	of := map[string]string{}
	for _, c := range commits {
		of[c.Version] = c.Commit
	}
	for _, r := range list { // the release that began last comes first
		one := &reads.ReleaseCommitRow{Service: r.Service, Environment: r.Environment, Version: r.Version, Commit: of[r.Version]}
		switch {
		case head == nil:
			head = one
		case one.Commit == "" || one.Commit != head.Commit:
			return head, one, nil
		}
	}
	return head, nil, nil
}

func suspectMessage(a *suspects.Answer, c *suspects.Suspect, q suspects.Question) *svcv2.SuspectCommit {
	first, _, _ := strings.Cut(c.Message, "\n")
	out := &svcv2.SuspectCommit{
		Repository: a.Repository, Sha: c.SHA, Message: wording.Clip(first, limits.SuspectMessage), AuthorName: c.AuthorName,
		CommittedAt: timestamppb.New(c.CommittedAt), HtmlUrl: c.HTMLURL, Path: c.Path, Line: int32(c.Line), IsNear: c.Near,
		IsAssumed: a.Base == "",
	}
	if c.AuthorLogin != "" {
		out.AuthorLogin = &c.AuthorLogin
	}
	out.Reason = fmt.Sprintf("It changed %s, which is in the stack.", c.Path)
	if c.Near {
		out.Reason = fmt.Sprintf("It changed %s within five lines of line %d, which is in the stack.", c.Path, c.Line)
	}
	if out.GetIsAssumed() {
		out.Reason = "Assumed, because the commit of the release before the error is not known: " + strings.ToLower(out.Reason[:1]) +
			out.Reason[1:]
	} else {
		if a.Deployed { // the names of releases are those of other commits
			q.Head, q.Base = frames.Origin{}, frames.Origin{}
		}
		out.Reason += fmt.Sprintf(" It came with %s, in which the error began; before ran %s.", named(q.Head, a.Head), named(q.Base, a.Base))
	}
	return out
}

// named is a release with its commit.
func named(o frames.Origin, sha string) string {
	if o.Version == "" {
		return sha[:7]
	}
	return wording.Clip(wording.OneLine(o.Version), 60) + " (" + sha[:7] + ")"
}
