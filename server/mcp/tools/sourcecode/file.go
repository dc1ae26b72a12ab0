package sourcecode

import (
	"context"
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type fileResult struct {
	Repository string   `json:"repository"`
	Path       string   `json:"path"`
	Ref        string   `json:"ref"`
	CommitSHA  string   `json:"commitSha"`
	SHA        string   `json:"sha"`
	HTMLURL    string   `json:"htmlUrl"`
	Kind       string   `json:"kind"`
	StartLine  int32    `json:"startLine"`
	EndLine    int32    `json:"endLine"`
	TotalLines int32    `json:"totalLines"`
	Truncated  bool     `json:"truncated"`
	Lines      []string `json:"lines"`
}

type readSourceFileArgs struct {
	tool.Call
	Repository string  `doc:"owner/name" required:"true"`
	Path       string  `required:"true"`
	Ref        *string `doc:"Branch, tag or commit; default the tracked branch."`
	StartLine  *int    `of:"ReadSourceFileRequest.start_line"`
	EndLine    *int    `of:"ReadSourceFileRequest.end_line"`
}

func newReadSourceFile(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[fileResult](&tool.Tool{
		Name: "read_source_file", View: page, Title: "Read a source file", OpenWorld: true,
		Description: "Read up to " + limits.Number(limits.SourceLines) + " lines of a file at a branch, tag or commit.",
		Run: tool.With(func(ctx context.Context, a *readSourceFileArgs) (*tool.Answer, error) {
			repo, err := repository(ctx, s, a.Repository)
			if err != nil {
				return nil, err
			}
			req := &svcv2.ReadSourceFileRequest{
				Id: repo.GetId(), Path: a.Path, Ref: a.Ref, StartLine: tool.Int32(a.StartLine), EndLine: tool.Int32(a.EndLine),
			}
			f, err := s.SourceCode.ReadSourceFile(ctx, req)
			if err != nil {
				return nil, err
			}
			res := fileResult{
				f.GetRepository(), f.GetPath(), f.GetRef(), f.GetCommitSha(), f.GetSha(), f.GetHtmlUrl(), f.GetKind(), f.GetStartLine(), f.GetEndLine(),
				f.GetTotalLines(), f.GetTruncated(), tool.NonNil(f.GetLines()),
			}
			text := tool.Page{Scope: []tool.Pair{
				tool.Labeled("File", res.Repository+" "+res.Path), tool.Labeled("Commit", res.CommitSHA[:min(12, len(res.CommitSHA))]+" ("+res.Ref+")"),
				tool.Labeled("Lines", fmt.Sprintf("%d to %d of %d", res.StartLine, res.EndLine, res.TotalLines)),
			}}
			if res.Kind != "text" {
				text.Notes = append(text.Notes, fmt.Sprintf("The file is not a text (%s, %d bytes), so it has no lines.", res.Kind, f.GetSizeBytes()))
			} else if len(res.Lines) > 0 {
				text.Notes = append(text.Notes, data)
			}
			text.Blocks = append(text.Blocks, tool.Block{Rows: numbered(res.Lines, res.StartLine), Empty: "There are no lines."})
			if res.Truncated && res.EndLine < res.TotalLines {
				text.Next = append(text.Next, tool.Next("read_source_file", map[string]any{
					"repository": res.Repository, "path": res.Path, "ref": res.CommitSHA, "start_line": res.EndLine + 1,
				}, "the lines after these"))
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}
