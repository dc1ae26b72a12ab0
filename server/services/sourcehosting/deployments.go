package sourcehosting

import (
	"context"
	"strings"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/source/frames"
	"github.com/svc-observability/svc/server/store"
)

// deploymentsOf tells what hosting platforms had deployed for a program at the time of its stack. Telemetry that names a commit knows it
// better.
func (s *Service) deploymentsOf(ctx context.Context, org principal.OrgID, o frames.Origin) ([]store.Deployed, error) {
	if o.Service == "" || o.At.IsZero() || o.NamesCommit() {
		return nil, nil
	}
	list, err := s.Store.DeploymentsOf(ctx, org, o.Service, o.Environment, o.At)
	if err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	return list, nil
}

// repositoriesDeployed are the connected repositories of deployed projects.
func (s *Service) repositoriesDeployed(
	ctx context.Context, org principal.OrgID, deployed []store.Deployed,
) ([]store.SourceRepository, error) {
	var out []store.SourceRepository
	known := map[string]bool{"": true}
	for _, d := range deployed {
		if known[d.Repository] {
			continue
		}
		known[d.Repository] = true
		rows, err := s.Store.ListSourceRepositories(ctx, org, store.RepositoryFilter{
			Status: store.RepositoryActive, FullName: d.Repository,
		}, 0, 1)
		if err != nil {
			return nil, repositoryErrors().Failure(ctx, err)
		}
		out = append(out, rows...)
	}
	return out, nil
}

// deployedBefore are the commits that were deployed before one of a project. A platform may have named it by its beginning.
func deployedBefore(deployed []store.Deployed, sha string) []string {
	for _, d := range deployed {
		if strings.HasPrefix(sha, strings.ToLower(d.Commits[0])) {
			return d.Commits[1:]
		}
	}
	return nil
}
