package sourcecode

import (
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type runRow struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Status      string   `json:"status"`
	Conclusion  *string  `json:"conclusion"`
	Branch      string   `json:"branch"`
	CommitSHA   string   `json:"commitSha"`
	HTMLURL     string   `json:"htmlUrl"`
	StartedAt   *string  `json:"startedAt"`
	CompletedAt *string  `json:"completedAt"`
	FailedJobs  []string `json:"failedJobs,omitempty"`
}

type runsResult struct {
	Runs []runRow `json:"runs"`
}

type ciRunsArgs struct {
	tool.Call
	Repository string `doc:"owner/name" required:"true"`
	Branch     *string
	CommitSHA  *string `doc:"40 hexadecimal digits."`
	Status     *string `of:"ListSourceCiRunsRequest.status"`
	Limit      *int    `of:"ListSourceCiRunsRequest.limit"`
}

func newCIRuns(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[runsResult](&tool.Tool{
		Name: "ci_runs", View: page, Title: "Runs of CI", OpenWorld: true,
		Description: "List runs of CI of a repository, the newest first, with the jobs and steps that failed.",
		Run: tool.With(func(ctx context.Context, a *ciRunsArgs) (*tool.Answer, error) {
			repo, err := repository(ctx, s, a.Repository)
			if err != nil {
				return nil, err
			}
			req := &svcv2.ListSourceCiRunsRequest{
				Id: repo.GetId(), Branch: a.Branch, CommitSha: a.CommitSHA, Status: a.Status,
				Limit: tool.Int32(a.Limit),
			}
			list, err := s.SourceCode.ListSourceCiRuns(ctx, req)
			if err != nil {
				return nil, err
			}
			res := runsResult{Runs: []runRow{}}
			var cells [][]string
			for _, r := range list.GetRuns() {
				row := runRow{
					ID: r.GetId(), Name: r.GetName(), Status: r.GetStatus(), Conclusion: r.Conclusion, Branch: r.GetBranch(), CommitSHA: r.GetCommitSha(),
					HTMLURL: r.GetHtmlUrl(), StartedAt: tool.Moment(r.GetStartedAt()), CompletedAt: tool.Moment(r.GetCompletedAt()),
				}
				for _, j := range r.GetFailedJobs() {
					row.FailedJobs = append(row.FailedJobs, strings.TrimSuffix(j.GetName()+": "+j.GetFailedStep(), ": "))
				}
				res.Runs = append(res.Runs, row)
				end := row.Status
				if row.Conclusion != nil {
					end = *row.Conclusion
				}
				cells = append(cells, []string{
					row.ID, wording.OneLine(row.Name), end, wording.OneLine(row.Branch), row.CommitSHA[:min(12, len(row.CommitSHA))],
					wording.OneLine(strings.Join(row.FailedJobs, "; ")),
				})
			}
			text := tool.Page{
				Scope:  []tool.Pair{tool.Labeled("Repository", list.GetRepository())},
				Blocks: []tool.Block{tool.Table("", "No run matches.", []string{"id", "workflow", "state", "branch", "commit", "failed jobs"}, cells)},
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

type commitRow struct {
	SHA     string  `json:"sha"`
	Message string  `json:"message"`
	Author  string  `json:"author"`
	Date    *string `json:"date"`
}

type changeRow struct {
	Path      string  `json:"path"`
	Status    string  `json:"status"`
	Additions int32   `json:"additions"`
	Deletions int32   `json:"deletions"`
	Patch     *string `json:"patch,omitempty"`
}

type comparisonResult struct {
	Repository string      `json:"repository"`
	Status     string      `json:"status"`
	AheadBy    int32       `json:"aheadBy"`
	BehindBy   int32       `json:"behindBy"`
	MergeBase  *string     `json:"mergeBase"`
	Commits    []commitRow `json:"commits"`
	Files      []changeRow `json:"files"`
	Truncated  bool        `json:"truncated"`
}

type compareCommitsArgs struct {
	tool.Call
	Repository string `doc:"owner/name" required:"true"`
	Base       string `doc:"Branch, tag or commit." required:"true"`
	Head       string `doc:"Branch, tag or commit." required:"true"`
	Limit      *int   `of:"CompareSourceCommitsRequest.max_commits"`
}

func newCompareCommits(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[comparisonResult](&tool.Tool{
		Name: "compare_commits", View: page, Title: "Compare commits", OpenWorld: true,
		Description: "List the commits of head that base does not have, and what they change, as for two releases.",
		Run: tool.With(func(ctx context.Context, a *compareCommitsArgs) (*tool.Answer, error) {
			repo, err := repository(ctx, s, a.Repository)
			if err != nil {
				return nil, err
			}
			req := &svcv2.CompareSourceCommitsRequest{Id: repo.GetId(), Base: a.Base, Head: a.Head, MaxCommits: tool.Int32(a.Limit)}
			c, err := s.SourceCode.CompareSourceCommits(ctx, req)
			if err != nil {
				return nil, err
			}
			return comparisonAnswer(c), nil
		}),
	})
}

func comparisonAnswer(c *svcv2.SourceComparison) *tool.Answer {
	res := comparisonResult{
		Repository: c.GetRepository(), Status: c.GetStatus(), AheadBy: c.GetAheadBy(), BehindBy: c.GetBehindBy(), MergeBase: c.MergeBaseSha,
		Commits: []commitRow{}, Files: []changeRow{}, Truncated: c.GetTruncated(),
	}
	text := tool.Page{Scope: []tool.Pair{
		tool.Labeled("Repository", res.Repository),
		tool.Labeled("Head", fmt.Sprintf("%s, %d commits ahead, %d behind", res.Status, res.AheadBy, res.BehindBy)),
	}}
	if res.Truncated {
		text.Notes = append(text.Notes, "Commits, files or parts of patches are left out.")
	}
	if len(c.GetCommits())+len(c.GetFiles()) > 0 {
		text.Notes = append(text.Notes, data)
	}
	var cells [][]string
	for _, one := range c.GetCommits() {
		row := commitRow{SHA: one.GetSha(), Message: one.GetMessage(), Author: one.GetAuthorName(), Date: tool.Moment(one.GetCommittedAt())}
		res.Commits = append(res.Commits, row)
		first, _, _ := strings.Cut(row.Message, "\n")
		cells = append(cells, []string{row.SHA[:min(12, len(row.SHA))], wording.Clip(wording.OneLine(first), 120), wording.OneLine(row.Author)})
	}
	text.Blocks = append(text.Blocks, tool.Table("Commits", "There are no commits between them.", []string{"commit", "message", "author"},
		cells))
	for _, f := range c.GetFiles() {
		res.Files = append(res.Files, changeRow{f.GetPath(), f.GetStatus(), f.GetAdditions(), f.GetDeletions(), f.Patch})
		b := tool.Block{Heading: fmt.Sprintf("%s (%s, +%d -%d)", wording.OneLine(f.GetPath()), f.GetStatus(), f.GetAdditions(), f.GetDeletions())}
		if f.GetPatch() != "" {
			b.Rows = strings.Split(strings.TrimSuffix(f.GetPatch(), "\n"), "\n")
		} else {
			b.Rows = []string{"The patch is left out."}
		}
		text.Blocks = append(text.Blocks, b)
	}
	return &tool.Answer{Data: res, Text: text}
}
