package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/hostingdeployment"
	"github.com/svc-observability/svc/ent/hostingproject"
	"github.com/svc-observability/svc/ent/marker"
	"github.com/svc-observability/svc/server/principal"
)

// previewTarget is the environment of deployments that nobody but their authors uses, pagesTarget that of documents beside a repository.
// Neither gets markers.
const (
	previewTarget = "preview"
	pagesTarget   = "github-pages"
)

// deploymentMarkers is the name space of the ids of markers of deployments (RFC 9562, section 5.5).
var deploymentMarkers = uuid.MustParse("b4f5b3a2-6a0e-4f3f-9c1d-0d9c5a7e1f11")

// crashed is the word of Railway for a deployment that started and ended by itself. Its state here is an error.
const crashed = "CRASHED"

// program is the service that a deployment brought, as its telemetry names it.
func (d *HostingDeployment) program() string { return cmp.Or(d.Service, d.ProjectName) }

// since is when a deployment began to serve, as far as that is known: its start without a better time.
func (d *HostingDeployment) since() time.Time {
	if d.ReadyAt != nil {
		return *d.ReadyAt
	}
	return d.StartedAt
}

// served reports whether a deployment is ready, or was until another one replaced it.
func (d *HostingDeployment) served() bool {
	return d.State == DeploymentReady || d.State == DeploymentRemoved && d.ReadyAt != nil
}

// deploymentMarker is the id of the marker of a deployment.
func deploymentMarker(org principal.OrgID, provider, baseURL, externalID string) uuid.UUID {
	return uuid.NewSHA1(deploymentMarkers, []byte(strings.Join([]string{string(org), provider, baseURL, externalID}, "\n")))
}

// markDeployment makes the marker of a deployment that is ready, unless another account has reported the deployment. Its id follows from
// the deployment, so there is one at most, also if the account is connected again. It stays when the platform is disconnected or the
// deployment is forgotten: it belongs to the telemetry of its time.
func (s *Store) markDeployment(ctx context.Context, tx *ent.Tx, of IntegrationConnection, d HostingDeployment, beside *reporters) error {
	if strings.EqualFold(d.Target, previewTarget) || strings.EqualFold(d.Target, pagesTarget) {
		return nil
	}
	id := deploymentMarker(of.Org, of.Provider, of.BaseURL, d.ExternalID)
	if known, err := tx.Marker.Query().Where(marker.ID(id)).Exist(ctx); err != nil || known {
		return err
	}
	if known, err := s.joinMarker(ctx, tx, of, d, beside); err != nil || known {
		return err
	}
	service, environment := d.program(), d.Target
	in := Marker{
		ID: id, Org: of.Org, Kind: string(marker.KindDeploy), Title: deployedTitle(service, environment),
		OccurredAt: utc(d.since()), ServiceName: &service, DeploymentEnvironment: &environment, URL: nonZero(d.URL),
	}
	if text := d.origin(); text != "" {
		in.Description = &text
	}
	if in.valid() != nil { // the platform may use addresses and names of branches that no marker may have
		in.URL, in.Description = nil, nil
	}
	var err error
	if in.valid() == nil {
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
const deployedBefore = 50

// Deployed is the deployment of a service by a project of a hosting platform.
type Deployed struct {
	// Commits are those of the deployments that served, the last one first, each once. The first is that of the deployment that serves.
	Commits []string
	// Repository is that of the project; it may be empty.
	Repository string
}

// DeploymentsOf returns the deployments of a service, until a time, by the projects that have it; services of several projects may have one
// name. The environment is that of the telemetry; empty is taken for production. A project whose last deployment names no commit is left
// out: its code is not known.
func (s *Store) DeploymentsOf(ctx context.Context, org principal.OrgID, service, environment string, at time.Time) ([]Deployed, error) {
	rows, err := s.read.HostingDeployment.Query().Where(
		hostingdeployment.OrgID(string(org)), hostingdeployment.StartedAtLTE(utc(at)),
		hostingdeployment.Or(
			hostingdeployment.StateEQ(hostingdeployment.StateReady), hostingdeployment.PlatformState(crashed),
			hostingdeployment.And(hostingdeployment.StateEQ(hostingdeployment.StateRemoved), hostingdeployment.ReadyAtNotNil()),
		),
		hostingdeployment.TargetEqualFold(cmp.Or(environment, "production")),
		hostingdeployment.Or(
			hostingdeployment.Service(service),
			hostingdeployment.And(hostingdeployment.ServiceIsNil(), hostingdeployment.ProjectName(service)),
		),
	).Order(hostingdeployment.ByStartedAt(entsql.OrderDesc()), hostingdeployment.ByID(entsql.OrderDesc())).Limit(deployedBefore).All(ctx)
	list, err := collect("find deployments of a service", toHostingDeployment, rows, err)
	if err != nil {
		return nil, err
	}
	type project struct {
		connection uuid.UUID
		id         string
	}
	var order []project
	of := map[project][]string{}
	for _, d := range list {
		if d.since().After(at) {
			continue
		}
		p := project{d.ConnectionID, d.ProjectExternalID}
		if _, known := of[p]; !known {
			order = append(order, p)
		}
		of[p] = append(of[p], d.CommitSha)
	}
	var out []Deployed
	for _, p := range order {
		commits := of[p]
		if commits[0] == "" {
			continue
		}
		one := Deployed{}
		for _, c := range commits {
			if c != "" && !slices.Contains(one.Commits, c) {
				one.Commits = append(one.Commits, c)
			}
		}
		row, err := s.read.HostingProject.Query().Where(append(projectsOf(org, p.connection), hostingproject.ExternalID(p.id))...).Only(ctx)
		switch {
		case err == nil && row.Repository != nil:
			one.Repository = *row.Repository
		case err != nil && !ent.IsNotFound(err):
			return nil, mapError("find the project of a deployment", err)
		}
		out = append(out, one)
	}
	return out, nil
}
