package gitlab

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source"
)

// host implements source.Host and source.Binder for one account.
type host struct {
	*session

	bound sync.Mutex
	// ids holds the ids of projects by their names.
	ids map[string]string
}

// Bind implements source.Binder.
func (h *host) Bind(repo, externalID string) {
	h.bound.Lock()
	defer h.bound.Unlock()
	h.ids[repo] = externalID
}

// in are the parts of an address below a project, which is named by its id if that is known.
func (h *host) in(repo string, parts ...string) []string {
	h.bound.Lock()
	defer h.bound.Unlock()
	return append([]string{"projects", cmp.Or(h.ids[repo], repo)}, parts...)
}

// commit is a commit as GitLab describes it. It does not say whose account the author's is.
type commit struct {
	ID        string    `json:"id"`
	Message   string    `json:"message"`
	Author    string    `json:"author_name"`
	Email     string    `json:"author_email"`
	Authored  time.Time `json:"authored_date"`
	Committed time.Time `json:"committed_date"`
	Parents   []string  `json:"parent_ids"`
	WebURL    string    `json:"web_url"`
}

func (c commit) neutral() source.Commit {
	return source.Commit{
		SHA: c.ID, Message: strings.TrimRight(c.Message, "\n"), HTMLURL: c.WebURL, AuthorName: c.Author, AuthorEmail: c.Email,
		AuthoredAt: c.Authored.UTC(), CommittedAt: c.Committed.UTC(), Parents: len(c.Parents),
	}
}

// diff is a change of a file. Its text begins at the first @@; it is empty if the change is too large.
type diff struct {
	OldPath   string `json:"old_path"`
	NewPath   string `json:"new_path"`
	New       bool   `json:"new_file"`
	Renamed   bool   `json:"renamed_file"`
	Deleted   bool   `json:"deleted_file"`
	Collapsed bool   `json:"collapsed"`
	TooLarge  bool   `json:"too_large"`
	Diff      string `json:"diff"`
}

func (d diff) neutral() source.FileChange {
	out := source.FileChange{Path: d.NewPath, Status: "modified"}
	switch {
	case d.New:
		out.Status = "added"
	case d.Deleted:
		out.Path, out.Status = d.OldPath, "removed"
	case d.Renamed:
		out.PreviousPath, out.Status = d.OldPath, "renamed"
	}
	// Older servers write the names of the file before the first @@.
	if at := strings.Index("\n"+d.Diff, "\n@@"); at >= 0 {
		out.Patch = strings.TrimSuffix(d.Diff[at:], "\n")
	}
	for line := range strings.SplitSeq(out.Patch, "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			out.Additions++
		case strings.HasPrefix(line, "-"):
			out.Deletions++
		}
	}
	return out
}

var wholeSHA = regexp.MustCompile(`^[0-9a-f]{40}$`)

// Resolve implements source.Host.
func (h *host) Resolve(ctx context.Context, repo, ref string) (string, error) {
	c, err := h.commit(ctx, repo, ref)
	if err != nil {
		return "", err
	}
	if !wholeSHA.MatchString(c.ID) {
		return "", integrations.NewProblem(integrations.Upstream, nil, "GitLab's answer is not the id of a commit.")
	}
	return c.ID, nil
}

// Commit implements source.Host.
func (h *host) Commit(ctx context.Context, repo, sha string) (source.Commit, error) {
	c, err := h.commit(ctx, repo, sha)
	return c.neutral(), err
}

func (h *host) commit(ctx context.Context, repo, ref string) (c commit, err error) {
	_, err = h.get(ctx, url.Values{"stats": {"false"}}, "", &c, h.in(repo, "repository", "commits", ref)...)
	return c, err
}

// HasBranch implements source.Host.
func (h *host) HasBranch(ctx context.Context, repo, branch string) (bool, error) {
	_, err := h.get(ctx, nil, "", nil, h.in(repo, "repository", "branches", branch)...)
	if integrations.IsKind(err, integrations.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// pageSize is the largest page of a list.
const pageSize = 100

// CommitsOf implements source.Host.
func (h *host) CommitsOf(ctx context.Context, repo string, l source.CommitList) ([]source.Commit, error) {
	query := url.Values{"ref_name": {l.From}, "per_page": {strconv.Itoa(min(l.Limit, pageSize))}}
	if l.Path != "" {
		query.Set("path", l.Path)
	}
	if !l.Since.IsZero() {
		query.Set("since", l.Since.UTC().Format(time.RFC3339))
	}
	var list []commit
	if _, err := h.get(ctx, query, "", &list, h.in(repo, "repository", "commits")...); err != nil {
		return nil, err
	}
	return neutral(list), nil
}

func neutral(list []commit) (out []source.Commit) {
	for _, c := range list {
		out = append(out, c.neutral())
	}
	return out
}

// Changes implements source.Host.
func (h *host) Changes(ctx context.Context, repo, sha string) (out []source.FileChange, err error) {
	for page := 1; len(out) < limits.SourceChanges; page++ {
		var list []diff
		query := url.Values{"per_page": {strconv.Itoa(pageSize)}, "page": {strconv.Itoa(page)}}
		res, err := h.get(ctx, query, "", &list, h.in(repo, "repository", "commits", sha, "diff")...)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			out = append(out, d.neutral())
		}
		if len(list) == 0 || !hasNext(res.Header) {
			return out, nil
		}
	}
	return out[:limits.SourceChanges], nil
}

// hasNext reports whether a list has another page. Lists of which GitLab does not count the pages have a link alone.
func hasNext(header http.Header) bool {
	if next := header.Values("X-Next-Page"); len(next) > 0 && next[0] != "" {
		return true
	}
	for link := range strings.SplitSeq(strings.Join(header.Values("Link"), ","), ",") {
		if strings.Contains(link, `rel="next"`) {
			return true
		}
	}
	return false
}

// Compare implements source.Host. GitLab's comparison has the commits of one side, so that of the other is asked for if there are any.
func (h *host) Compare(ctx context.Context, repo, base, head string, commits int) (source.Comparison, error) {
	merge, err := h.mergeBase(ctx, repo, base, head)
	if err != nil {
		return source.Comparison{}, err
	}
	out := source.Comparison{
		Status: "identical", MergeBase: merge, HTMLURL: h.app.Base.JoinPath(repo, "-", "compare", source.EscapedPath(base+"..."+head)).String(),
	}
	if merge != base {
		other, err := h.compare(ctx, repo, head, base)
		if err != nil {
			return source.Comparison{}, err
		}
		out.Status, out.Behind = "behind", len(other.Commits)
	}
	if merge == head {
		return out, nil
	}
	c, err := h.compare(ctx, repo, base, head)
	if err != nil {
		return source.Comparison{}, err
	}
	out.Ahead = len(c.Commits)
	if out.Status = "ahead"; out.Behind > 0 {
		out.Status = "diverged"
	}
	list := c.Commits
	if len(list) > 1 && list[0].ID == head { // newest first
		slices.Reverse(list)
	}
	out.Commits = neutral(list[:min(len(list), commits)])
	out.Truncated = c.Timeout || len(c.Diffs) >= limits.SourceChanges || out.Ahead > len(out.Commits)
	for _, d := range c.Diffs[:min(len(c.Diffs), limits.SourceChanges)] {
		out.Files = append(out.Files, d.neutral())
		out.Truncated = out.Truncated || d.TooLarge || d.Collapsed
	}
	return out, nil
}

// comparison is the difference of two commits, from their merge base on.
type comparison struct {
	Commits []commit `json:"commits"`
	Diffs   []diff   `json:"diffs"`
	Timeout bool     `json:"compare_timeout"`
}

func (h *host) compare(ctx context.Context, repo, from, to string) (c comparison, err error) {
	query := url.Values{"from": {from}, "to": {to}, "straight": {"false"}}
	_, err = h.get(ctx, query, "", &c, h.in(repo, "repository", "compare")...)
	return c, err
}

// mergeBase finds the newest commit that two commits share. A problem NotFound: they share none, or one of them is not there.
func (h *host) mergeBase(ctx context.Context, repo, a, b string) (string, error) {
	var c commit
	_, err := h.get(ctx, url.Values{"refs[]": {a, b}}, "", &c, h.in(repo, "repository", "merge_base")...)
	switch {
	case integrations.IsKind(err, integrations.Invalid): // GitLab's answer for a commit that is not there
		return "", integrations.NewProblem(integrations.NotFound, err, "GitLab knows no such commit.")
	case err == nil && c.ID == "":
		return "", integrations.NewProblem(integrations.NotFound, nil, "The commits share no other commit at GitLab.")
	}
	return c.ID, err
}

// Contains implements source.Host: the commit is in the revision if it is their common ancestor. Either may be shortened.
func (h *host) Contains(ctx context.Context, repo, revision, commit string) (bool, error) {
	merge, err := h.mergeBase(ctx, repo, revision, commit)
	return err == nil && strings.HasPrefix(merge, strings.ToLower(commit)), err
}
