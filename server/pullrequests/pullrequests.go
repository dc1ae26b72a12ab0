// Package pullrequests reads pull requests of error issues at the source hosts that an organization has connected, and says which commits
// contain which.
package pullrequests

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// Store is the part of the relational store that the reader needs.
type Store interface {
	ListSourceRepositories(ctx context.Context, org principal.OrgID, f store.RepositoryFilter, offset, limit int) (
		[]store.SourceRepository, error)
	GetIntegrationConnection(ctx context.Context, org principal.OrgID, id uuid.UUID) (store.IntegrationConnection, error)
}

// Reader implements issues.Code. It is safe for concurrent use.
type Reader struct {
	store  Store
	engine *integrations.Engine
	// answers keeps the answers of hosts about commits.
	answers *cache.Cache[question, containment]
}

// question asks whether a revision of a repository, by its id here, contains a commit.
type question struct {
	org              principal.OrgID
	repository       uuid.UUID
	revision, commit string
}

// containment is the answer of a host; known is false if it does not know one of the commits.
type containment struct{ known, contains bool }

const maxAnswers = 10_000

// New returns a reader. now is time.Now outside of tests.
func New(s Store, engine *integrations.Engine, now func() time.Time) *Reader {
	return &Reader{store: s, engine: engine, answers: cache.New[question, containment](maxAnswers, now)}
}

// readableRepository is a repository that may be read.
type readableRepository struct {
	id   uuid.UUID
	name string
	host source.Host
}

// errNowhere reports that no connected account has the repository of a link.
var errNowhere = errors.New("no connected account has the repository")

// PullRequest implements issues.Code.
func (r *Reader) PullRequest(ctx context.Context, org principal.OrgID, link *store.ErrorIssuePullRequest) (issues.PullRequest, error) {
	at, err := r.find(ctx, org, link)
	switch {
	case errors.Is(err, errNowhere):
		return issues.PullRequest{}, &issues.Unreadable{
			Text: "No connected account gives access to " + link.RepoFullName +
				". An administrator connects one, or again, at /settings/integrations.",
			Again: limits.PullRequestUnknown,
		}
	case err != nil:
		return issues.PullRequest{}, err
	}
	etag := ""
	if link.Etag != nil {
		etag = *link.Etag
	}
	p, changed, err := at.host.PullRequest(ctx, at.name, link.Number, etag)
	if err != nil {
		return issues.PullRequest{}, unreadable(err)
	}
	if !changed {
		return issues.PullRequest{Unchanged: true}, nil
	}
	return issues.PullRequest{
		State: p.State, Title: p.Title, Author: p.AuthorLogin, Etag: p.ETag, MergedAt: p.MergedAt.UTC(), MergeCommit: p.MergeCommit,
	}, nil
}

func unreadable(err error) *issues.Unreadable {
	var p *integrations.Problem
	if !errors.As(err, &p) {
		return &issues.Unreadable{Text: "The source host did not answer in time."}
	}
	switch p.Kind {
	case integrations.NotFound, integrations.Invalid:
		return &issues.Unreadable{Text: "The source host knows no such pull request, or gives no access to it.", Again: limits.PullRequestUnknown}
	default:
		return &issues.Unreadable{Text: p.Text, Again: min(p.RetryAfter, limits.IntegrationPause)}
	}
}

// commitID matches the ids of commits, which may be shortened. Revisions in telemetry may be anything, such as names of branches, whose
// containment would change.
var commitID = regexp.MustCompile(`^[0-9a-fA-F]{7,64}$`)

// Contains implements issues.Code.
func (r *Reader) Contains(
	ctx context.Context, org principal.OrgID, link *store.ErrorIssuePullRequest, commit string, revisions []string,
) (map[string]bool, error) {
	at, err := r.find(ctx, org, link)
	if errors.Is(err, errNowhere) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out, questions := map[string]bool{}, 0
	for _, revision := range revisions {
		if !commitID.MatchString(revision) {
			continue
		}
		asked := question{org, at.id, strings.ToLower(revision), strings.ToLower(commit)}
		said, ok := r.answers.Get(asked)
		if !ok {
			if questions == limits.PullRequestCommits {
				return out, &issues.Unreadable{Text: "There are more commits than one check asks about."}
			}
			questions++
			if said, err = r.ask(ctx, at, asked); err != nil {
				return out, err
			}
		}
		if said.known {
			out[revision] = said.contains
		}
	}
	return out, nil
}

// ask asks a host and keeps its answer. A host may learn of a commit later, so that it does not know one is kept for a while only.
func (r *Reader) ask(ctx context.Context, at readableRepository, q question) (containment, error) {
	has, err := at.host.Contains(ctx, at.name, q.revision, q.commit)
	said, keep := containment{known: true, contains: has}, limits.Day
	if integrations.IsKind(err, integrations.NotFound) || integrations.IsKind(err, integrations.Invalid) {
		said, keep, err = containment{}, limits.PullRequestUnknown, nil
	}
	if err != nil {
		return containment{}, unreadable(err)
	}
	r.answers.Put(q, said, 1, keep)
	return said, nil
}

// find finds the repository of a link at the host of its address, through an account in order.
func (r *Reader) find(ctx context.Context, org principal.OrgID, link *store.ErrorIssuePullRequest) (readableRepository, error) {
	const most = 10 // accounts that have a repository of this name
	rows, err := r.store.ListSourceRepositories(ctx, org, store.RepositoryFilter{
		Status: store.RepositoryActive, FullName: link.RepoFullName,
	}, 0, most)
	if err != nil {
		return readableRepository{}, err
	}
	for _, row := range rows {
		c, err := r.store.GetIntegrationConnection(ctx, org, row.ConnectionID)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return readableRepository{}, err
		}
		if c.Provider != link.Provider || !sameHost(c.BaseURL, link.URL) {
			continue
		}
		host, name, err := r.engine.RepositoryHost(ctx, c, row)
		if errors.Is(err, integrations.ErrNoAccess) {
			continue
		}
		if err != nil {
			return readableRepository{}, unreadable(err)
		}
		return readableRepository{row.ID, name, host}, nil
	}
	return readableRepository{}, errNowhere
}

func sameHost(a, b string) bool {
	x, err := url.Parse(a)
	y, failed := url.Parse(b)
	return err == nil && failed == nil && strings.EqualFold(x.Host, y.Host)
}

var _ issues.Code = (*Reader)(nil)
