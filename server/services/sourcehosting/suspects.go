package sourcehosting

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/source/frames"
	"github.com/svc-observability/svc/server/source/suspects"
)

// suspicion is a question to a host whose answer does not change.
type suspicion struct {
	org        principal.OrgID
	repository uuid.UUID
	base, head string
	places     string
	began      int64 // Unix nanoseconds
}

const (
	maxSuspicions = 1000
	// suspectCommits bounds the commits that are listed for a file. With limits.SuspectFiles, limits.SuspectChanges, the comparison of the
	// releases and the names of their commits, these are at most ten requests, or two more for a long range.
	suspectCommits = 30
)

// Suspects finds the commits that may have brought the error of a stack. It waits for limits.SuspectWait; the search goes on after that,
// and a later call has its answer. A caller who may not read source code gets an empty answer.
func (s *Service) Suspects(
	ctx context.Context, caller *principal.Principal, q suspects.Question, calls []frames.Call, evidence Evidence,
) suspects.Answer {
	if len(calls) == 0 || !caller.Allows("integrations", false) {
		return suspects.Answer{}
	}
	ctx, cancel := context.WithTimeout(ctx, limits.SuspectWait)
	defer cancel()
	at, problem := s.search(ctx, caller, q.Head, calls, evidence)
	if at == nil {
		return suspects.Answer{Problem: problem}
	}
	places := placesOf(at, calls)
	if len(places) == 0 {
		return suspects.Answer{} // the answer of Frames says so
	}
	base := ""
	if at.confidence != frames.Branch {
		var err error
		if base, _, err = s.resolveAny(ctx, at.opened, q.Base.References()); err != nil {
			return suspects.Answer{Problem: sentence(err)}
		}
	}
	deployed := base == "" && at.confidence == frames.Deployment
	if deployed {
		var before []frames.Reference
		for _, commit := range at.before {
			before = append(before, frames.Reference{Name: commit, Confidence: frames.Deployment})
		}
		var err error
		if base, _, err = s.resolveAny(ctx, at.opened, before); err != nil {
			return suspects.Answer{Problem: sentence(err)}
		}
	}
	answer := suspects.Answer{Repository: at.row.FullName, Base: base, Head: at.sha, Deployed: deployed}
	list, err := s.suspectsOf(ctx, at, base, places, q.At)
	if err != nil {
		answer.Problem = sentence(err)
		return answer
	}
	if len(list) > 0 {
		if err := s.read(ctx, at.opened, "suspect_commits", map[string]any{"base": base, "head": at.sha}); err != nil {
			answer.Problem = sentence(err)
			return answer
		}
	}
	answer.Commits = list
	return answer
}

// placesOf are the lines of the first files of a stack.
func placesOf(at *located, calls []frames.Call) []suspects.Place {
	var places []suspects.Place
	files, seen := map[string]bool{}, map[suspects.Place]bool{}
	for i, file := range at.found.Files {
		p := suspects.Place{Path: file, Line: calls[i].Line}
		if file == "" || seen[p] || len(files) == limits.SuspectFiles && !files[file] {
			continue
		}
		files[file], seen[p] = true, true
		places = append(places, p)
	}
	return places
}

// suspectsOf returns the kept answer to a question, or asks the host once for all callers that wait.
func (s *Service) suspectsOf(
	ctx context.Context, at *located, base string, places []suspects.Place, began time.Time,
) ([]suspects.Suspect, error) {
	key := suspicion{at.row.Org, at.row.ID, base, at.sha, fmt.Sprintf("%#v", places), began.UnixNano()}
	if list, ok := s.suspicions.Get(key); ok {
		return list, nil
	}
	done := s.asking.DoChan(fmt.Sprintf("%q", []any{key}), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.SuspectSearch)
		defer cancel()
		list, err := askSuspects(ctx, at, base, places, began)
		if err != nil {
			return nil, failed(ctx, err, apierr.VcsRefNotFound)
		}
		s.suspicions.Put(key, list, 1, limits.Day)
		return list, nil
	})
	select {
	case got := <-done:
		list, _ := got.Val.([]suspects.Suspect)
		return list, got.Err
	case <-ctx.Done():
		return nil, apierr.New(apierr.VcsNotReady, "The source host is being asked for commits. Ask again in a few seconds.")
	}
}

// askSuspects asks the host of a repository.
func askSuspects(
	ctx context.Context, at *located, base string, places []suspects.Place, began time.Time,
) ([]suspects.Suspect, error) {
	name, since := at.row.FullName, time.Time{}
	var within map[string]bool // nil: every commit since then
	switch base {
	case at.sha:
		return nil, nil
	case "":
		since = began.Add(-limits.SuspectWindow)
	default:
		c, err := at.host.Compare(ctx, name, base, at.sha, limits.SourceCommits)
		if err != nil {
			return nil, err
		}
		if c.Ahead > len(c.Commits) { // more than a comparison lists
			before, err := at.host.Commit(ctx, name, base)
			if err != nil {
				return nil, err
			}
			since = before.CommittedAt
			break
		}
		within = map[string]bool{}
		for _, one := range c.Commits {
			within[one.SHA] = true
		}
	}
	candidates, err := candidatesOf(ctx, at, places, since, func(c source.Commit) bool { return within == nil || within[c.SHA] }, began)
	if err != nil {
		return nil, err
	}
	return suspects.Rank(places, candidates, limits.SuspectCommits), nil
}

// candidatesOf lists the commits of the files of the places with their changes.
func candidatesOf(
	ctx context.Context, at *located, places []suspects.Place, since time.Time, within func(source.Commit) bool, began time.Time,
) ([]suspects.Candidate, error) {
	var files []string
	seen := map[string]bool{}
	for _, p := range places {
		if !seen[p.Path] {
			seen[p.Path] = true
			files = append(files, p.Path)
		}
	}
	lists := make([][]source.Commit, len(files))
	group, asking := errgroup.WithContext(ctx)
	for i, file := range files {
		group.Go(func() (err error) {
			lists[i], err = at.host.CommitsOf(asking, at.row.FullName,
				source.CommitList{From: at.sha, Path: file, Since: since, Limit: suspectCommits})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	ignored, known := suspects.Ignored(at.ignored), map[string]bool{}
	var candidates []suspects.Candidate
	for _, list := range lists { // the files that are first in the stack first, and their newest commits
		for _, c := range list {
			if !known[c.SHA] && within(c) && suspects.Eligible(c, began, ignored) && len(candidates) < limits.SuspectChanges {
				known[c.SHA] = true
				candidates = append(candidates, suspects.Candidate{Commit: c})
			}
		}
	}
	group, asking = errgroup.WithContext(ctx)
	for i := range candidates {
		c := &candidates[i]
		group.Go(func() (err error) {
			c.Changes, err = at.host.Changes(asking, at.row.FullName, c.Commit.SHA)
			return err
		})
	}
	return candidates, group.Wait()
}
