package sourcehosting

import (
	"context"
	"slices"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/source/frames"
)

// deploymentsOf are the commits that hosting platforms had deployed for a program at the time of its stack, the last one first, each once.
// If telemetry does not name the repository, that of the deployed project is taken.
func (s *Service) deploymentsOf(ctx context.Context, org principal.OrgID, o *frames.Origin) ([]string, error) {
	if o.Service == "" || o.At.IsZero() {
		return nil, nil
	}
	list, repository, err := s.Store.DeploymentsOf(ctx, org, o.Service, o.Environment, o.At)
	if err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	var commits []string
	for _, d := range list {
		if !slices.Contains(commits, d.CommitSha) {
			commits = append(commits, d.CommitSha)
		}
	}
	if _, name := o.Repository(); name == "" && repository != "" {
		o.RepositoryURL, o.RepositoryName = "", repository
	}
	return commits, nil
}
