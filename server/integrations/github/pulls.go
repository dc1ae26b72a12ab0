package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	api "github.com/google/go-github/v88/github"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
)

// conditional reads an address. With the ETag of an earlier answer, an unchanged one is answered by changed=false.
func (h *host) conditional(ctx context.Context, address, etag string, into any) (res *api.Response, changed bool, err error) {
	req, err := h.client.NewRequest(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, false, fmt.Errorf("github: %w", err)
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	res, err = h.client.Do(req, into)
	if err != nil {
		if res != nil && res.StatusCode == http.StatusNotModified {
			return res, false, nil
		}
		return nil, false, problem(err)
	}
	return res, true, nil
}

// spare is a problem if half of the quota is used: the rest is for people and agents.
func spare(r api.Rate) error {
	if r.Limit == 0 || r.Remaining >= r.Limit/2 {
		return nil
	}
	p := integrations.NewProblem(integrations.RateLimited, nil, "Half of the quota at GitHub is used; the repository is read later.")
	p.RetryAfter = max(time.Second, time.Until(r.Reset.Time))
	return p
}

// PullRequest implements source.Host. GitHub does not count a conditional request that it answers with 304.
func (h *host) PullRequest(ctx context.Context, repo string, number int64, etag string) (source.PullRequest, bool, error) {
	owner, name := split(repo)
	var p api.PullRequest
	res, changed, err := h.conditional(ctx, fmt.Sprintf("repos/%s/%s/pulls/%d", url.PathEscape(owner), url.PathEscape(name), number), etag, &p)
	if err != nil || !changed {
		return source.PullRequest{}, false, err
	}
	out := pullRequest(&p)
	out.ETag = res.Header.Get("ETag")
	return out, true, nil
}

// pullRequest reads a pull request. In a list, GitHub reports a merge by its time alone.
func pullRequest(p *api.PullRequest) source.PullRequest {
	out := source.PullRequest{
		State: p.GetState(), Title: p.GetTitle(), AuthorLogin: p.GetUser().GetLogin(), Number: int64(p.GetNumber()), Body: p.GetBody(),
		Branch: p.GetHead().GetRef(), Head: p.GetHead().GetSHA(), HTMLURL: p.GetHTMLURL(), UpdatedAt: p.GetUpdatedAt().Time,
		// GitHub leaves out the repository of a branch that was deleted.
		Foreign: p.GetHead().GetRepo().GetID() == 0 || p.GetHead().GetRepo().GetID() != p.GetBase().GetRepo().GetID(),
	}
	if p.MergedAt != nil {
		out.State, out.MergedAt, out.MergeCommit = "merged", p.GetMergedAt().Time, p.GetMergeCommitSHA()
	}
	return out
}

// PullRequests implements source.Host.
func (h *host) PullRequests(ctx context.Context, repo string, l source.PullRequestList) (source.PullRequestPage, error) {
	owner, name := split(repo)
	out := source.PullRequestPage{ETag: l.ETag}
	for page := 1; page != 0 && len(out.List) < l.Limit; {
		var list []*api.PullRequest
		etag := ""
		if page == 1 {
			etag = l.ETag
		}
		res, changed, err := h.conditional(ctx, fmt.Sprintf("repos/%s/%s/pulls?state=all&sort=updated&direction=desc&per_page=%d&page=%d",
			url.PathEscape(owner), url.PathEscape(name), pullPage, page), etag, &list)
		if err != nil {
			return source.PullRequestPage{}, err
		}
		if !changed {
			out.Unchanged = true
			return out, spare(res.Rate)
		}
		if page == 1 {
			out.ETag = res.Header.Get("ETag")
		}
		page = res.NextPage
		for _, p := range list {
			one := pullRequest(p)
			if !one.UpdatedAt.After(l.Since) || len(out.List) == l.Limit {
				page = 0
				break
			}
			out.List = append(out.List, one)
		}
		if err := spare(res.Rate); err != nil {
			return source.PullRequestPage{}, err
		}
	}
	return out, nil
}

// pullPage is the number of pull requests that one request reads. Most looks find few that changed.
const pullPage = 30

// PullRequestCommits implements source.Host.
func (h *host) PullRequestCommits(ctx context.Context, repo string, number int64) ([]string, error) {
	owner, name := split(repo)
	list, _, err := h.client.PullRequests.ListCommits(ctx, owner, name, int(number), &api.ListOptions{PerPage: pageSize})
	if err != nil {
		return nil, problem(err)
	}
	var out []string
	for _, c := range list {
		out = append(out, c.GetCommit().GetMessage())
	}
	return out, nil
}
