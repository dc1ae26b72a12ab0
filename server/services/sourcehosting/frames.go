package sourcehosting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/source/frames"
	"github.com/svc-observability/svc/server/store"
)

// reference is the name of a commit in a repository, by its id here.
type reference struct {
	org        principal.OrgID
	repository uuid.UUID
	name       string
}

const (
	maxCommits = 10_000
	// tagKept is how long the commit of a tag is kept: tags rarely move. That of a branch, and that a host does not know a name, is kept
	// for a short time: a deployment may reach us before its push.
	tagKept, briefly = time.Hour, time.Minute
)

// located is a repository with the commit of a program, and the files of the calls in it.
type located struct {
	*opened
	sha, confidence string
	// before are the commits that the hosting platform had deployed before, the last one first.
	before []string
	found  frames.Found
	texts  map[string][]byte
	// ignored is the file that names commits which changed only the form of the code; nil without one.
	ignored []byte
}

// rank orders confidences, the surest first.
func rank(confidence string) int {
	return slices.Index([]string{frames.Exact, frames.Tag, frames.Deployment, frames.Branch}, confidence)
}

// Evidence gives further calls of the program of a stack.
type Evidence = func(context.Context) ([]frames.Call, error)

// Frames finds the files of the calls of a stack. The evidence gives further calls of the same program, and is asked only if the stack does
// not prove where its files are. It takes at most limits.SourceFrames, and a failure of it is not one of its caller: the answer has fewer
// sources, and a problem that a person can understand. A caller who may not read source code gets an empty answer.
func (s *Service) Frames(
	ctx context.Context, caller *principal.Principal, o frames.Origin, calls []frames.Call, evidence Evidence,
) frames.Answer {
	answer := frames.Answer{Sources: make([]*frames.Source, len(calls))}
	if len(calls) == 0 || !caller.Allows("integrations", false) {
		return answer
	}
	ctx, cancel := context.WithTimeout(ctx, limits.SourceFrames)
	defer cancel()
	best, problem := s.search(ctx, caller, o, calls, evidence)
	answer.Problem = problem
	if best != nil {
		if err := s.fill(ctx, &answer, best, calls); err != nil {
			answer.Problem = sentence(err)
		}
	}
	return answer
}

// search finds the repository in which most calls are proven. Without one it returns a problem, which may be empty.
func (s *Service) search(
	ctx context.Context, caller *principal.Principal, o frames.Origin, calls []frames.Call, evidence Evidence,
) (best *located, problem string) {
	deployed, err := s.deploymentsOf(ctx, caller.Org, o)
	if err != nil {
		return nil, sentence(err)
	}
	rows, problem, err := s.repositoriesOf(ctx, caller.Org, o, deployed)
	ambiguous := false
	for _, row := range rows {
		var at *located
		if at, err = s.locate(ctx, caller, row, o, deployed, calls, evidence); err != nil {
			continue
		}
		switch {
		case best == nil || better(at, best):
			best, ambiguous = at, false
		case !better(best, at) && at.sha != best.sha:
			ambiguous = true
		}
	}
	switch {
	case ambiguous && best.found.Proven > 0:
		return nil, "More than one repository has the files of the stack. Set the resource attribute vcs.repository.url.full."
	case best != nil:
		return best, ""
	case err != nil:
		return nil, sentence(err)
	}
	return nil, problem
}

// better reports whether a repository is more likely that of the program: more calls are proven, or as many at a surer commit.
func better(a, b *located) bool {
	return cmp.Or(cmp.Compare(b.found.Proven, a.found.Proven), cmp.Compare(rank(a.confidence), rank(b.confidence))) < 0
}

// repositoriesOf are the repositories that may be those of a program: the one that telemetry names, else those of the deployed projects,
// else all if there are few.
func (s *Service) repositoriesOf(
	ctx context.Context, org principal.OrgID, o frames.Origin, deployed []store.Deployed,
) ([]store.SourceRepository, string, error) {
	filter := store.RepositoryFilter{Status: store.RepositoryActive}
	host, name := o.Repository()
	if name == "" {
		if rows, err := s.repositoriesDeployed(ctx, org, deployed); err != nil || len(rows) > 0 {
			return rows, "", err
		}
	}
	filter.FullName = name
	rows, err := s.Store.ListSourceRepositories(ctx, org, filter, 0, limits.SourceFrameRepositories+1)
	if err != nil {
		return nil, "", repositoryErrors().Failure(ctx, err)
	}
	if host != "" {
		rows = slices.DeleteFunc(rows, func(r store.SourceRepository) bool {
			u, err := url.Parse(r.HTMLURL)
			return err != nil || !strings.EqualFold(u.Hostname(), host)
		})
	}
	switch {
	case len(rows) == 0 && name != "":
		return nil, "No connected account gives access to the repository " + name + ", which the telemetry names.", nil
	case len(rows) > limits.SourceFrameRepositories:
		return nil, "The telemetry does not name the repository. Set the resource attribute vcs.repository.url.full.", nil
	}
	return rows, "", nil
}

// locate finds the files of calls in a repository.
func (s *Service) locate(
	ctx context.Context, caller *principal.Principal, row store.SourceRepository, o frames.Origin, deployed []store.Deployed,
	calls []frames.Call,
	evidence Evidence,
) (*located, error) {
	r, err := s.openRow(ctx, caller, row)
	if err != nil {
		return nil, err
	}
	at := &located{opened: r}
	if at.sha, at.confidence, err = s.commitOf(ctx, r, o, deployed); err != nil {
		return nil, err
	}
	if at.confidence == frames.Deployment {
		at.before = deployedBefore(deployed, at.sha)
	}
	p, err := s.copyOf(ctx, r, at.sha)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Close() }()
	tree := frames.FromPack(p)
	if at.found, err = frames.Find(ctx, tree, calls, nil); err != nil {
		return nil, err
	}
	if slices.Contains(at.found.Files, "") {
		more, err := evidence(ctx)
		if err != nil {
			return nil, err
		}
		if at.found, err = frames.Find(ctx, tree, calls, more); err != nil {
			return nil, err
		}
	}
	texts := map[string][]byte{}
	for _, file := range at.found.Files {
		if file == "" || texts[file] != nil {
			continue
		}
		if texts[file], err = tree.Text(file); err != nil {
			return nil, err
		}
	}
	at.texts = texts
	if at.ignored, err = tree.Text(".git-blame-ignore-revs"); err != nil {
		return nil, err
	}
	return at, nil
}

// commitOf finds the commit of a program, and how surely it is known.
func (s *Service) commitOf(ctx context.Context, r *opened, o frames.Origin, deployed []store.Deployed) (sha, confidence string, err error) {
	list := o.References()
	for _, d := range deployed {
		list = append(list, frames.Reference{Name: d.Commits[0], Confidence: frames.Deployment})
	}
	if branch := r.row.Tracked(); branch != "" {
		list = append(list, frames.Reference{Name: branch, Confidence: frames.Branch})
	}
	sha, confidence, err = s.resolveAny(ctx, r, list)
	if err == nil && sha == "" {
		err = apierr.New(apierr.VcsRefNotFound, "The repository "+r.row.FullName+" is empty.")
	}
	return sha, confidence, err
}

// resolveAny finds the commit of the first reference that the repository has. The commit is empty if it has none.
func (s *Service) resolveAny(ctx context.Context, r *opened, list []frames.Reference) (sha, confidence string, err error) {
	for _, ref := range list {
		key := reference{r.row.Org, r.row.ID, ref.Name}
		sha, known := s.commits.Get(key)
		if !known {
			sha, err = r.host.Resolve(ctx, r.row.FullName, ref.Name)
			if integrations.IsKind(err, integrations.NotFound) || integrations.IsKind(err, integrations.Invalid) {
				sha, err = "", nil
			}
			if err != nil {
				return "", "", failed(ctx, err, apierr.VcsRefNotFound)
			}
			keep := map[string]time.Duration{
				frames.Exact: limits.Day, frames.Tag: tagKept, frames.Deployment: limits.Day,
				frames.Branch: briefly,
			}[ref.Confidence]
			if sha == "" {
				keep = briefly
			}
			s.commits.Put(key, sha, 1, keep)
		}
		if sha != "" {
			return sha, ref.Confidence, nil
		}
	}
	return "", "", nil
}

// fill writes the sources of a repository into an answer, and the read into the audit log.
func (s *Service) fill(ctx context.Context, answer *frames.Answer, at *located, calls []frames.Call) error {
	paths := map[string]bool{}
	for i, file := range at.found.Files {
		if file == "" || len(paths) == limits.SourceFrameFiles && !paths[file] {
			continue
		}
		paths[file] = true
		answer.Sources[i] = &frames.Source{
			RepositoryID: at.row.ID, Repository: at.row.FullName, Path: file, Commit: at.sha, Confidence: at.confidence,
			URL:     fmt.Sprintf("%s#L%d", at.host.FileURL(at.row.FullName, at.sha, file), calls[i].Line),
			Context: frames.Around(at.texts[file], calls[i].Line, limits.SourceFrameLines, limits.SourceFrameLine),
		}
	}
	if len(paths) == 0 {
		answer.Problem = fmt.Sprintf("No file of %s at %.7s is proven to be one of this stack.", at.row.FullName, at.sha)
		return nil
	}
	err := s.read(ctx, at.opened, "error_frames", map[string]any{"commit": at.sha, "files": len(paths)})
	if err != nil {
		clear(answer.Sources)
	}
	return err
}

// sentence is the text of an error for a person.
func sentence(err error) string {
	var e *apierr.Error
	if errors.As(err, &e) {
		switch e.Tag {
		case apierr.VcsNotReady, apierr.VcsRepoUnavailable, apierr.VcsRefNotFound, apierr.VcsRateLimited, apierr.VcsQueryInvalid,
			apierr.IntegrationsForbidden, apierr.IntegrationsRevoked, apierr.IntegrationsUpstream:
			return e.Message
		default: // a matter of this moment
		}
	}
	return "The source code could not be read in time: a first read copies the commit. Ask again in a few seconds."
}
