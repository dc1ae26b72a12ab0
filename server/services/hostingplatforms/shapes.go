package hostingplatforms

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func (s *Service) platformToProto(ctx context.Context, t target) (*svcv2.HostingPlatform, error) {
	out := &svcv2.HostingPlatform{
		Id: t.setup.ID, Object: "hosting_platform", Name: t.setup.Name, Available: t.setup.Provider != nil, Status: "available",
	}
	if !out.Available {
		out.Status = "not_configured"
	}
	row := t.row
	if row == nil {
		return out, nil
	}
	known, err := integrations.ReadHosting(row.Settings)
	if err != nil {
		return nil, platformErrors().Failure(ctx, err)
	}
	projects, deployments, err := s.Store.CountHosting(ctx, t.org, row.ID)
	if err != nil {
		return nil, platformErrors().Failure(ctx, err)
	}
	out.Status, out.IntegrationId = row.State, new(publicid.Encode(publicid.Integration, row.ID))
	out.Account, out.ExternalAccountId, out.ConnectedAt = &row.Name, &row.ExternalID, timestamppb.New(row.ConnectedAt)
	out.Projects, out.Deployments = int32(projects), int32(deployments)
	out.Error, out.DrainsError = present(row.LastSyncError), present(known.DrainsError)
	if row.LastSyncAt != nil {
		out.LastSyncAt = timestamppb.New(*row.LastSyncAt)
	}
	out.ResourcesSeen = int32(known.Seen)
	for _, e := range known.Errors {
		out.EnvironmentErrors = append(out.EnvironmentErrors, &svcv2.HostingEnvironmentError{
			Environment: e.Environment, Message: e.Message,
		})
	}
	for _, d := range known.Drains {
		out.Drains = append(out.Drains, &svcv2.HostingDrain{Id: d.ID, Name: d.Name, State: d.State})
	}
	return out, nil
}

func projectToProto(p store.HostingProject) *svcv2.HostingProject {
	return &svcv2.HostingProject{
		Id: p.ExternalID, Object: "hosting_project", Name: p.Name, Framework: present(p.Framework), Repository: present(p.Repository),
		SeenAt: timestamppb.New(p.SeenAt), Environments: p.Environments, Services: p.Services,
	}
}

func deploymentToProto(d store.HostingDeployment) *svcv2.HostingDeployment {
	out := &svcv2.HostingDeployment{
		Id: d.ExternalID, Object: "hosting_deployment", ProjectId: d.ProjectExternalID, ProjectName: d.ProjectName, Target: d.Target,
		State: d.State, PlatformState: d.PlatformState, CommitSha: present(d.CommitSha), Branch: present(d.Branch), Url: present(d.URL),
		StartedAt: timestamppb.New(d.StartedAt), Service: present(d.Service),
	}
	if d.ReadyAt != nil {
		out.ReadyAt = timestamppb.New(*d.ReadyAt)
	}
	return out
}

func present(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
