package console

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

func sourceCommands() []Command {
	ref := Flag{Name: "ref", Usage: "branch, tag or commit (default: the tracked branch)", Target: func(o *Options) any { return &o.Ref }}
	return []Command{
		{
			Path: "integrations", Short: "List the integrations with their accounts and the next step", Example: "  svc integrations",
			run: integrations,
		},
		{
			Path: "repos", Short: "List the repositories of source code", page: true,
			Flags: []Flag{searchFlag("a part of the name")}, Example: "  svc repos -q shop", run: repositories,
		},
		{
			Path: "source search", Arguments: []string{"REPOSITORY", "QUERY"}, Short: "Search the source code of a repository",
			Long: "The repository is owner/name or an id (repo_…). Words must all be in a file; \"…\" is a phrase, /…/ a regular expression.",
			Flags: []Flag{
				ref,
				{
					Name: "path", Usage: "only files in this folder, or that fit a pattern such as **/*.go",
					Target: func(o *Options) any { return &o.Path },
				},
				limitFlag("files to show (default %d, at most %d)", limits.DefaultSourceFiles, limits.SourceFiles),
			},
			Example: "  svc source search acme/shop 'func Checkout' --path services", run: searchSource,
		},
		{
			Path: "source read", Arguments: []string{"REPOSITORY", "FILE"}, Short: "Show lines of a file of a repository",
			Long:  "The repository is owner/name or an id (repo_…). A colon and a line, or two, may follow the file: cart.go:12 or cart.go:10-40.",
			Flags: []Flag{ref}, Example: "  svc source read acme/shop services/checkout/cart.go:10-40 --ref v1.4.2", run: readSource,
		},
	}
}

func integrations(ctx context.Context, q *Query) (Answer, error) {
	res, err := q.client.integrations.ListIntegrations(ctx, &svcv2.ListIntegrationsRequest{})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	s := section{columns: []column{
		{title: "INTEGRATION"},
		{title: "STATUS"},
		{title: "ACCOUNT", grow: true},
		{title: "LAST READ (UTC)", drop: 1},
		{title: "PROBLEM OR NEXT STEP", prose: true, drop: 2},
	}}
	for _, v := range res.GetData() {
		status := cell{text: v.GetStatus()}
		switch status.text {
		case "error", "reconnect_needed", "disconnected":
			status.tone = bad
		case "not_configured", "available":
			status.tone = faint
		}
		problem := v.GetError()
		if problem == "" {
			problem = v.GetNextAction()
		}
		s.rows = append(s.rows, []cell{{text: v.GetName()}, status, {text: v.GetAccount()}, {text: at(v.GetLastSyncAt())}, {text: problem}})
	}
	return Answer{message: res, lines: linesOf(res.GetData()), sections: []section{s}, empty: none(s, "the server has no integrations")}, nil
}

func repositories(ctx context.Context, q *Query) (Answer, error) {
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.ListSourceRepositoriesResponse, error) {
		return q.client.hosting.ListSourceRepositories(ctx, &svcv2.ListSourceRepositoriesRequest{
			Limit: &limit, Cursor: cursor, Search: given(q.Search),
		})
	}, func(r *svcv2.ListSourceRepositoriesResponse) *[]*svcv2.SourceRepository { return &r.Data })
	if err != nil {
		return Answer{}, err
	}
	s := section{columns: []column{
		{title: "REPOSITORY"}, {title: "BRANCH", grow: true}, {title: "STATUS"}, {title: "LISTED (UTC)", drop: 2}, {title: "ID", drop: 1},
	}}
	for _, v := range res.GetData() {
		status := cell{text: v.GetStatus()}
		if status.text == "removed" {
			status.tone = bad
		}
		if v.GetIsArchived() {
			status.text += ", archived"
		}
		s.rows = append(s.rows, []cell{
			{text: v.GetFullName()},
			{text: v.GetTrackedBranch()},
			status,
			{text: at(v.GetLastSyncedAt())},
			{text: v.GetId()},
		})
	}
	return Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, cursor: res.GetNextCursor(),
		empty: none(s, "no repository was found: svc integrations says which accounts are connected"),
	}, nil
}

// repository is the id of the repository that the first argument names.
func repository(ctx context.Context, q *Query) (string, error) {
	name := q.Arguments[0]
	if !strings.Contains(name, "/") {
		return name, nil
	}
	active := "active"
	res, err := q.client.hosting.ListSourceRepositories(ctx, &svcv2.ListSourceRepositoriesRequest{FullName: &name, Status: &active})
	if err != nil {
		return "", q.client.failure(err)
	}
	switch list := res.GetData(); len(list) {
	case 0:
		return "", usage("no connected account has a repository %s: svc repos lists those there are", name)
	case 1:
		return list[0].GetId(), nil
	default:
		var ids []string
		for _, r := range list {
			ids = append(ids, r.GetId()+" ("+r.GetHtmlUrl()+")")
		}
		return "", usage("there are %d repositories %s; name one by its id: %s", len(list), name, either(ids))
	}
}

func searchSource(ctx context.Context, q *Query) (Answer, error) {
	if q.Limit > limits.SourceFiles {
		return Answer{}, usage("--limit %d: use 1 to %d", q.Limit, limits.SourceFiles)
	}
	id, err := repository(ctx, q)
	if err != nil {
		return Answer{}, err
	}
	res, err := q.client.source.SearchSourceCode(ctx, &svcv2.SearchSourceCodeRequest{
		Id: id, Query: q.Arguments[1], Path: given(q.Path), Ref: given(q.Ref), Limit: number(q.Limit),
	})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	a := Answer{message: res, lines: linesOf(res.GetMatches())}
	for _, m := range res.GetMatches() {
		s := section{title: m.GetPath(), columns: []column{{right: true}, {}}}
		for i, snippet := range m.GetSnippets() {
			if i > 0 {
				s.rows = append(s.rows, []cell{{}, {"…", faint}})
			}
			lines := strings.Split(strings.TrimRight(snippet.GetText(), "\n"), "\n")
			s.rows = append(s.rows, numbered(lines, snippet.GetStartLine(), snippet.GetLine())...)
		}
		a.sections = append(a.sections, s)
	}
	if len(a.sections) == 0 {
		a.empty = fmt.Sprintf("no file of %s at %s matches", res.GetRepository(), shortRef(res.GetRef(), res.GetCommitSha()))
	}
	if n := int(res.GetTotalFiles()) - len(res.GetMatches()); n > 0 {
		a.notes = append(a.notes, fmt.Sprintf("%s more files match: add words or --path, or a larger --limit", limits.Number(n)))
	}
	if res.GetIncomplete() {
		a.notes = append(a.notes, "a bound of time ended the search: files may be missing")
	}
	return a, nil
}

// filePlace is a file with a line or two behind it.
var filePlace = regexp.MustCompile(`^(.+):([0-9]{1,9})(?:-([0-9]{1,9}))?$`)

func readSource(ctx context.Context, q *Query) (Answer, error) {
	req := &svcv2.ReadSourceFileRequest{Path: q.Arguments[1], Ref: given(q.Ref)}
	if parts := filePlace.FindStringSubmatch(req.GetPath()); parts != nil {
		first, _ := strconv.Atoi(parts[2]) // the pattern admits numbers only
		req.Path, req.StartLine = parts[1], number(first)
		if last, err := strconv.Atoi(parts[3]); err == nil {
			req.EndLine = number(last)
		}
	}
	var err error
	if req.Id, err = repository(ctx, q); err != nil {
		return Answer{}, err
	}
	res, err := q.client.source.ReadSourceFile(ctx, req)
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	a := Answer{message: res, lines: linesOf([]*svcv2.SourceFile{res})}
	if res.GetKind() != "text" {
		what := map[string]string{
			"binary": "a binary file", "lfs_pointer": "an LFS pointer", "symlink": "a symbolic link", "submodule": "a submodule",
		}[res.GetKind()]
		a.empty = fmt.Sprintf("%s is not a text but %s", res.GetPath(), cmp.Or(what, res.GetKind()))
		return a, nil
	}
	title := fmt.Sprintf("%s of %s at %s", res.GetPath(), res.GetRepository(), shortRef(res.GetRef(), res.GetCommitSha()))
	a.sections = []section{{title: title, columns: []column{{right: true}, {}}, rows: numbered(res.GetLines(), res.GetStartLine(), 0)}}
	a.empty = none(a.sections[0], "the file has no such lines")
	if res.GetTruncated() {
		a.notes = append(a.notes, fmt.Sprintf("the file goes on: it has %s lines. Add :%d to its name",
			limits.Number(int(res.GetTotalLines())), res.GetEndLine()+1))
	}
	return a, nil
}

// numbered are lines with their numbers. The one that matches stands out.
func numbered(lines []string, first, match int32) [][]cell {
	rows := make([][]cell, len(lines))
	for i, text := range lines {
		n := first + int32(i)
		rows[i] = []cell{{strconv.Itoa(int(n)), faint}, {strings.ReplaceAll(text, "\t", "  "), plain}}
		if n == match {
			rows[i][1].tone = bold
		}
	}
	return rows
}

// shortRef names a branch or tag with its commit.
func shortRef(ref, sha string) string {
	if len(sha) > 7 {
		sha = sha[:7]
	}
	if ref == "" || strings.HasPrefix(ref, sha) {
		return sha
	}
	return ref + " (" + sha + ")"
}
