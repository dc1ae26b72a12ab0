package planetscale

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// group is an entry of Prometheus' HTTP service discovery.
type group struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// ManagedBy names the owner of the scrape target of an account.
func ManagedBy(c store.IntegrationConnection) string {
	return ID + ":" + publicid.Encode(publicid.Integration, c.ID)
}

// NewTarget is the scrape target of an account whose organization is selected.
func NewTarget(c store.IntegrationConnection, a Account) store.ScrapeTarget {
	return store.ScrapeTarget{
		Org: c.Org, Name: Name + " " + a.Organization, URL: c.BaseURL + "/v1/organizations/" + url.PathEscape(a.Organization) + "/metrics",
		TargetType: store.ScrapePlanetscale, AuthType: store.ScrapeAuthNone,
		OrganizationName: &a.Organization, ScrapeIntervalSeconds: int(limits.DefaultScrapeInterval / time.Second), ManagedBy: ManagedBy(c),
		Enabled: a.Metrics != MetricsMissing, CreatedBy: c.ConnectedBy, UpdatedBy: c.ConnectedBy,
	}
}

// Endpoint is an endpoint with the metrics of a branch. Its address may hold a signature, so only the key is kept and shown.
type Endpoint struct {
	Key, URL string
	Labels   map[string]string
}

func (a *App) discover(ctx context.Context, t Tokens, organization string) ([]group, error) {
	var groups []group
	err := a.get(ctx, t.metrics(), nil, &groups, "organizations", organization, "metrics")
	return groups, err
}

// Reaches proves that an access reads the list of metrics endpoints.
func (a *App) Reaches(ctx context.Context, t Tokens, organization string) error {
	_, err := a.discover(ctx, t, organization)
	return err
}

// Endpoints lists the endpoints with metrics of an account. branches are the names of branches by their ids. Labels that begin with two
// underscores say how an endpoint is called, as Prometheus has it; the others become attributes of its points.
func (a *App) Endpoints(ctx context.Context, c integrations.Connection, organization string, branches map[string]string,
	include, exclude []string) (
	[]Endpoint, error,
) {
	t, err := ReadTokens(c.Credentials)
	if err != nil {
		return nil, err
	}
	groups, err := a.discover(ctx, t, organization)
	if err != nil {
		return nil, err
	}
	var out []Endpoint
	for _, g := range groups {
		id := g.Labels["planetscale_database_branch_id"]
		name := branches[id]
		if name == "" {
			name = id // the branch is newer than the inventory
		}
		if !Admits(name, include, exclude) {
			continue
		}
		labels, query := map[string]string{"planetscale_branch": name}, url.Values{}
		at := url.URL{Scheme: "https", Path: "/metrics"}
		for key, value := range g.Labels {
			switch parameter, is := strings.CutPrefix(key, "__param_"); {
			case is:
				query.Set(parameter, value)
			case key == "__metrics_path__":
				at.Path = value
			case key == "__scheme__":
				at.Scheme = value
			case !strings.HasPrefix(key, "__"):
				labels[key] = value
			}
		}
		at.RawQuery = query.Encode()
		for _, target := range g.Targets {
			at.Host = target
			out = append(out, Endpoint{Key: target + at.Path, URL: at.String(), Labels: labels})
		}
	}
	slices.SortFunc(out, func(x, y Endpoint) int { return strings.Compare(x.Key, y.Key) })
	return slices.CompactFunc(out, func(x, y Endpoint) bool { return x.Key == y.Key }), nil
}

// Insight is the figures of a query.
type Insight struct {
	Fingerprint          string     `json:"fingerprint"`
	SQL                  string     `json:"normalized_sql"`
	StatementType        string     `json:"statement_type"`
	Count                int64      `json:"query_count"`
	Errors               int64      `json:"error_count"`
	TotalMillis          float64    `json:"sum_total_duration_millis"`
	TimePerQuery         float64    `json:"time_per_query"`
	P50                  float64    `json:"p50_latency"`
	P99                  float64    `json:"p99_latency"`
	RowsReadPerQuery     float64    `json:"rows_read_per_query"`
	RowsReturnedPerQuery float64    `json:"rows_returned_per_query"`
	LastRunAt            *time.Time `json:"last_run_at"`
}

// Insights asks for the queries of a branch that took the most time. A problem Forbidden, NotFound or Invalid says that PlanetScale has no
// figures for it.
func (a *App) Insights(ctx context.Context, c integrations.Connection, organization, database, branch string, from, to time.Time,
	limit int) (
	[]Insight, error,
) {
	t, err := ReadTokens(c.Credentials)
	if err != nil {
		return nil, err
	}
	var got struct {
		Data []Insight `json:"data"`
	}
	query := url.Values{
		"from": {from.UTC().Format(time.RFC3339)}, "to": {to.UTC().Format(time.RFC3339)}, "sort": {"totalTime"}, "dir": {"desc"},
		"per_page": {strconv.Itoa(limit)}, "limit": {strconv.Itoa(limit)},
	}
	if err := a.get(ctx, t.bearer(), query, &got, "organizations", organization, "databases", database, "branches", branch,
		"insights"); err != nil {
		return nil, err
	}
	slices.SortStableFunc(got.Data, func(x, y Insight) int {
		switch {
		case x.TotalMillis > y.TotalMillis:
			return -1
		case x.TotalMillis < y.TotalMillis:
			return 1
		}
		return 0
	})
	return got.Data[:min(limit, len(got.Data))], nil
}
