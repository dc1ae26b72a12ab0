package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/hostingdeployment"
	"github.com/svc-observability/svc/ent/hostingproject"
	"github.com/svc-observability/svc/ent/integrationconnection"
	"github.com/svc-observability/svc/ent/marker"
	"github.com/svc-observability/svc/server/limits"
)

// joined is the sentence of the marker of a deployment that has two reports.
const joined = "The repository's host and the hosting platform both report it."

// reporters are the accounts that may report the deployments of an account, too: for that of a repository's host, the hosting platforms,
// and the reverse.
type reporters struct {
	host bool // the account is that of a repository's host
	ids  []uuid.UUID
	of   map[uuid.UUID]*ent.IntegrationConnection
}

// reportersBeside finds them. If there are some, they wait for the end of the transaction: two accounts that report one deployment at the
// same time would both make the marker. It comes before all else that the transaction locks or inserts: a row that is inserted holds the
// organization, too, and two transactions that did so would wait for each other.
func (s *Store) reportersBeside(ctx context.Context, tx *ent.Tx, of IntegrationConnection) (*reporters, error) {
	hosts := integrationconnection.HasRepositories()
	host, err := tx.IntegrationConnection.Query().Where(integrationconnection.ID(of.ID), hosts).Exist(ctx)
	if err != nil {
		return nil, err
	}
	others := hosts
	if host {
		others = integrationconnection.Not(hosts)
	}
	rows, err := tx.IntegrationConnection.Query().Where(integrationconnection.OrgID(string(of.Org)), others).All(ctx)
	out := &reporters{host: host, of: map[uuid.UUID]*ent.IntegrationConnection{}}
	for _, row := range rows {
		if row.ID != of.ID {
			out.ids, out.of[row.ID] = append(out.ids, row.ID), row
		}
	}
	if err == nil && len(out.ids) > 0 {
		err = s.queueAtOrganization(ctx, tx, of.Org)
	}
	return out, err
}

// joinMarker looks for the marker that the other report of a deployment has made. The first report makes the marker, the second one is
// noted there. It is the same deployment if commit, environment and repository are the same, and the name of the service, unless the host
// does not tell it. Of several ones the nearest start counts.
func (s *Store) joinMarker(ctx context.Context, tx *ent.Tx, of IntegrationConnection, d HostingDeployment, r *reporters) (bool, error) {
	if d.CommitSha == "" || len(r.ids) == 0 {
		return false, nil
	}
	rows, err := tx.HostingDeployment.Query().Where(
		hostingdeployment.OrgID(string(of.Org)), hostingdeployment.ConnectionIDIn(r.ids...), hostingdeployment.CommitSha(d.CommitSha),
		hostingdeployment.StartedAtGTE(utc(d.StartedAt.Add(-limits.DeploymentJoin))),
		hostingdeployment.StartedAtLTE(utc(d.StartedAt.Add(limits.DeploymentJoin))),
	).Order(hostingdeployment.ByStartedAt(), hostingdeployment.ByID()).All(ctx)
	if err != nil {
		return false, err
	}
	slices.SortStableFunc(rows, func(a, b *ent.HostingDeployment) int {
		return cmp.Compare(apart(a.StartedAt, d.StartedAt), apart(b.StartedAt, d.StartedAt))
	})
	for _, row := range rows {
		other := toHostingDeployment(row)
		host, platform := other, d
		if r.host {
			host, platform = d, other
		}
		if !sameEnvironment(host.Target, platform.Target) {
			continue
		}
		if same, err := sameRepository(ctx, tx, of, d, other); err != nil || !same {
			if err != nil {
				return false, err
			}
			continue
		}
		c := r.of[other.ConnectionID]
		m, err := tx.Marker.Query().Where(marker.ID(deploymentMarker(of.Org, c.Provider, c.BaseURL, other.ExternalID))).Only(ctx)
		if ent.IsNotFound(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		named := orZero(m.ServiceName)
		guessed := host.Service == "" && (r.host || strings.EqualFold(named, host.program()))
		if !guessed && !strings.EqualFold(named, d.program()) {
			continue
		}
		u := m.Update().SetUpdatedAt(s.stamp())
		text := orZero(m.Description)
		if strings.Contains(text, joined) {
			if taken, err := takenMarker(ctx, tx, of, d, other); err != nil || taken {
				if err != nil {
					return false, err
				}
				continue
			}
		} else {
			u.SetDescription(strings.TrimSpace(text + " " + joined))
		}
		service, environment := d.program(), d.Target
		better := toMarker(m)
		better.Title, better.ServiceName, better.DeploymentEnvironment = deployedTitle(service, environment), &service, &environment
		// The platform knows the service. Somebody may have written another title meanwhile.
		if guessed && !r.host && m.Title == deployedTitle(named, orZero(m.DeploymentEnvironment)) && better.valid() == nil {
			u.SetServiceName(service).SetDeploymentEnvironment(environment).SetTitle(better.Title)
		}
		return true, u.Exec(ctx)
	}
	return false, nil
}

// takenMarker reports whether the second report in the marker of a deployment is another one than d: one of the same project and
// environment that began nearer. Otherwise d itself may be the second report, which comes again after its account was connected again.
func takenMarker(ctx context.Context, tx *ent.Tx, of IntegrationConnection, d, first HostingDeployment) (bool, error) {
	rows, err := tx.HostingDeployment.Query().Where(append(deploymentsOf(of.Org, of.ID),
		hostingdeployment.CommitSha(d.CommitSha), hostingdeployment.ProjectExternalID(d.ProjectExternalID),
		hostingdeployment.ExternalIDNEQ(d.ExternalID),
		hostingdeployment.StartedAtGTE(utc(first.StartedAt.Add(-limits.DeploymentJoin))),
		hostingdeployment.StartedAtLTE(utc(first.StartedAt.Add(limits.DeploymentJoin))))...).All(ctx)
	return slices.ContainsFunc(rows, func(row *ent.HostingDeployment) bool {
		second := toHostingDeployment(row)
		return second.served() && second.Service == d.Service && strings.EqualFold(second.Target, d.Target) &&
			apart(second.StartedAt, first.StartedAt) <= apart(d.StartedAt, first.StartedAt)
	}), err
}

func apart(a, b time.Time) time.Duration { return a.Sub(b).Abs() }

func deployedTitle(service, environment string) string {
	return fmt.Sprintf("%s deployed to %s", service, environment)
}

// sameEnvironment compares the environment of a repository's host with that of a platform. Railway writes its project before it there.
func sameEnvironment(host, platform string) bool {
	return strings.EqualFold(host, platform) || strings.HasSuffix(strings.ToLower(host), " / "+strings.ToLower(platform))
}

// sameRepository reports whether the projects of two deployments do not have different repositories. Not every platform reports them.
func sameRepository(ctx context.Context, tx *ent.Tx, of IntegrationConnection, a, b HostingDeployment) (bool, error) {
	var known []string
	for _, p := range []HostingDeployment{a, b} {
		connection := p.ConnectionID
		if connection == uuid.Nil {
			connection = of.ID // it is not stored yet
		}
		row, err := tx.HostingProject.Query().
			Where(append(projectsOf(of.Org, connection), hostingproject.ExternalID(p.ProjectExternalID))...).Only(ctx)
		if err != nil && !ent.IsNotFound(err) {
			return false, err
		}
		if err == nil && row.Repository != nil {
			known = append(known, *row.Repository)
		}
	}
	return len(known) < 2 || strings.EqualFold(known[0], known[1]), nil
}
