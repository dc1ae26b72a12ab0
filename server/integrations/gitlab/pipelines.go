package gitlab

import (
	"cmp"
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source"
)

// pipeline is a run of CI.
type pipeline struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	Status  string    `json:"status"`
	Ref     string    `json:"ref"`
	SHA     string    `json:"sha"`
	WebURL  string    `json:"web_url"`
	Created time.Time `json:"created_at"`
	Updated time.Time `json:"updated_at"`
}

// state is GitLab's status of a pipeline in the words of source.Run.
func (p pipeline) state() (status, conclusion string) {
	switch p.Status {
	case "running", "canceling":
		return "in_progress", ""
	case "success":
		return "completed", "success"
	case "failed":
		return "completed", "failure"
	case "canceled":
		return "completed", "cancelled"
	case "skipped":
		return "completed", "skipped"
	case "manual": // everything is done but what a person has to start
		return "completed", "action_required"
	}
	return "queued", "" // created, waiting_for_resource, preparing, pending, scheduled
}

// statuses are the filters that GitLab has a status for. Others are applied here, to the newest pipelines.
var statuses = map[string]string{
	"in_progress": "running", "success": "success", "failure": "failed", "cancelled": "canceled", "skipped": "skipped",
	"action_required": "manual",
}

// pipelinePages bounds the pages of pipelines that a filter of ours looks at.
const pipelinePages = limits.SourceRunsSearched / pageSize

// Runs implements source.Host.
func (h *host) Runs(ctx context.Context, repo string, f source.RunFilter) ([]source.Run, error) {
	query := url.Values{"order_by": {"id"}, "sort": {"desc"}, "per_page": {strconv.Itoa(min(f.Limit, pageSize))}}
	for name, value := range map[string]string{"ref": f.Branch, "sha": f.SHA, "status": statuses[f.Status]} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if f.Status != "" && statuses[f.Status] == "" {
		query.Set("per_page", strconv.Itoa(pageSize))
	}
	var out []source.Run
	for page := 1; page <= pipelinePages; page++ {
		var list []pipeline
		query.Set("page", strconv.Itoa(page))
		res, err := h.get(ctx, query, "", &list, h.in(repo, "pipelines")...)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			run := p.neutral()
			if f.Status != "" && f.Status != run.Status && f.Status != run.Conclusion {
				continue
			}
			if run.Conclusion == "failure" {
				if run.FailedJobs, err = h.failedJobs(ctx, repo, p.ID, f.FailedJobs); err != nil {
					return nil, err
				}
			}
			if out = append(out, run); len(out) == f.Limit {
				return out, nil
			}
		}
		if len(list) == 0 || !hasNext(res.Header) {
			break
		}
	}
	return out, nil
}

func (p pipeline) neutral() source.Run {
	run := source.Run{
		ID: strconv.FormatInt(p.ID, 10), Name: cmp.Or(p.Name, "pipeline"), Branch: p.Ref, SHA: p.SHA, HTMLURL: p.WebURL,
		StartedAt: p.Created.UTC(),
	}
	run.Status, run.Conclusion = p.state()
	if run.Status == "completed" {
		run.CompletedAt = p.Updated.UTC()
	}
	return run
}

// failedJobs lists the failed jobs of a pipeline. Jobs of GitLab have no steps, so the reason of the failure stands for the failed step.
func (h *host) failedJobs(ctx context.Context, repo string, id int64, most int) ([]source.Job, error) {
	var list []struct {
		Name    string `json:"name"`
		Reason  string `json:"failure_reason"`
		WebURL  string `json:"web_url"`
		Allowed bool   `json:"allow_failure"`
	}
	query := url.Values{"scope[]": {"failed"}, "per_page": {strconv.Itoa(pageSize)}}
	_, err := h.get(ctx, query, "", &list, h.in(repo, "pipelines", strconv.FormatInt(id, 10), "jobs")...)
	if integrations.IsKind(err, integrations.NotFound) {
		return nil, nil // the pipeline was deleted after it was listed
	}
	if err != nil {
		return nil, err
	}
	var out []source.Job
	for _, j := range list {
		if len(out) < most && !j.Allowed {
			out = append(out, source.Job{Name: j.Name, FailedStep: j.Reason, HTMLURL: j.WebURL})
		}
	}
	return out, nil
}
