package sourcecode

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type repositoryRow struct {
	Provider      string  `json:"provider"`
	FullName      string  `json:"fullName"`
	TrackedBranch *string `json:"trackedBranch"`
	DefaultBranch *string `json:"defaultBranch"`
	HTMLURL       string  `json:"htmlUrl"`
	IsPrivate     bool    `json:"isPrivate"`
	IsArchived    bool    `json:"isArchived"`
}

type repositoriesResult struct {
	Repositories []repositoryRow `json:"repositories"`
}

type listSourceRepositoriesArgs struct {
	tool.Call
	Search *string `doc:"A part of the name."`
}

func newListSourceRepositories(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[repositoriesResult](&tool.Tool{
		Name: "list_source_repositories", View: page, Title: "Repositories", OpenWorld: true,
		Description: "List the repositories whose source code the organization's connected accounts give access to.",
		Run: tool.With(func(ctx context.Context, a *listSourceRepositoriesArgs) (*tool.Answer, error) {
			active := "active"
			all, more, err := tool.Collect(ctx, nil, 0, limits.ToolRepositories,
				func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.SourceRepository, *string, error) {
					res, err := s.SourceHosting.ListSourceRepositories(ctx, &svcv2.ListSourceRepositoriesRequest{
						Limit: &limit, Cursor: cursor, Search: a.Search, Status: &active,
					})
					return res.GetData(), tool.NextCursor(res), err
				})
			if err != nil {
				return nil, err
			}
			res := repositoriesResult{Repositories: []repositoryRow{}}
			var cells [][]string
			for _, r := range all {
				res.Repositories = append(res.Repositories, repositoryRow{
					r.GetProvider(), r.GetFullName(), r.TrackedBranch, r.DefaultBranch, r.GetHtmlUrl(), r.GetIsPrivate(), r.GetIsArchived(),
				})
				state := ""
				if r.GetIsArchived() {
					state = "archived"
				}
				cells = append(cells, []string{r.GetFullName(), r.GetTrackedBranch(), state})
			}
			text := tool.Page{
				Blocks: []tool.Block{tool.Table("", "No repository matches. list_integrations says whether an account is connected.",
					[]string{"repository", "tracked branch", "state"}, cells)},
				Shown: tool.ShownOf(len(cells), more, "repositories"),
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}
