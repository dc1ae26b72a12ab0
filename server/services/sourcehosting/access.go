package sourcehosting

import (
	"context"
	"errors"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// opened is a repository whose host has given access to it within limits.RepositoryAccess.
type opened struct {
	row        store.SourceRepository
	connection store.IntegrationConnection
	account    source.Account
	host       source.Host
}

// open finds a repository of the caller's organization and checks that it may be read: by the caller, and by us.
func (s *Service) open(ctx context.Context, text string) (*opened, error) {
	caller, id, err := repositoryErrors().Target(ctx, text)
	if err != nil {
		return nil, err
	}
	row, err := s.Store.GetSourceRepository(ctx, caller.Org, id)
	if err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	return s.openRow(ctx, caller, row)
}

// openRow is open for a repository that is read already.
func (s *Service) openRow(ctx context.Context, caller *principal.Principal, row store.SourceRepository) (*opened, error) {
	if row.Status != store.RepositoryActive {
		return nil, unavailable(row.FullName)
	}
	c, err := s.Store.GetIntegrationConnection(ctx, caller.Org, row.ConnectionID)
	if err != nil {
		return nil, repositoryErrors().Failure(ctx, err)
	}
	account, err := source.ReadAccount(c.Settings)
	switch {
	case err != nil:
		return nil, repositoryErrors().Failure(ctx, err)
	case account.CodeAccess == source.AccessOff:
		return nil, apierr.New(apierr.IntegrationsForbidden, "An administrator has turned off reading source code of "+c.Name+".")
	case account.CodeAccess == source.AccessAdmins && !caller.IsAdmin():
		return nil, apierr.New(apierr.IntegrationsForbidden, "Only administrators of the organization may read source code of "+c.Name+".")
	case c.State == store.IntegrationReconnectNeeded || c.State == store.IntegrationDisconnected:
		return nil, revoked(c.Name)
	case !account.Admits(row.ExternalID): // connected anew by a person who may read less
		return nil, unavailable(row.FullName)
	}
	setup, _ := s.Engine.Provider(c.Provider)
	provider, ok := setup.Provider.(integrations.SourceProvider)
	if !ok || provider.BaseURL() != c.BaseURL {
		return nil, apierr.New(apierr.IntegrationsUpstream, "The operator of this server has not set up "+c.BaseURL+".")
	}
	host, err := s.Engine.SourceHost(provider, c)
	if err != nil {
		return nil, failed(ctx, err, apierr.VcsRepoUnavailable)
	}
	r := &opened{row, c, account, host}
	if err := s.prove(ctx, r); err != nil {
		return r, err
	}
	source.Bind(host, r.row.FullName, r.row.ExternalID)
	return r, nil
}

// prove asks the host whether it still gives access, unless it did so a short time ago. If it does not, the copies are deleted.
//
// Reads name a repository by owner and name, and another repository may have taken the name over. So a repository of an account of which
// only some may be read is asked for by its id each time; an unchanged one costs nothing of the quota.
func (s *Service) prove(ctx context.Context, r *opened) error {
	asked := s.Now()
	if r.row.CheckedAt != nil && asked.Sub(*r.row.CheckedAt) < limits.RepositoryAccess && !r.account.Limited {
		return nil
	}
	seen, changed, err := r.host.Repository(ctx, r.row.ExternalID, r.row.Etag)
	switch {
	case integrations.IsKind(err, integrations.NotFound):
		if err := s.Store.RemoveSourceRepository(ctx, r.row.Org, r.row.ID, "The provider no longer gives access to the repository."); err != nil {
			return repositoryErrors().Failure(ctx, err)
		}
		s.drop(ctx, r.row.Org, r.row.ID)
		return unavailable(r.row.FullName)
	case integrations.IsKind(err, integrations.Unauthorized), integrations.IsKind(err, integrations.Suspended),
		integrations.IsKind(err, integrations.Gone):
		// The state of the account follows at once, and with it the copies.
		if due := s.Store.MakeIntegrationDue(ctx, r.row.Org, r.connection.ID); due != nil {
			return connectionErrors().Failure(ctx, due)
		}
		return failed(ctx, err, apierr.VcsRepoUnavailable)
	case err != nil:
		return failed(ctx, err, apierr.VcsRepoUnavailable)
	case changed:
		r.row.FullName, r.row.HTMLURL, r.row.DefaultBranch = seen.FullName, seen.HTMLURL, seen.DefaultBranch
		r.row.IsPrivate, r.row.IsArchived, r.row.Etag = seen.Private, seen.Archived, seen.ETag
	}
	err = s.Store.RecordRepositoryAccess(ctx, r.row.Org, r.row, changed, asked)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return unavailable(r.row.FullName) // removed meanwhile
	case err != nil:
		return repositoryErrors().Failure(ctx, err)
	}
	return nil
}

func unavailable(name string) error {
	return apierr.New(apierr.VcsRepoUnavailable, "The source host no longer gives access to "+name+".")
}

func revoked(account string) error {
	return apierr.New(apierr.IntegrationsRevoked,
		"The source host no longer accepts our access to "+account+". An administrator connects the account again at /settings/integrations.")
}

// failed turns a problem of a provider into an error of the contract. Missing is the tag for a thing that the host does not know.
func failed(ctx context.Context, err error, missing apierr.Tag) error {
	var p *integrations.Problem
	switch {
	case ctx.Err() != nil:
		return apierr.From(ctx.Err())
	case !errors.As(err, &p):
		return apierr.New(apierr.IntegrationsUpstream, "The source host could not be asked.", apierr.Cause(err))
	}
	switch p.Kind {
	case integrations.NotFound, integrations.Invalid:
		return apierr.New(missing, p.Text, apierr.Cause(err))
	case integrations.RateLimited:
		return apierr.New(apierr.VcsRateLimited, p.Text, apierr.RetryAfter(p.RetryAfter), apierr.Cause(err))
	case integrations.Unauthorized, integrations.Suspended, integrations.Gone:
		return apierr.New(apierr.IntegrationsRevoked, p.Text+" An administrator connects the account again at /settings/integrations.",
			apierr.Cause(err))
	case integrations.Forbidden:
		return apierr.New(apierr.IntegrationsForbidden, p.Text, apierr.Cause(err))
	case integrations.Upstream:
	}
	return apierr.New(apierr.IntegrationsUpstream, p.Text, apierr.Cause(err))
}

// read notes a read of source code in the audit log.
func (s *Service) read(ctx context.Context, r *opened, operation string, metadata map[string]any) error {
	metadata["operation"], metadata["repository"] = operation, r.row.FullName
	err := s.Store.RecordAudit(ctx, r.row.Org, store.AuditEvent{
		Action: "source_code.read", ResourceID: repositoryToProto(r.row, "").GetId(), Metadata: metadata,
	})
	if err != nil {
		return repositoryErrors().Failure(ctx, err)
	}
	return nil
}

// resolve finds the commit of a parameter of a request; that of the tracked branch if the parameter is not given. A name with a colon, by
// which GitHub finds branches of forks, is refused like all that git takes for no name.
func (s *Service) resolve(ctx context.Context, r *opened, param string, given *string) (ref, sha string, err error) {
	ref = r.row.Tracked()
	if given != nil {
		ref = *given
	}
	if ref == "" {
		return "", "", apierr.New(apierr.VcsRefNotFound, "The repository is empty.", apierr.Param(param))
	}
	if strings.Contains(ref, "..") || strings.ContainsFunc(ref,
		func(c rune) bool { return c <= ' ' || c == 0x7f || strings.ContainsRune("~^:?*[\\", c) }) {
		return "", "", apierr.New(apierr.VcsRefNotFound, "`"+param+"` is not the name of a branch, tag or commit.", apierr.Param(param))
	}
	sha, err = r.host.Resolve(ctx, r.row.FullName, ref)
	if err != nil {
		var e *apierr.Error
		if errors.As(failed(ctx, err, apierr.VcsRefNotFound), &e) && e.Tag == apierr.VcsRefNotFound {
			e.Message, e.Param = "The repository has no branch, tag or commit of this name.", param
		}
		return "", "", e
	}
	return ref, sha, nil
}
