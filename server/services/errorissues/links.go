package errorissues

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

const limitLinks = limits.IssueLinks

// pullRequest reads the address of a pull request of GitHub, or of a merge request of GitLab, on any host.
func pullRequest(field, address string) (*store.ErrorIssuePullRequest, error) {
	bad := func(reason string) error {
		return apierr.New(apierr.ErrorIssuePullRequestInvalid, fmt.Sprintf(
			"`%s` %s. Give the address of a pull request, https://github.com/OWNER/REPOSITORY/pull/NUMBER, or of a merge request, "+
				"https://gitlab.com/GROUP/PROJECT/-/merge_requests/NUMBER.", field, reason), apierr.Param(field))
	}
	u, err := url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil || u.Host == "":
		return nil, bad("is not a URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, bad("must begin with https://")
	case u.User != nil:
		return nil, bad("must hold no credentials")
	}
	parts := strings.Split(strings.Trim(u.Path, "/"), "/")
	if slices.Contains(parts, "") || slices.Contains(parts, "..") {
		return nil, bad("has no usable path")
	}
	out := &store.ErrorIssuePullRequest{}
	var number, path string
	switch at := slices.Index(parts, "merge_requests"); {
	case len(parts) >= 4 && parts[2] == "pull":
		out.Provider, out.RepoFullName, number = "github", parts[0]+"/"+parts[1], parts[3]
		path = out.RepoFullName + "/pull/" + number
	case at >= 3 && parts[at-1] == "-" && len(parts) > at+1:
		out.Provider, out.RepoFullName, number = "gitlab", strings.Join(parts[:at-1], "/"), parts[at+1]
		path = out.RepoFullName + "/-/merge_requests/" + number
	default:
		return nil, bad("does not lead to a pull request")
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != number {
		return nil, bad("has no number of a pull request")
	}
	out.Number = n
	// One address for the same pull request, whatever page of it was copied.
	out.URL = u.Scheme + "://" + strings.ToLower(u.Host) + "/" + path
	return out, nil
}

// ListErrorIssuePullRequests lists the links of an issue.
func (s *Workflow) ListErrorIssuePullRequests(
	ctx context.Context, req *svcv2.ListErrorIssuePullRequestsRequest,
) (*svcv2.ListErrorIssuePullRequestsResponse, error) {
	caller, issue, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.ListErrorIssuePullRequests(ctx, caller.Org, issue.ID, limitLinks)
	if err != nil {
		return nil, failure(ctx, err)
	}
	ids := make([]*uuid.UUID, len(rows))
	for i := range rows {
		ids[i] = rows[i].LinkedByActorID
	}
	by, err := s.actorsOf(ctx, caller.Org, ids...)
	if err != nil {
		return nil, err
	}
	res := &svcv2.ListErrorIssuePullRequestsResponse{Object: "list"}
	for i := range rows {
		res.Data = append(res.Data, pullRequestMessage(&rows[i], by))
	}
	return res, nil
}

// LinkErrorIssuePullRequest links a pull request.
func (s *Workflow) LinkErrorIssuePullRequest(
	ctx context.Context, req *svcv2.LinkErrorIssuePullRequestRequest,
) (*svcv2.ErrorIssuePullRequest, error) {
	link, err := pullRequest("url", req.GetUrl())
	if err != nil {
		return nil, err
	}
	if err := s.state(link, req); err != nil {
		return nil, err
	}
	caller, _, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.ask(ctx, caller.Org, link, req); err != nil {
		return nil, err
	}
	if err := s.link(ctx, req.GetId(), link); err != nil {
		return nil, err
	}
	list, err := s.ListErrorIssuePullRequests(ctx, &svcv2.ListErrorIssuePullRequestsRequest{Id: req.GetId()})
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(list.GetData(), func(p *svcv2.ErrorIssuePullRequest) bool { return p.GetUrl() == link.URL })
	if at < 0 {
		return nil, apierr.New(apierr.ErrorIssuePullRequestNotFound, "The link was removed in the meantime.")
	}
	return list.GetData()[at], nil
}

// state reads the state of a pull request.
func (c *Config) state(link *store.ErrorIssuePullRequest, req *svcv2.LinkErrorIssuePullRequestRequest) error {
	link.State = req.GetState()
	switch {
	case link.State == store.PullRequestMerged:
	case req.GetMergedAt() != nil:
		return apierr.New(apierr.ErrorIssuePullRequestInvalid, "`merged_at` needs `state` merged.", apierr.Param("merged_at"))
	case req.MergeCommitSha != nil:
		return apierr.New(apierr.ErrorIssuePullRequestInvalid, "`merge_commit_sha` needs `state` merged.", apierr.Param("merge_commit_sha"))
	default:
		return nil
	}
	now := c.Now().UTC()
	link.MergedAt = &now
	if at := timeOf(req.GetMergedAt()); at != nil {
		if at.After(now.Add(limits.IssueMergeAhead)) {
			return apierr.New(apierr.ErrorIssuePullRequestInvalid, "`merged_at` must not be in the future.", apierr.Param("merged_at"))
		}
		link.MergedAt = at
	}
	if req.MergeCommitSha != nil {
		commit := strings.ToLower(req.GetMergeCommitSha())
		link.MergeCommitSha = &commit
	}
	return nil
}

// ask asks the source host about a pull request. The answer of the host counts; if it cannot be asked, the link says why.
func (c *Config) ask(
	ctx context.Context, org principal.OrgID, link *store.ErrorIssuePullRequest, req *svcv2.LinkErrorIssuePullRequestRequest,
) error {
	call, cancel := context.WithTimeout(ctx, limits.PullRequestWait)
	defer cancel()
	said, err := c.Code.PullRequest(call, org, link)
	now := c.Now().UTC()
	var problem *issues.Unreadable
	switch {
	case ctx.Err() != nil:
		return apierr.From(ctx.Err())
	case errors.As(err, &problem):
	case call.Err() != nil:
		problem = &issues.Unreadable{Text: "The source host did not answer in time."}
	case err != nil:
		return failure(ctx, err)
	case req.State != nil && req.GetState() != said.State:
		return apierr.New(apierr.ErrorIssuePullRequestInvalid,
			"`state` "+req.GetState()+" is not the state at the source host, which says "+said.State+". Leave `state` out.",
			apierr.Param("state"))
	case req.MergeCommitSha != nil && !strings.HasPrefix(said.MergeCommit, strings.ToLower(req.GetMergeCommitSha())):
		return apierr.New(apierr.ErrorIssuePullRequestInvalid,
			"`merge_commit_sha` is not the commit at the source host, which says "+said.MergeCommit+". Leave `merge_commit_sha` out.",
			apierr.Param("merge_commit_sha"))
	default:
		issues.Told(link, said, now)
	}
	issues.Schedule(link, problem, now)
	return nil
}

// link links a pull request to an issue as the caller, or notes its state.
func (c *Config) link(ctx context.Context, id string, link *store.ErrorIssuePullRequest) error {
	_, err := c.changeLinked(ctx, id, func(
		r *store.IssueRecord, links []store.ErrorIssuePullRequest, act issues.Act, by store.IssueActor,
	) error {
		fresh := !slices.ContainsFunc(links, func(l store.ErrorIssuePullRequest) bool { return l.URL == link.URL })
		if fresh && len(links) >= limitLinks {
			return apierr.New(apierr.ErrorIssuePullRequestInvalid,
				fmt.Sprintf("The issue has %d pull requests, and it can have no more. Unlink one first.", limitLinks), apierr.Param("url"))
		}
		link.LinkSource = by.Type
		if link.CheckedAt != nil && slices.ContainsFunc(links, func(l store.ErrorIssuePullRequest) bool {
			return l.URL == link.URL && l.State == store.PullRequestMerged && link.State != l.State
		}) {
			link.State = "" // the merge was reported earlier than the host shows it
		}
		return issues.Link(r, *link, links, act)
	})
	return err
}

// UnlinkErrorIssuePullRequest removes a link.
func (s *Workflow) UnlinkErrorIssuePullRequest(
	ctx context.Context, req *svcv2.UnlinkErrorIssuePullRequestRequest,
) (*svcv2.ErrorIssue, error) {
	caller, issue, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	link, err := publicid.Decode(publicid.ErrorPullRequest, req.GetPullRequestId())
	if err != nil {
		return nil, failure(ctx, store.ErrNoPullRequest)
	}
	by, err := s.actor(ctx, caller)
	if err != nil {
		return nil, err
	}
	i, err := s.Store.UnlinkErrorIssuePullRequest(ctx, caller.Org, issue.ID, link,
		func(r *store.IssueRecord, l store.ErrorIssuePullRequest) error {
			issues.Unlink(r, l, issues.Act{Actor: &by.ID, At: s.Now().UTC()})
			return nil
		})
	return s.answer(ctx, i, failure(ctx, err))
}

// MergeErrorIssues merges issues into one.
func (s *Workflow) MergeErrorIssues(ctx context.Context, req *svcv2.MergeErrorIssuesRequest) (*svcv2.ErrorIssue, error) {
	caller, into, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	refuse := func(reason string) error {
		return apierr.New(apierr.ErrorValidation, "`issue_ids` "+reason+".", apierr.Param("issue_ids"))
	}
	var ids []uuid.UUID
	for _, text := range req.GetIssueIds() {
		id, err := publicid.Decode(publicid.ErrorIssue, text)
		if err != nil {
			return nil, refuse("holds " + strconv.Quote(text) + ", which is not the id of an error issue")
		}
		if slices.Contains(ids, id) {
			return nil, refuse("names an issue twice")
		}
		ids = append(ids, id)
	}
	if slices.Contains(ids, into.ID) {
		return nil, refuse("names the issue itself")
	}
	by, err := s.actor(ctx, caller)
	if err != nil {
		return nil, err
	}
	i, err := s.Store.MergeErrorIssues(ctx, caller.Org, into.ID, ids, func(to *store.IssueRecord, from []*store.IssueRecord) error {
		for _, f := range from {
			if f.Kind != to.Kind || f.Kind != store.IssueKindError {
				return refuse("names an issue that is not about an error; only those can be merged")
			}
		}
		issues.Merge(to, from, publicIssue, issues.Act{Actor: &by.ID, At: s.Now().UTC()})
		return nil
	})
	return s.answer(ctx, i, failure(ctx, err))
}

// SplitErrorIssue takes fingerprints out of an issue.
func (s *Workflow) SplitErrorIssue(ctx context.Context, req *svcv2.SplitErrorIssueRequest) (*svcv2.ErrorIssue, error) {
	caller, from, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	by, err := s.actor(ctx, caller)
	if err != nil {
		return nil, err
	}
	i, err := s.Store.SplitErrorIssue(ctx, caller.Org, from.ID, req.GetFingerprintHashes(), func(old, made *store.IssueRecord) error {
		issues.Split(old, made, req.GetFingerprintHashes(), publicIssue, issues.Act{Actor: &by.ID, At: s.Now().UTC()})
		return nil
	})
	return s.answer(ctx, i, failure(ctx, err))
}

// reserved are the beginnings of names that the server gives.
func reserved(name string) bool {
	lower := strings.ToLower(strings.TrimSpace(name))
	return strings.HasPrefix(lower, "key:") || strings.HasPrefix(lower, "user:") || strings.HasPrefix(lower, "svc") || lower == "system"
}

// RegisterErrorIssueAgent registers an agent.
func (s *Workflow) RegisterErrorIssueAgent(ctx context.Context, req *svcv2.RegisterErrorIssueAgentRequest) (*svcv2.Actor, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if caller.Kind != principal.KindSession && caller.Kind != principal.KindOAuth {
		return nil, apierr.New(apierr.ErrorForbidden, "An API key cannot register agents. Sign in, or use an OAuth grant of a user.")
	}
	if reserved(req.GetName()) {
		return nil, apierr.New(apierr.ErrorValidation, "`name` is reserved: names that begin with key:, user: or svc belong to the server.",
			apierr.Param("name"))
	}
	row, err := s.Store.RegisterAgent(ctx, caller.Org, store.IssueActor{
		User: caller.User, Name: req.GetName(), Model: req.Model, Capabilities: req.GetCapabilities(),
	})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return actorMessage(row), nil
}
