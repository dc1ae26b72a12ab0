package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/hostingdeployment"
	"github.com/svc-observability/svc/ent/hostingproject"
	"github.com/svc-observability/svc/ent/marker"
	"github.com/svc-observability/svc/server/principal"
)

// previewTarget is the environment of deployments that nobody but their authors uses. They get no markers.
const previewTarget = "preview"

// program is the service that a deployment brought, as its telemetry names it.
func (d *HostingDeployment) program() string { return cmp.Or(d.Service, d.ProjectName) }

// since is when a deployment began to serve.
func (d *HostingDeployment) since() time.Time {
	if d.ReadyAt != nil {
		return *d.ReadyAt
	}
	return d.StartedAt
}

// markDeployment makes the marker of a deployment that is ready. The marker has the id of the deployment, so there is one at most.
// It stays when the platform is disconnected or the deployment is forgotten: it belongs to the telemetry of its time.
func (s *Store) markDeployment(ctx context.Context, tx *ent.Tx, of IntegrationConnection, d HostingDeployment) error {
	if d.Target == previewTarget {
		return nil
	}
	if known, err := tx.Marker.Query().Where(marker.ID(d.ID)).Exist(ctx); err != nil || known {
		return err
	}
	service, environment := d.program(), d.Target
	in := Marker{
		ID: d.ID, Org: of.Org, Kind: string(marker.KindDeploy), Title: fmt.Sprintf("%s deployed to %s", service, environment),
		OccurredAt: utc(d.since()), ServiceName: &service, DeploymentEnvironment: &environment, URL: nonZero(d.URL),
	}
	if text := d.origin(); text != "" {
		in.Description = &text
	}
	var err error
	if in.valid() == nil { // the platform may use names and addresses that no marker may have
		_, err = s.insertMarker(ctx, tx, in)
	}
	return err
}

// origin says which code was deployed.
func (d *HostingDeployment) origin() string {
	switch {
	case d.CommitSha != "" && d.Branch != "":
		return "Commit " + d.CommitSha + " of the branch " + d.Branch + "."
	case d.CommitSha != "":
		return "Commit " + d.CommitSha + "."
	case d.Branch != "":
		return "The branch " + d.Branch + "."
	default:
		return ""
	}
}

// deployedBefore bounds the deployments among which DeploymentsOf looks.
const deployedBefore = 20

// DeploymentsOf are deployments with a commit that served a program until a time, the last one first, and the repository of the last one's
// project, which may be empty. The environment is that of the telemetry; empty is taken for production.
func (s *Store) DeploymentsOf(ctx context.Context, org principal.OrgID, service, environment string, at time.Time) (
	list []HostingDeployment, repository string, err error,
) {
	rows, err := s.read.HostingDeployment.Query().Where(
		hostingdeployment.OrgID(string(org)), hostingdeployment.StartedAtLTE(utc(at)), hostingdeployment.CommitShaNotNil(),
		hostingdeployment.StateIn(hostingdeployment.StateReady, hostingdeployment.StateRemoved),
		hostingdeployment.TargetEqualFold(cmp.Or(environment, "production")),
		hostingdeployment.Or(
			hostingdeployment.Service(service),
			hostingdeployment.And(hostingdeployment.ServiceIsNil(), hostingdeployment.ProjectName(service)),
		),
	).Order(hostingdeployment.ByStartedAt(entsql.OrderDesc()), hostingdeployment.ByID(entsql.OrderDesc())).Limit(deployedBefore).All(ctx)
	if list, err = collect("find deployments of a service", toHostingDeployment, rows, err); err != nil {
		return nil, "", err
	}
	list = slices.DeleteFunc(list, func(d HostingDeployment) bool { return d.since().After(at) })
	if len(list) == 0 {
		return nil, "", nil
	}
	project, err := s.read.HostingProject.Query().Where(append(projectsOf(org, list[0].ConnectionID),
		hostingproject.ExternalID(list[0].ProjectExternalID))...).Only(ctx)
	switch {
	case err == nil && project.Repository != nil:
		repository = *project.Repository
	case err != nil && !ent.IsNotFound(err):
		return nil, "", mapError("find the project of a deployment", err)
	}
	return list, repository, nil
}
