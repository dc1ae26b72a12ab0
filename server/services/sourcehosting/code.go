package sourcehosting

import (
	"context"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/source/pack"
)

const scansAtOnce = limits.SourceSearchesAtOnce

// SearchSourceCode searches the files of a commit.
func (s *Service) SearchSourceCode(ctx context.Context, req *svcv2.SearchSourceCodeRequest) (*svcv2.SourceMatches, error) {
	files := limits.DefaultSourceFiles
	if req.Limit != nil {
		files = int(req.GetLimit())
	}
	query := pack.Query{
		Text: req.GetQuery(), Path: req.GetPath(), Files: files, PerFile: limits.SourceSnippets, Context: limits.SourceContext,
		Time: limits.SourceSearchTime,
	}
	if err := query.Check(); err != nil {
		return nil, badQuery(err)
	}
	r, err := s.open(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if ok, wait := s.Searches.Allow(string(r.row.Org), s.Now()); !ok {
		return nil, apierr.New(apierr.VcsRateLimited, "The organization has used its searches of this minute.", apierr.RetryAfter(wait))
	}
	ref, sha, err := s.resolve(ctx, r, "ref", req.Ref)
	if err != nil {
		return nil, err
	}
	p, err := s.copyOf(ctx, r, sha)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	if err := s.read(ctx, r, "search", map[string]any{"commit": sha, "query": req.GetQuery()}); err != nil {
		return nil, err
	}
	select {
	case s.scans <- struct{}{}:
	case <-ctx.Done():
		return nil, apierr.From(ctx.Err())
	}
	defer func() { <-s.scans }()
	found, err := p.Search(ctx, query)
	switch {
	case ctx.Err() != nil:
		return nil, apierr.From(ctx.Err())
	case err != nil:
		s.drop(ctx, r.row.Org, r.row.ID) // a damaged copy is made anew
		return nil, apierr.New(apierr.VcsNotReady, "The copy of the commit is damaged and is made again.", apierr.Cause(err))
	}
	return matchesToProto(r, ref, sha, found), nil
}

// badQuery says which part of a query cannot be understood.
func badQuery(err error) error {
	param := "query"
	var bad *pack.QueryError
	if errors.As(err, &bad) && bad.Path {
		param = "path"
	}
	return apierr.New(apierr.VcsQueryInvalid, err.Error(), apierr.Param(param))
}

func matchesToProto(r *opened, ref, sha string, found pack.Result) *svcv2.SourceMatches {
	res := &svcv2.SourceMatches{
		Object: "source_matches", Repository: r.row.FullName, Ref: ref, CommitSha: sha, TotalFiles: int32(found.Matched),
		Incomplete: found.Truncated,
	}
	for _, f := range found.Files {
		m := &svcv2.SourceMatch{Path: f.Path, Sha: f.SHA, HtmlUrl: r.host.FileURL(r.row.FullName, sha, f.Path)}
		end := int32(0)
		for _, line := range f.Matches {
			if int32(line.Line) <= end {
				continue // the place before shows it
			}
			place := snippet(line)
			end = place.GetStartLine() + int32(strings.Count(place.GetText(), "\n"))
			m.Snippets = append(m.Snippets, place)
		}
		res.Matches = append(res.Matches, m)
	}
	return res
}

// snippet joins a line with those around it. Lines that do not fit are left out, the farthest first.
func snippet(m pack.Match) *svcv2.SourceSnippet {
	before, after := m.Before, m.After
	size := func() int {
		n := utf8.RuneCountInString(m.Text)
		for _, l := range slices.Concat(before, after) {
			n += utf8.RuneCountInString(l) + 1
		}
		return n
	}
	for size() > limits.SourceSnippet && len(before)+len(after) > 0 {
		if len(before) > len(after) {
			before = before[1:]
		} else {
			after = after[:len(after)-1]
		}
	}
	return &svcv2.SourceSnippet{
		StartLine: int32(m.Line - len(before)), Line: int32(m.Line),
		Text: strings.Join(slices.Concat(before, []string{m.Text}, after), "\n"),
	}
}

// copyOf returns the copy of a commit. Making one goes on if the caller does not wait for it.
func (s *Service) copyOf(ctx context.Context, r *opened, sha string) (*pack.Pack, error) {
	wait, cancel := context.WithTimeout(ctx, limits.SourcePackWait)
	defer cancel()
	p, err := s.Packs.Get(wait, packKey(r, sha), func(ctx context.Context) (io.ReadCloser, error) {
		return r.host.Archive(ctx, r.row.FullName, sha)
	})
	switch {
	case err == nil:
		return p, s.keep(ctx, r, p)
	case errors.Is(err, pack.ErrDropped):
		return nil, unavailable(r.row.FullName)
	case ctx.Err() != nil:
		return nil, apierr.From(ctx.Err())
	case errors.Is(err, pack.ErrBuilding):
		return nil, apierr.New(apierr.VcsNotReady, "The server is copying the commit for its first search. Ask again.",
			apierr.RetryAfter(5*time.Second))
	case errors.Is(err, pack.ErrTooLarge), errors.Is(err, pack.ErrArchive):
		return nil, apierr.New(apierr.VcsQueryInvalid, "The repository cannot be searched: "+err.Error()+".", apierr.Cause(err))
	default:
		return nil, failed(ctx, err, apierr.VcsRepoUnavailable)
	}
}

// keep checks that a copy may still be read: the repository may have been removed after the request began, and the copy made after those
// that there were had been deleted. If not, it closes and deletes the copy.
func (s *Service) keep(ctx context.Context, r *opened, p *pack.Pack) error {
	active, err := s.Store.RepositoryIsActive(ctx, r.row.Org, r.row.ID)
	switch {
	case err == nil && active:
		return nil
	case err != nil:
		err = repositoryErrors().Failure(ctx, err)
	default:
		s.drop(ctx, r.row.Org, r.row.ID)
		err = unavailable(r.row.FullName)
	}
	_ = p.Close()
	return err
}

func packKey(r *opened, sha string) pack.Key {
	return pack.Key{Organization: string(r.row.Org), Repository: r.row.ID.String(), Commit: sha}
}

// ReadSourceFile returns lines of a file.
func (s *Service) ReadSourceFile(ctx context.Context, req *svcv2.ReadSourceFileRequest) (*svcv2.SourceFile, error) {
	name := req.GetPath()
	if clean := path.Clean(name); clean != strings.TrimSuffix(name, "/") || path.IsAbs(name) || clean == "." ||
		strings.HasPrefix(clean, "..") ||
		strings.ContainsRune(name, 0) {
		return nil, apierr.New(apierr.VcsQueryInvalid, "`path` must be the path of a file from the top of the repository, without . and ..",
			apierr.Param("path"))
	}
	if req.EndLine != nil && req.GetEndLine() < max(1, req.GetStartLine()) {
		return nil, apierr.New(apierr.VcsQueryInvalid, "`end_line` must not be before `start_line`.", apierr.Param("end_line"))
	}
	r, err := s.open(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	ref, sha, err := s.resolve(ctx, r, "ref", req.Ref)
	if err != nil {
		return nil, err
	}
	f, err := s.file(ctx, r, sha, name)
	if err != nil {
		return nil, err
	}
	if err := s.read(ctx, r, "read_file", map[string]any{"commit": sha, "path": name}); err != nil {
		return nil, err
	}
	res := &svcv2.SourceFile{
		Object: "source_file", Repository: r.row.FullName, Path: name, Ref: ref, CommitSha: sha, Sha: f.SHA,
		HtmlUrl: r.host.FileURL(r.row.FullName, sha, name), Kind: f.Kind, SizeBytes: f.Size,
	}
	cutLines(res, f.Content, int(max(1, req.GetStartLine())), int(req.GetEndLine()))
	return res, nil
}

// cutLines fills in the lines from start to end; an end of 0 means as many as an answer has.
func cutLines(res *svcv2.SourceFile, content []byte, start, end int) {
	var all []string
	if len(content) > 0 {
		all = strings.Split(strings.TrimSuffix(strings.ToValidUTF8(string(content), "\uFFFD"), "\n"), "\n")
	}
	last := start + limits.SourceLines - 1
	if end != 0 {
		last = min(last, end)
	}
	last = min(last, len(all))
	res.StartLine, res.TotalLines = int32(start), int32(len(all))
	room := limits.SourceText
	at := start
	for ; at <= last; at++ {
		line := strings.TrimSuffix(all[at-1], "\r")
		n := utf8.RuneCountInString(line)
		if n > room {
			if at > start {
				break
			}
			line, n, res.Truncated = string([]rune(line)[:room]), room, true
		}
		room -= n
		res.Lines = append(res.Lines, line)
	}
	res.EndLine = int32(at - 1)
	res.Truncated = res.Truncated || len(all) > at-1 && at-1 >= start
}

// file reads a file from the copy of the commit, if there is one, else from the host.
func (s *Service) file(ctx context.Context, r *opened, sha, name string) (source.File, error) {
	var near []string
	// A copy that is being made is not waited for.
	if p, err := s.peek(ctx, packKey(r, sha)); err == nil {
		defer func() { _ = p.Close() }()
		text, blob, err := p.Read(name)
		if err == nil {
			return source.File{Kind: source.KindText, SHA: blob, Size: int64(len(text)), Content: text}, nil
		}
		if errors.Is(err, pack.ErrNotFound) {
			near = p.Find(path.Base(name))
		}
	}
	f, err := r.host.File(ctx, r.row.FullName, sha, name, limits.SourceFileBytes)
	if err == nil {
		return f, nil
	}
	var e *apierr.Error
	if errors.As(failed(ctx, err, apierr.VcsFileNotFound), &e) && e.Tag == apierr.VcsFileNotFound {
		e.Message = "The commit has no file " + name + "."
		if len(near) > 0 {
			e.Message += " Near paths: " + strings.Join(near[:min(5, len(near))], ", ") + "."
		}
	}
	return source.File{}, e
}

func (s *Service) peek(ctx context.Context, key pack.Key) (*pack.Pack, error) {
	ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	return s.Packs.Peek(ctx, key)
}

// GetSourceCommit looks up a commit.
func (s *Service) GetSourceCommit(ctx context.Context, req *svcv2.GetSourceCommitRequest) (*svcv2.SourceCommit, error) {
	if !commitID.MatchString(req.GetSha()) {
		return nil, apierr.New(apierr.VcsCommitShaInvalid, "`sha` must be the whole id of a commit: 40 hexadecimal digits.",
			apierr.Param("sha"))
	}
	r, err := s.open(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	c, err := r.host.Commit(ctx, r.row.FullName, strings.ToLower(req.GetSha()))
	if err != nil {
		return nil, failed(ctx, err, apierr.VcsCommitNotFound)
	}
	if err := s.read(ctx, r, "get_commit", map[string]any{"commit": c.SHA}); err != nil {
		return nil, err
	}
	return commitToProto(c, r.connection.Provider, r.row.FullName), nil
}

var commitID = regexp.MustCompile(`^[0-9a-fA-F]{40}$`)

// CompareSourceCommits compares two commits.
func (s *Service) CompareSourceCommits(ctx context.Context, req *svcv2.CompareSourceCommitsRequest) (*svcv2.SourceComparison, error) {
	r, err := s.open(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	commits := limits.DefaultSourceCommits
	if req.MaxCommits != nil {
		commits = int(req.GetMaxCommits())
	}
	_, base, err := s.resolve(ctx, r, "base", &req.Base)
	if err != nil {
		return nil, err
	}
	_, head, err := s.resolve(ctx, r, "head", &req.Head)
	if err != nil {
		return nil, err
	}
	c, err := r.host.Compare(ctx, r.row.FullName, base, head, commits)
	if err != nil {
		return nil, failed(ctx, err, apierr.VcsRefNotFound)
	}
	if err := s.read(ctx, r, "compare", map[string]any{"base": base, "head": head}); err != nil {
		return nil, err
	}
	res := &svcv2.SourceComparison{
		Object: "source_comparison", Repository: r.row.FullName, Status: c.Status, AheadBy: int32(c.Ahead), BehindBy: int32(c.Behind),
		MergeBaseSha: present(c.MergeBase), HtmlUrl: c.HTMLURL, Truncated: c.Truncated || len(c.Files) > limits.SourceChanges,
	}
	for _, one := range c.Commits {
		res.Commits = append(res.Commits, commitToProto(one, r.connection.Provider, r.row.FullName))
	}
	room := limits.SourceText
	for _, f := range c.Files[:min(len(c.Files), limits.SourceChanges)] {
		change := &svcv2.SourceFileChange{
			Path: f.Path, PreviousPath: present(f.PreviousPath), Status: f.Status, Additions: int32(f.Additions), Deletions: int32(f.Deletions),
		}
		patch := []rune(strings.ToValidUTF8(f.Patch, "\uFFFD"))
		if most := min(limits.SourcePatch, room); len(patch) > most {
			patch, res.Truncated = patch[:most], true
		}
		room -= len(patch)
		change.Patch = present(string(patch))
		res.Files = append(res.Files, change)
	}
	return res, nil
}

// ListSourceCiRuns lists runs of CI.
func (s *Service) ListSourceCiRuns(ctx context.Context, req *svcv2.ListSourceCiRunsRequest) (*svcv2.SourceCiRuns, error) {
	r, err := s.open(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	res := &svcv2.SourceCiRuns{Object: "source_ci_runs", Repository: r.row.FullName}
	if slices.Contains(r.account.Missing, "actions: read") {
		return nil, apierr.New(apierr.IntegrationsForbidden,
			"The account has not granted the permission actions: read. Its owner grants it at "+r.account.SettingsURL+".")
	}
	n := limits.DefaultSourceRuns
	if req.Limit != nil {
		n = int(req.GetLimit())
	}
	runs, err := r.host.Runs(ctx, r.row.FullName, source.RunFilter{
		Branch: req.GetBranch(), SHA: req.GetCommitSha(), Status: req.GetStatus(), Limit: n, FailedJobs: limits.SourceFailedJobs,
	})
	if err != nil {
		return nil, failed(ctx, err, apierr.VcsRepoUnavailable)
	}
	if err := s.read(ctx, r, "ci_runs", map[string]any{"branch": req.GetBranch(), "commit": req.GetCommitSha()}); err != nil {
		return nil, err
	}
	for _, run := range runs {
		res.Runs = append(res.Runs, runToProto(run))
	}
	return res, nil
}
