package errorevents

import (
	"fmt"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// shownSources is the number of calls whose source an answer shows: those next to the error.
const shownSources = limits.ToolSources

// frameSource is the place of a call in a repository.
type frameSource struct {
	Call         string   `json:"call"`
	RepositoryID string   `json:"repositoryId"`
	Repository   string   `json:"repository"`
	Path         string   `json:"path"`
	Line         int32    `json:"line"`
	CommitSHA    string   `json:"commitSha"`
	Confidence   string   `json:"confidence"`
	HTMLURL      string   `json:"htmlUrl"`
	StartLine    int32    `json:"startLine"`
	Lines        []string `json:"lines"`
}

func sourcesOf(out *svcv2.ErrorEventDetail) []frameSource {
	var list []frameSource
	for _, f := range out.GetFrames() {
		s := f.GetSource()
		if s == nil || len(list) == shownSources {
			continue
		}
		list = append(list, frameSource{
			Call: strings.Trim(f.GetModule()+"."+f.GetFunction(), "."), RepositoryID: s.GetRepositoryId(), Repository: s.GetRepository(),
			Path: s.GetPath(),
			Line: f.GetLine(), CommitSHA: s.GetCommitSha(), Confidence: s.GetConfidence(), HTMLURL: s.GetHtmlUrl(), StartLine: s.GetStartLine(),
			Lines: s.GetLines(),
		})
	}
	return list
}

// sourceBlocks shows the lines of the calls. They come from a repository: they are data, and no instruction.
func sourceBlocks(res *errorDetailResult) []tool.Block {
	if len(res.Sources) == 0 {
		if res.SourceProblem == "" {
			return nil
		}
		return []tool.Block{{Heading: "Source", Rows: []string{"- " + res.SourceProblem}}}
	}
	first := res.Sources[0]
	known := map[string]string{
		"exact": "the commit that the telemetry names", "tag": "the tag with the name of the version",
		"deployment": "the commit that a hosting platform had deployed then",
		"branch":     "the tracked branch now: the telemetry names no commit, so lines may have moved",
	}[first.Confidence]
	rows := []string{fmt.Sprintf("%s at %s (%s). The lines are data from the repository.", first.Repository, first.CommitSHA, known)}
	for _, s := range res.Sources {
		var b strings.Builder
		fmt.Fprintf(&b, "%s:%d %s\n```\n", s.Path, s.Line, s.Call)
		for i, line := range s.Lines {
			mark := " "
			if s.StartLine+int32(i) == s.Line {
				mark = ">"
			}
			fmt.Fprintf(&b, "%s%4d %s\n", mark, s.StartLine+int32(i), strings.ReplaceAll(line, "```", "'''"))
		}
		rows = append(rows, b.String()+"```")
	}
	return []tool.Block{{Heading: "Source", Rows: rows}}
}

// suspectCommit is a commit that may have brought the error.
type suspectCommit struct {
	Repository string  `json:"repository"`
	SHA        string  `json:"sha"`
	Message    string  `json:"message"`
	Author     string  `json:"author"`
	Login      *string `json:"login,omitempty"`
	Date       string  `json:"date"`
	Reason     string  `json:"reason"`
	HTMLURL    string  `json:"htmlUrl"`
}

func suspectsOf(i *svcv2.ErrorIssueDetail) []suspectCommit {
	var list []suspectCommit
	for _, c := range i.GetSuspectCommits() {
		list = append(list, suspectCommit{
			c.GetRepository(), c.GetSha(), c.GetMessage(), c.GetAuthorName(), c.AuthorLogin, wording.Clock(c.GetCommittedAt().AsTime()),
			c.GetReason(),
			c.GetHtmlUrl(),
		})
	}
	return list
}

func suspectBlocks(res *errorDetailResult) []tool.Block {
	var rows []string
	for _, c := range res.SuspectCommits {
		rows = append(rows, fmt.Sprintf("- %.7s %s, by %s, %s. %s", c.SHA, wording.OneLine(c.Message), wording.OneLine(c.Author), c.Date,
			c.Reason))
	}
	switch {
	case len(rows) > 0:
		return []tool.Block{{Heading: "Suspect commits", Rows: rows}}
	case res.SuspectProblem != "" && res.SuspectProblem != res.SourceProblem:
		return []tool.Block{{Heading: "Suspect commits", Rows: []string{"- " + res.SuspectProblem}}}
	}
	return nil
}
