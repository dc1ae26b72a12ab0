package gitlab

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/source"
)

// mergeRequest is a merge request as GitLab describes it.
type mergeRequest struct {
	Number int64  `json:"iid"`
	State  string `json:"state"`
	Title  string `json:"title"`
	Body   string `json:"description"`
	Author struct {
		Username string `json:"username"`
	} `json:"author"`
	Branch      string    `json:"source_branch"`
	From        int64     `json:"source_project_id"`
	Into        int64     `json:"target_project_id"`
	WebURL      string    `json:"web_url"`
	Updated     time.Time `json:"updated_at"`
	MergedAt    time.Time `json:"merged_at"`
	SHA         string    `json:"sha"`
	MergeCommit string    `json:"merge_commit_sha"`
	Squash      string    `json:"squash_commit_sha"`
}

func (m mergeRequest) neutral() source.PullRequest {
	out := source.PullRequest{
		State: "open", Title: m.Title, AuthorLogin: m.Author.Username, Number: m.Number, Body: m.Body, Branch: m.Branch, Head: m.SHA,
		HTMLURL: m.WebURL, Foreign: m.From != m.Into, UpdatedAt: m.Updated.UTC(),
	}
	switch m.State {
	case "closed":
		out.State = "closed"
	case "merged":
		// Without a merge commit, the branch went forward to the squashed commit, or to its own last one.
		out.State, out.MergedAt, out.MergeCommit = "merged", m.MergedAt.UTC(), cmp.Or(m.MergeCommit, m.Squash, m.SHA)
	}
	return out
}

// PullRequest implements source.Host: it reads a merge request.
func (h *host) PullRequest(ctx context.Context, repo string, number int64, etag string) (source.PullRequest, bool, error) {
	var m mergeRequest
	res, err := h.get(ctx, nil, etag, &m, h.in(repo, "merge_requests", strconv.FormatInt(number, 10))...)
	if err != nil {
		return source.PullRequest{}, false, err
	}
	if res.Status == http.StatusNotModified {
		return source.PullRequest{}, false, nil
	}
	out := m.neutral()
	out.ETag = res.Header.Get("ETag")
	return out, true, nil
}

// mergePage is the number of merge requests that one request reads. Most looks find few that changed.
const mergePage = 30

// PullRequests implements source.Host.
func (h *host) PullRequests(ctx context.Context, repo string, l source.PullRequestList) (source.PullRequestPage, error) {
	out := source.PullRequestPage{ETag: l.ETag}
	for page := 1; len(out.List) < l.Limit; page++ {
		query := url.Values{
			"scope": {"all"}, "state": {"all"}, "order_by": {"updated_at"}, "sort": {"desc"}, "per_page": {strconv.Itoa(mergePage)},
			"page": {strconv.Itoa(page)},
		}
		etag := ""
		if page == 1 {
			etag = l.ETag
		}
		var list []mergeRequest
		res, err := h.get(ctx, query, etag, &list, h.in(repo, "merge_requests")...)
		if err != nil {
			return source.PullRequestPage{}, err
		}
		if pause := half(res.Header); pause > 0 {
			return source.PullRequestPage{}, spare(pause)
		}
		if res.Status == http.StatusNotModified {
			out.Unchanged = true
			return out, nil
		}
		if page == 1 {
			out.ETag = res.Header.Get("ETag")
		}
		for _, m := range list {
			one := m.neutral()
			if !one.UpdatedAt.After(l.Since) || len(out.List) == l.Limit {
				return out, nil
			}
			out.List = append(out.List, one)
		}
		if len(list) == 0 || !hasNext(res.Header) {
			break
		}
	}
	return out, nil
}

// spare is the problem that half of the quota is used: the rest is for people and agents.
func spare(pause time.Duration) error {
	p := integrations.NewProblem(integrations.RateLimited, nil, "Half of the quota at GitLab is used; the project is read later.")
	p.RetryAfter = pause
	return p
}

// PullRequestCommits implements source.Host.
func (h *host) PullRequestCommits(ctx context.Context, repo string, number int64) (out []string, err error) {
	var list []commit
	query := url.Values{"per_page": {strconv.Itoa(pageSize)}}
	_, err = h.get(ctx, query, "", &list, h.in(repo, "merge_requests", strconv.FormatInt(number, 10), "commits")...)
	for _, c := range list {
		out = append(out, c.Message)
	}
	return out, err
}

// Deployments implements source.Host. GitLab says when a job of a deployment ended, and the state of the deployment with it.
func (h *host) Deployments(ctx context.Context, repo string, l source.DeploymentList) ([]source.Deployment, error) {
	var list []struct {
		ID          int64  `json:"id"`
		SHA         string `json:"sha"`
		Ref         string `json:"ref"`
		Status      string `json:"status"`
		Environment struct {
			Name string `json:"name"`
			URL  string `json:"external_url"`
			// AutoStop is when GitLab will stop it by itself.
			AutoStop *time.Time `json:"auto_stop_at"`
		} `json:"environment"`
		Created time.Time `json:"created_at"`
		Updated time.Time `json:"updated_at"`
		Job     struct {
			Finished time.Time `json:"finished_at"`
		} `json:"deployable"`
	}
	query := url.Values{"order_by": {"created_at"}, "sort": {"desc"}, "per_page": {strconv.Itoa(min(l.Newest, pageSize))}}
	if _, err := h.get(ctx, query, "", &list, h.in(repo, "deployments")...); err != nil {
		return nil, err
	}
	var out []source.Deployment
	for _, d := range list {
		if d.Created.Before(l.Since) || l.Settled[strconv.FormatInt(d.ID, 10)] {
			continue
		}
		one := source.Deployment{
			ID: strconv.FormatInt(d.ID, 10), Environment: d.Environment.Name, State: deploymentState(d.Status), HostState: d.Status,
			CommitSHA: d.SHA, Ref: d.Ref, URL: d.Environment.URL, StartedAt: d.Created.UTC(),
			// The tier does not say it: an environment that a whole team uses may be of the tier "development".
			Preview: strings.HasPrefix(d.Environment.Name, "review/") || d.Environment.AutoStop != nil,
		}
		if d.Status == "success" {
			one.ReadyAt = d.Updated.UTC()
			if !d.Job.Finished.IsZero() {
				one.ReadyAt = d.Job.Finished.UTC()
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// deploymentState is a status of GitLab in the words of source.Deployment.
func deploymentState(status string) string {
	switch status {
	case "created", "blocked":
		return source.DeploymentQueued
	case "running":
		return source.DeploymentBuilding
	case "success":
		return source.DeploymentReady
	case "failed":
		return source.DeploymentError
	case "canceled", "skipped":
		return source.DeploymentCanceled
	}
	return source.DeploymentUnknown
}
