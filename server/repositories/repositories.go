// Package repositories looks at connected repositories for news: a pull request that names an error issue is linked to it,
// and deployments become markers. A delivery of the host makes a repository due at once; without one, it is due after a while.
package repositories

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// Config configures a Watcher. All fields are required.
type Config struct {
	Store  *store.Store
	Engine *integrations.Engine
	Logger *slog.Logger
	Now    func() time.Time
}

// Watcher looks at repositories.
type Watcher struct {
	cfg    Config
	most   time.Duration // for one repository
	unread *unread
}

// New returns a watcher.
func New(cfg Config) *Watcher {
	return &Watcher{cfg, limits.RepositoryTime, &unread{of: map[pullKey]failures{}}}
}

// Shard is the work of one shard.
type Shard struct {
	*Watcher
	fence store.Fence
}

// Shard returns the work of a shard under a lease.
func (w *Watcher) Shard(f store.Fence) *Shard { return &Shard{w, f} }

// Step looks at the repositories that are due, and returns the time of the next step. A repository that cannot be read delays itself only,
// but a host that does not answer in time delays the other repositories of the account, so that those of other accounts do not wait for it.
func (s *Shard) Step(ctx context.Context) (time.Time, error) {
	began := s.cfg.Now().UTC()
	due, err := s.cfg.Store.DueRepositories(ctx, s.fence.Number, began, limits.RepositoryRows)
	if err != nil {
		return time.Time{}, err
	}
	hangs := map[uuid.UUID]bool{} // by connection
	for _, r := range due {
		if hangs[r.ConnectionID] {
			continue
		}
		if s.cfg.Now().Sub(began) > limits.RepositoryTime {
			return s.cfg.Now(), nil // the rest is still due
		}
		late, err := s.look(ctx, r)
		if err == nil && late {
			hangs[r.ConnectionID] = true
			err = s.cfg.Store.PostponeRepositories(ctx, s.fence, r, s.cfg.Now().UTC(), limits.RepositoryBusy)
		}
		if err != nil {
			return time.Time{}, err
		}
	}
	return s.cfg.Now().Add(limits.RepositoryLook), nil
}

// look reads one repository. late says that the host did not answer a request in time; the end of svc's own time for the repository says
// nothing of the host. The error is one of the lease or of the store.
func (s *Shard) look(ctx context.Context, r store.SourceRepository) (late bool, err error) {
	asked := r.LookDueAt
	c, err := s.cfg.Store.GetIntegrationConnection(ctx, r.Org, r.ConnectionID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil // disconnected meanwhile, and the repository with it
	}
	if err != nil {
		return false, err
	}
	call, cancel := context.WithTimeout(ctx, s.most)
	pause, err := s.read(call, c, &r)
	late = timedOut(err) && call.Err() == nil
	cancel()
	var problem *integrations.Problem
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, store.ErrFenced):
		return false, err
	case errors.Is(err, integrations.ErrNoAccess):
		pause = limits.RepositoryQuiet
	case errors.As(err, &problem):
		pause = max(limits.RepositoryBusy, min(problem.RetryAfter, limits.IntegrationPause))
		s.cfg.Logger.DebugContext(ctx, "a repository could not be read; svc tries again", "repository", r.ID, "error", err)
	case err != nil:
		pause = limits.RepositoryBusy
		s.cfg.Logger.WarnContext(ctx, "a repository could not be looked at; svc tries again", "repository", r.ID, "error", err)
	}
	next := s.cfg.Now().UTC().Add(pause)
	r.LookDueAt = &next
	return late, s.cfg.Store.NoteRepositoryLook(ctx, s.fence, r, asked)
}

// read reads the news of a repository, and returns the time until the next look.
func (s *Shard) read(ctx context.Context, c store.IntegrationConnection, r *store.SourceRepository) (time.Duration, error) {
	host, name, err := s.cfg.Engine.RepositoryHost(ctx, c, *r)
	if err != nil {
		return 0, err
	}
	more, again, err := s.pulls(ctx, host, name, c, r)
	if err != nil && (timedOut(err) || concernsAll(ctx, err)) {
		return 0, err
	}
	last, failed := s.deployments(ctx, host, name, c, r)
	if err = errors.Join(err, failed); err != nil || more {
		return 0, err
	}
	if again {
		return limits.RepositoryBusy, nil
	}
	if r.PullsSeenAt != nil && r.PullsSeenAt.After(last) {
		last = *r.PullsSeenAt
	}
	switch since := s.cfg.Now().Sub(last); {
	case since < limits.Day:
		return limits.RepositoryBusy, nil
	case since < limits.RepositoryRecent:
		return limits.RepositoryQuiet, nil
	default:
		return limits.RepositoryIdle, nil
	}
}

// concernsAll reports whether an error says that no other request for the repository can succeed now: the account has no quota or no
// access, or the time is over.
func concernsAll(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, store.ErrFenced) {
		return true
	}
	all := []integrations.Kind{integrations.RateLimited, integrations.Unauthorized, integrations.Suspended, integrations.Gone}
	return slices.ContainsFunc(all, func(k integrations.Kind) bool { return integrations.IsKind(err, k) })
}

// timedOut reports whether a host did not answer in time.
func timedOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// overlap is how much of the time before the last look is read again: hosts tell the time of a change in seconds.
const overlap = time.Second

// pulls looks at the pull requests that changed. The oldest change comes first, so that a look which ends early is taken up there; more
// says so. A pull request whose commits have to be asked for again holds up no other one, but the next look begins with it; again says so.
func (s *Shard) pulls(
	ctx context.Context, host source.Host, name string, c store.IntegrationConnection, r *store.SourceRepository,
) (more, again bool, err error) {
	since := s.cfg.Now().UTC().Add(-limits.RepositoryRecent)
	if r.PullsSeenAt != nil {
		since = r.PullsSeenAt.Add(-overlap)
	}
	page, err := host.PullRequests(ctx, name, source.PullRequestList{Since: since, ETag: r.PullsEtag, Limit: limits.RepositoryChanges})
	if integrations.IsKind(err, integrations.Forbidden) || integrations.IsKind(err, integrations.NotFound) {
		return false, false, nil // the permission is missing, or the repository has none
	}
	if err != nil || page.Unchanged {
		return false, false, err
	}
	slices.Reverse(page.List)
	r.PullsEtag = ""
	for i := range page.List {
		// The next look begins at overlap before the last one read here. It must not read the same ones again at once.
		if i >= limits.RepositoryPulls && page.List[i-1].UpdatedAt.After(page.List[0].UpdatedAt.Add(overlap)) {
			return !again, again, nil
		}
		failed, err := s.pull(ctx, host, name, c, r, &page.List[i])
		if err != nil {
			return false, again, err
		}
		if !again {
			r.PullsSeenAt = &page.List[i].UpdatedAt // overlap brings it back if it failed
		}
		again = again || failed
	}
	if r.PullsSeenAt == nil {
		r.PullsSeenAt = &since
	}
	if !again {
		r.PullsEtag = page.ETag
	}
	return false, again, nil
}

// deployments stores the deployments that began or changed. last is when the last one began.
func (s *Shard) deployments(
	ctx context.Context, host source.Host, name string, c store.IntegrationConnection, r *store.SourceRepository,
) (last time.Time, err error) {
	stored, last, err := s.cfg.Store.SettledDeployments(ctx, r.Org, c.ID, r.ExternalID)
	if err != nil {
		return last, err
	}
	settled := map[string]bool{}
	for id, is := range stored {
		settled[strings.TrimPrefix(id, externalID(r.ExternalID, ""))] = is
	}
	now := s.cfg.Now().UTC()
	list := store.HostingList{KeepSince: now.Add(-limits.HostingRetention)}
	found, err := host.Deployments(ctx, name, source.DeploymentList{
		Since: list.KeepSince, Settled: settled,
		Newest: limits.RepositoryDeployments,
	})
	if integrations.IsKind(err, integrations.Forbidden) || integrations.IsKind(err, integrations.NotFound) {
		return last, nil // the permission is missing, or deployments are turned off
	}
	if err != nil || len(found) == 0 {
		return last, err
	}
	project := path.Base(r.FullName)
	for _, d := range found {
		if d.StartedAt.After(last) {
			last = d.StartedAt
		}
		list.Deployments = append(list.Deployments, row(d, r.ExternalID, project))
	}
	return last, s.cfg.Store.SyncDeployments(ctx, s.fence, c, store.HostingProject{
		ExternalID: r.ExternalID, Name: project, Repository: r.FullName, Environments: []string{}, Services: []string{},
	}, list, now)
}

// preview is the environment of deployments that are not for users, in the words of the store; production is that of one without a name.
const (
	preview    = "preview"
	production = "production"
)

// externalID is the id of a deployment in an account: hosts may count those of each repository for itself.
func externalID(repository, id string) string { return repository + "/" + id }

func row(d source.Deployment, repository, project string) store.HostingDeployment {
	out := store.HostingDeployment{
		ExternalID: externalID(repository, d.ID), ProjectExternalID: repository, ProjectName: integrations.Clip(project),
		Service: integrations.Clip(d.Service), Target: integrations.Clip(d.Environment), State: d.State,
		PlatformState: integrations.Clip(d.HostState),
		CommitSha:     integrations.Clip(d.CommitSHA), Branch: integrations.Clip(d.Ref), URL: integrations.Clip(d.URL), StartedAt: d.StartedAt,
	}
	// If a repository has several projects at Vercel, their environments are named "Preview – shop" and "Production – shop".
	kind, shown, several := strings.Cut(d.Environment, " – ")
	if several && strings.EqualFold(kind, production) {
		out.Target, out.Service = kind, cmp.Or(out.Service, integrations.Clip(shown))
	}
	out.Target, out.PlatformState = cmp.Or(out.Target, production), cmp.Or(out.PlatformState, d.State)
	if d.Preview || strings.EqualFold(kind, preview) {
		out.Target = preview
	}
	if !d.ReadyAt.IsZero() {
		out.ReadyAt = &d.ReadyAt
	}
	return out
}
