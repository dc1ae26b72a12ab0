package repositories

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// pull links a pull request to the issues that it names. One from another repository is not: there, anybody can write anything. A revert
// quotes the title of the change that it takes back, so it names the issue without a fix of it. again says that its commits could not be
// read, and that the next look has to ask for them.
func (s *Shard) pull(
	ctx context.Context, host source.Host, name string, c store.IntegrationConnection, r *store.SourceRepository, p *source.PullRequest,
) (again bool, err error) {
	if p.Foreign || p.State == store.PullRequestClosed || strings.HasPrefix(p.Title, `Revert "`) {
		return false, nil
	}
	commits, again, err := s.commits(ctx, host, name, r, p)
	if err != nil {
		return false, err
	}
	link := store.ErrorIssuePullRequest{
		Provider: c.Provider, RepoFullName: r.FullName, Number: p.Number, URL: address(c, r.FullName, p.Number), LinkSource: issues.LinkAuto,
	}
	// The issue may have the link, or may have had it, from before the repository was renamed.
	addresses := []string{link.URL}
	for _, former := range r.FormerNames {
		addresses = append(addresses, address(c, former.Name, p.Number))
	}
	for _, m := range mentions(p, commits) {
		if err := s.link(ctx, r, link, addresses, p, m); err != nil {
			return false, err
		}
	}
	return again, nil
}

// address is the address of a pull request, in the form in which people's links are stored.
func address(c store.IntegrationConnection, repository string, number int64) string {
	base := c.BaseURL
	if u, err := url.Parse(base); err == nil {
		base = u.Scheme + "://" + strings.ToLower(u.Host)
	}
	kind := "/pull/"
	if c.Provider == gitlab {
		kind = "/-/merge_requests/"
	}
	return base + "/" + repository + kind + strconv.FormatInt(number, 10)
}

// gitlab is the provider whose pull requests have other addresses.
const gitlab = "gitlab"

// mention is an issue that a pull request names, and the text that names it.
type mention struct {
	issue uuid.UUID
	in    string
}

// issueID matches ids of issues. The address of an issue holds its id.
var issueID = regexp.MustCompile(publicid.ErrorIssue + `_[1-9A-HJ-NP-Za-km-z]{10,40}`)

// mentions finds the issues that a pull request names, each once.
func mentions(p *source.PullRequest, commits []string) []mention {
	var out []mention
	find := func(in, text string) {
		for _, id := range issueID.FindAllString(text, -1) {
			issue, err := publicid.Decode(publicid.ErrorIssue, id)
			known := slices.ContainsFunc(out, func(m mention) bool { return m.issue == issue })
			if err == nil && !known && len(out) < limits.RepositoryNamed {
				out = append(out, mention{issue, in})
			}
		}
	}
	find("title", p.Title)
	find("description", p.Body)
	find("branch", p.Branch)
	for _, message := range commits {
		find("message of a commit", message)
	}
	return out
}

// errKnown ends a change of an issue that has the link already, can have no more, or is finished.
var errKnown = errors.New("nothing to link")

// link links a pull request to an issue of the organization, unless somebody has taken it off that issue.
func (s *Shard) link(
	ctx context.Context, r *store.SourceRepository, link store.ErrorIssuePullRequest, addresses []string, p *source.PullRequest, m mention,
) error {
	issue, err := s.cfg.Store.ErrorIssue(ctx, r.Org, m.issue)
	if errors.Is(err, store.ErrNotFound) {
		return nil // another organization's, or it was deleted
	}
	if err != nil {
		return err
	}
	now := s.cfg.Now().UTC()
	issues.Told(&link, issues.PullRequest{
		State: p.State, Title: p.Title, Author: p.AuthorLogin, MergedAt: p.MergedAt.UTC(), MergeCommit: p.MergeCommit,
	}, now)
	issues.Schedule(&link, nil, now)
	change := func(i *store.IssueRecord, links []store.ErrorIssuePullRequest) error {
		known := slices.ContainsFunc(links, func(l store.ErrorIssuePullRequest) bool { return store.HasAddress(addresses, l.URL) })
		// A text that mentions a finished issue, as the notes of a release do, must not begin a new check of it.
		if known || len(links) >= limits.IssueLinks || issues.Closed(i.WorkflowState) {
			return errKnown
		}
		return issues.Link(i, link, links, issues.Act{At: now, Note: "The " + m.in + " names this issue."})
	}
	_, err = s.cfg.Store.LinkErrorIssue(ctx, r.Org, issue.ID, addresses, change)
	for _, nothing := range []error{errKnown, store.ErrUnlinked, store.ErrConflict, store.ErrNotFound} {
		if errors.Is(err, nothing) {
			return nil // also if somebody links it at this moment, or has merged the issue into another one
		}
	}
	return err
}
