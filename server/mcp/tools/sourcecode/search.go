package sourcecode

import (
	"context"
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type matchRow struct {
	Path     string       `json:"path"`
	SHA      string       `json:"sha"`
	HTMLURL  string       `json:"htmlUrl"`
	Snippets []snippetRow `json:"snippets"`
}

type snippetRow struct {
	Line      int32  `json:"line"`
	StartLine int32  `json:"startLine"`
	Text      string `json:"text"`
}

type searchResult struct {
	Repository string     `json:"repository"`
	Query      string     `json:"query"`
	Path       *string    `json:"path,omitempty"`
	Ref        string     `json:"ref"`
	CommitSHA  string     `json:"commitSha"`
	TotalFiles int32      `json:"totalFiles"`
	Incomplete bool       `json:"incomplete"`
	Matches    []matchRow `json:"matches"`
}

type searchSourceCodeArgs struct {
	tool.Call
	Repository string  `doc:"owner/name" required:"true"`
	Query      string  `doc:"Words of one file, \"phrase\" or /RE2/; without capitals, case is ignored." required:"true"`
	Path       *string `doc:"Folder or glob."`
	Ref        *string `doc:"Branch, tag or commit; default the tracked branch."`
	Limit      *int    `of:"SearchSourceCodeRequest.limit"`
}

func newSearchSourceCode(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[searchResult](&tool.Tool{
		Name: "search_source_code", View: page, Title: "Search source code", OpenWorld: true,
		Description: "Search all text files of a repository at one commit. Definitions and whole words come first.",
		Run: tool.With(func(ctx context.Context, a *searchSourceCodeArgs) (*tool.Answer, error) {
			repo, err := repository(ctx, s, a.Repository)
			if err != nil {
				return nil, err
			}
			req := &svcv2.SearchSourceCodeRequest{Id: repo.GetId(), Query: a.Query, Path: a.Path, Ref: a.Ref, Limit: tool.Int32(a.Limit)}
			found, err := s.SourceCode.SearchSourceCode(ctx, req)
			if err != nil {
				return nil, err
			}
			return searchAnswer(a, found), nil
		}),
	})
}

func searchAnswer(a *searchSourceCodeArgs, found *svcv2.SourceMatches) *tool.Answer {
	res := searchResult{
		Repository: found.GetRepository(), Query: a.Query, Path: a.Path, Ref: found.GetRef(), CommitSHA: found.GetCommitSha(),
		TotalFiles: found.GetTotalFiles(), Incomplete: found.GetIncomplete(), Matches: []matchRow{},
	}
	text := tool.Page{Scope: []tool.Pair{
		tool.Labeled("Repository", res.Repository), tool.Labeled("Commit", res.CommitSHA[:min(12, len(res.CommitSHA))]+" ("+res.Ref+")"),
		tool.Labeled("Files that match", fmt.Sprint(res.TotalFiles)),
	}}
	if res.Incomplete {
		text.Notes = append(text.Notes, "The search ended early, so files may be missing. Narrow it with path or a longer word.")
	}
	if len(found.GetMatches()) > 0 {
		text.Notes = append(text.Notes, data)
	}
	for _, m := range found.GetMatches() {
		row := matchRow{Path: m.GetPath(), SHA: m.GetSha(), HTMLURL: m.GetHtmlUrl(), Snippets: []snippetRow{}}
		b := tool.Block{Heading: wording.OneLine(m.GetPath())}
		for i, sn := range m.GetSnippets() {
			row.Snippets = append(row.Snippets, snippetRow{sn.GetLine(), sn.GetStartLine(), sn.GetText()})
			if i > 0 {
				b.Rows = append(b.Rows, "…")
			}
			b.Rows = append(b.Rows, numbered(strings.Split(sn.GetText(), "\n"), sn.GetStartLine())...)
		}
		res.Matches = append(res.Matches, row)
		text.Blocks = append(text.Blocks, b)
	}
	if len(res.Matches) == 0 {
		text.Blocks = append(text.Blocks, tool.Block{Empty: "No file matches."})
		return &tool.Answer{Data: res, Text: text}
	}
	best := found.GetMatches()[0]
	args := map[string]any{"repository": res.Repository, "path": best.GetPath(), "ref": res.CommitSHA}
	if len(best.GetSnippets()) > 0 {
		args["start_line"] = max(1, best.GetSnippets()[0].GetLine()-20)
	}
	text.Next = append(text.Next, tool.Next("read_source_file", args, "the best match with more lines"))
	return &tool.Answer{Data: res, Text: text}
}

// numbered writes lines with their numbers.
func numbered(lines []string, first int32) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = fmt.Sprintf("%6d  %s", int(first)+i, strings.ReplaceAll(l, "\r", ""))
	}
	return out
}
