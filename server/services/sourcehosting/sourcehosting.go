// Package sourcehosting answers the methods of svc.v2.SourceHostingService and svc.v2.SourceCodeService.
package sourcehosting

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/source/pack"
	"github.com/svc-observability/svc/server/source/suspects"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Config configures a Service. All fields are required.
type Config struct {
	Store  *store.Store
	Engine *integrations.Engine
	// Packs keeps copies of commits on this node.
	Packs *pack.Cache
	// Searches bounds the searches of an organization.
	Searches ratelimit.Limiter
	Logger   *slog.Logger
	Now      func() time.Time
}

// Service implements svcv2connect.SourceHostingServiceHandler and SourceCodeServiceHandler. It is safe for concurrent use.
type Service struct {
	Config

	// scans bounds the searches that run at once.
	scans chan struct{}
	// commits keeps the commits of references of telemetry.
	commits *cache.Cache[reference, string]
	// suspicions keeps answers of hosts about suspect commits; asking joins those who wait for the same one.
	suspicions *cache.Cache[suspicion, []suspects.Suspect]
	asking     singleflight.Group
}

// New returns the service.
func New(cfg Config) *Service {
	return &Service{
		Config: cfg, scans: make(chan struct{}, scansAtOnce), commits: cache.New[reference, string](maxCommits, cfg.Now),
		suspicions: cache.New[suspicion, []suspects.Suspect](maxSuspicions, cfg.Now),
	}
}

func persistence() storeerr.Answer {
	return storeerr.Answer{
		Tag:     apierr.IntegrationsPersistence,
		Message: "The integrations cannot be read or changed at the moment. Try again.",
	}
}

// connectionErrors describes the errors of a connected account.
func connectionErrors() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.Integration, ID: "a connected account", Unavailable: persistence(),
		NotFound: storeerr.Answer{Tag: apierr.IntegrationsNotFound, Message: "The organization has no connected account with this id."},
	}
}

// repositoryErrors describes the errors of a repository.
func repositoryErrors() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.SourceRepository, ID: "a repository", Unavailable: persistence(), Invalid: apierr.IntegrationsValidation,
		NotFound: storeerr.Answer{Tag: apierr.VcsRepoUnavailable, Message: "The organization has no repository with this id."},
	}
}

// provider finds a source host by its short name.
func (s *Service) provider(name string) (integrations.Setup, error) {
	setup, known := s.Engine.Provider(name)
	if !known || setup.Class != integrations.ClassSource {
		return setup, apierr.New(apierr.UnknownVcsProvider, "The server knows no source host of this name; it knows github and gitlab.")
	}
	return setup, nil
}

// GetSourceHost returns a host with its connected accounts.
func (s *Service) GetSourceHost(ctx context.Context, req *svcv2.GetSourceHostRequest) (*svcv2.SourceHost, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	setup, err := s.provider(req.GetProvider())
	if err != nil {
		return nil, err
	}
	all, err := s.Store.ListIntegrations(ctx, caller.Org)
	if err != nil {
		return nil, connectionErrors().Failure(ctx, err)
	}
	res := &svcv2.SourceHost{
		Object: "source_host", Provider: setup.ID, Name: setup.Name, Available: setup.Provider != nil, State: "not_connected",
	}
	rank := map[string]int{"not_connected": 0, "disconnected": 1, "suspended": 2, "connected": 3}
	for _, c := range all {
		if c.Provider != setup.ID {
			continue
		}
		row, err := s.connectionToProto(caller, c)
		if err != nil {
			return nil, connectionErrors().Failure(ctx, err)
		}
		res.Connections = append(res.Connections, row)
		if state := stateOf(c); rank[state] > rank[res.State] {
			res.State = state
		}
	}
	return res, nil
}

// stateOf is the state of an account in the words of the host.
func stateOf(c store.IntegrationConnection) string {
	switch c.State {
	case store.IntegrationReconnectNeeded:
		return "suspended"
	case store.IntegrationDisconnected:
		return "disconnected"
	}
	return "connected"
}

// InstallSourceHost starts to connect an account.
func (s *Service) InstallSourceHost(ctx context.Context, req *svcv2.InstallSourceHostRequest) (*svcv2.SourceHostInstall, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	setup, err := s.provider(req.GetProvider())
	if err != nil {
		return nil, err
	}
	url, expires, err := s.Engine.Start(ctx, caller, setup, req.GetReturnTo())
	if err != nil {
		return nil, connectionErrors().Failure(ctx, err)
	}
	return &svcv2.SourceHostInstall{Object: "source_host.install", Url: url, ExpiresAt: timestamppb.New(expires)}, nil
}

// UpdateSourceConnection sets the readers of source code of an account.
func (s *Service) UpdateSourceConnection(ctx context.Context, req *svcv2.UpdateSourceConnectionRequest) (*svcv2.SourceConnection, error) {
	caller, id, err := s.connection(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	c, err := s.Store.EditIntegration(ctx, caller.Org, id, func(c *store.IntegrationConnection) error {
		account, err := source.ReadAccount(c.Settings)
		if err != nil {
			return err
		}
		account.CodeAccess = req.GetCodeAccess()
		c.Settings, err = account.JSON()
		return err
	})
	if err != nil {
		return nil, connectionErrors().Failure(ctx, err)
	}
	return s.connectionToProto(caller, c)
}

// SyncSourceConnection makes the synchronization of an account due.
func (s *Service) SyncSourceConnection(ctx context.Context, req *svcv2.SyncSourceConnectionRequest) (*svcv2.SourceConnection, error) {
	caller, id, err := s.connection(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	c, err := s.Store.RequestIntegrationSync(ctx, caller.Org, id)
	if err != nil {
		return nil, connectionErrors().Failure(ctx, err)
	}
	return s.connectionToProto(caller, c)
}

// DisconnectSource deletes an account with its repositories and their copies.
func (s *Service) DisconnectSource(ctx context.Context, req *svcv2.DisconnectSourceRequest) (*svcv2.DisconnectedSource, error) {
	caller, id, err := s.connection(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	const most = 10_000
	rows, err := s.Store.ListSourceRepositories(ctx, caller.Org, store.RepositoryFilter{Connection: id}, 0, most)
	if err != nil {
		return nil, connectionErrors().Failure(ctx, err)
	}
	if err := s.Engine.Disconnect(ctx, caller.Org, id, s.Store.DisconnectIntegration); err != nil {
		return nil, connectionErrors().Failure(ctx, err)
	}
	for _, r := range rows {
		s.drop(ctx, caller.Org, r.ID)
	}
	return &svcv2.DisconnectedSource{Id: req.GetId(), Object: "source_connection", Deleted: true}, nil
}

// connection reads the id of an account of a source host; accounts of other classes do not exist here.
func (s *Service) connection(ctx context.Context, text string) (*principal.Principal, uuid.UUID, error) {
	caller, id, err := connectionErrors().Target(ctx, text)
	if err != nil {
		return nil, uuid.Nil, err
	}
	c, err := s.Store.GetIntegrationConnection(ctx, caller.Org, id)
	if err == nil {
		if setup, _ := s.Engine.Provider(c.Provider); setup.Class != integrations.ClassSource {
			err = store.ErrNotFound
		}
	}
	if err != nil {
		return nil, uuid.Nil, connectionErrors().Failure(ctx, err)
	}
	return caller, id, nil
}

// drop deletes the copies of a repository on this node. Other nodes delete theirs when they hear of the change.
func (s *Service) drop(ctx context.Context, org principal.OrgID, id uuid.UUID) {
	if err := s.Packs.Drop(string(org), id.String()); err != nil {
		s.Logger.WarnContext(ctx, "copies of a repository could not be deleted", "repository", id, "error", err)
	}
}

// ListSourceRepositories lists repositories by name.
func (s *Service) ListSourceRepositories(ctx context.Context, req *svcv2.ListSourceRepositoriesRequest) (
	*svcv2.ListSourceRepositoriesResponse, error,
) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.ListSourceRepositories(ctx, caller.Org, store.RepositoryFilter{
		Status: req.GetStatus(), Search: req.GetSearch(), FullName: req.GetFullName(),
	}, page.Offset, page.Want())
	if err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	providers, err := s.providersOf(ctx, caller.Org)
	if err != nil {
		return nil, err
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListSourceRepositoriesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, repositoryToProto(row, providers[row.ConnectionID]))
	}
	return res, nil
}

// providersOf returns the provider of each connected account.
func (s *Service) providersOf(ctx context.Context, org principal.OrgID) (map[uuid.UUID]string, error) {
	all, err := s.Store.ListIntegrations(ctx, org)
	if err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	providers := map[uuid.UUID]string{}
	for _, c := range all {
		providers[c.ID] = c.Provider
	}
	return providers, nil
}

// GetSourceRepository returns one repository.
func (s *Service) GetSourceRepository(ctx context.Context, req *svcv2.GetSourceRepositoryRequest) (*svcv2.SourceRepository, error) {
	caller, id, err := repositoryErrors().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.Store.GetSourceRepository(ctx, caller.Org, id)
	if err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	return s.repository(ctx, row)
}

func (s *Service) repository(ctx context.Context, row store.SourceRepository) (*svcv2.SourceRepository, error) {
	c, err := s.Store.GetIntegrationConnection(ctx, row.Org, row.ConnectionID)
	if err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	return repositoryToProto(row, c.Provider), nil
}

// SetTrackedBranch sets the branch that is read where a request names none.
func (s *Service) SetTrackedBranch(ctx context.Context, req *svcv2.SetTrackedBranchRequest) (*svcv2.SourceRepository, error) {
	repo, err := s.open(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	exists, err := repo.host.HasBranch(ctx, repo.row.FullName, req.GetTrackedBranch())
	if err != nil {
		return nil, failed(ctx, err, apierr.VcsRepoUnavailable)
	}
	if !exists {
		return nil, apierr.New(apierr.VcsRefNotFound, "The repository has no branch of this name.", apierr.Param("tracked_branch"))
	}
	branch := req.GetTrackedBranch()
	if branch == repo.row.DefaultBranch {
		branch = ""
	}
	row, err := s.Store.TrackBranch(ctx, repo.row.Org, repo.row.ID, branch)
	if err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	return repositoryToProto(row, repo.connection.Provider), nil
}

// DeleteSourceRepository deletes a removed repository.
func (s *Service) DeleteSourceRepository(ctx context.Context, req *svcv2.DeleteSourceRepositoryRequest) (
	*svcv2.DeletedSourceRepository, error,
) {
	caller, id, err := repositoryErrors().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.Store.DeleteSourceRepository(ctx, caller.Org, id); err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	s.drop(ctx, caller.Org, id)
	return &svcv2.DeletedSourceRepository{Id: req.GetId(), Object: "source_repository", Deleted: true}, nil
}
