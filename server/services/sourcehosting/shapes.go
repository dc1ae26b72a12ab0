package sourcehosting

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// connectionToProto describes an account to a caller. Only administrators learn the secret address for webhooks.
func (s *Service) connectionToProto(caller *principal.Principal, c store.IntegrationConnection) (*svcv2.SourceConnection, error) {
	account, err := source.ReadAccount(c.Settings)
	if err != nil {
		return nil, err
	}
	out := &svcv2.SourceConnection{
		Id: publicid.Encode(publicid.Integration, c.ID), Object: "source_connection", Provider: c.Provider, BaseUrl: c.BaseURL,
		AccountLogin: c.Name, AccountType: account.Type, RepositorySelection: account.Selection, Limited: account.Limited, Status: c.State,
		Error: present(c.LastSyncError), CodeAccess: account.CodeAccess, MissingPermissions: account.Missing,
		SettingsUrl: account.SettingsURL, ConnectedBy: present(string(c.ConnectedBy)), ConnectedAt: timestamppb.New(c.ConnectedAt),
		LastSyncAt: stamp(orZero(c.LastSyncAt)),
	}
	setup, _ := s.Engine.Provider(c.Provider)
	if _, hooked := setup.Provider.(integrations.Hooker); hooked && caller.IsAdmin() && caller.Allows("integrations", true) &&
		s.Engine.Reachable() {
		out.WebhookUrl, out.WebhookSecret = present(s.Engine.HookURL(c)), present(s.Engine.HookSecret(c))
	}
	return out, nil
}

func repositoryToProto(r store.SourceRepository, provider string) *svcv2.SourceRepository {
	return &svcv2.SourceRepository{
		Id: publicid.Encode(publicid.SourceRepository, r.ID), Object: "source_repository", Provider: provider,
		ConnectionId: publicid.Encode(publicid.Integration, r.ConnectionID), FullName: r.FullName, HtmlUrl: r.HTMLURL,
		IsPrivate: r.IsPrivate, IsArchived: r.IsArchived, Status: r.Status, DefaultBranch: present(r.DefaultBranch),
		TrackedBranch: present(r.Tracked()), LastSyncedAt: stamp(orZero(r.LastSyncedAt)), LastSyncError: present(r.LastSyncError),
	}
}

func commitToProto(c source.Commit, provider, repository string) *svcv2.SourceCommit {
	return &svcv2.SourceCommit{
		Object: "source_commit", Provider: provider, Sha: c.SHA, Message: c.Message, AuthorName: present(c.AuthorName),
		AuthorEmail: present(c.AuthorEmail), AuthorLogin: present(c.AuthorLogin), AuthoredAt: stamp(c.AuthoredAt),
		CommittedAt: stamp(c.CommittedAt), HtmlUrl: c.HTMLURL, RepoFullName: repository,
	}
}

func runToProto(r source.Run) *svcv2.SourceCiRun {
	out := &svcv2.SourceCiRun{
		Id: r.ID, Name: r.Name, Status: r.Status, Conclusion: present(r.Conclusion), Branch: r.Branch, CommitSha: r.SHA, HtmlUrl: r.HTMLURL,
		StartedAt: stamp(r.StartedAt), CompletedAt: stamp(r.CompletedAt),
	}
	for _, j := range r.FailedJobs {
		out.FailedJobs = append(out.FailedJobs, &svcv2.SourceCiJob{Name: j.Name, FailedStep: present(j.FailedStep), HtmlUrl: j.HTMLURL})
	}
	return out
}

// present is null for an empty text.
func present(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// stamp is null for the zero time.
func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func orZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}
