// Package servicemap answers the methods of svc.v2.ServiceMapService.
package servicemap

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/callhours"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// maxEdges is the highest number of edges of one kind in an answer.
	maxEdges = limits.MapEdges
	// maxServices is the highest number of services in an answer besides those at its edges.
	maxServices = limits.MapServices
	// peerRows is the number of peers to read in order to find maxEdges peers that are not services.
	peerRows = 10 * maxEdges
)

// Service implements svcv2connect.ServiceMapServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
	blocks    blocks
	rollups   query.Rollups
}

// New returns the service. Without the rollups, long windows are read by minute.
func New(w read.Warehouse, r query.Rollups, now func() time.Time) *Service {
	return &Service{warehouse: w, blocks: newBlocks(now), rollups: r}
}

// GetServiceMap reads the services of a window and their calls.
func (s *Service) GetServiceMap(ctx context.Context, req *svcv2.GetServiceMapRequest) (*svcv2.ServiceMap, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ServiceWindow)
	if err != nil {
		return nil, err
	}
	environment, service := given(req.DeploymentEnvironment), given(req.ServiceName)
	services, err := read.All[reads.ServiceRow](ctx, s.warehouse, org,
		reads.ListServices(reads.ServiceList{Window: window, Limit: maxServices, Rollups: s.rollups}).Until(window.End))
	if err != nil {
		return nil, err
	}
	m := newMap(services)
	if environment != nil {
		rows, err := read.All[reads.ServiceRow](ctx, s.warehouse, org, reads.ListServices(reads.ServiceList{
			Window: window, DeploymentEnvironment: environment, Limit: maxServices, Rollups: s.rollups,
		}).Until(window.End))
		if err != nil {
			return nil, err
		}
		m.figures = byName(rows)
	}
	calls, err := s.calls(ctx, org, window, environment)
	if err != nil {
		return nil, err
	}
	for _, c := range calls {
		if service == nil || c.Source == *service || c.Target == *service {
			m.edges = append(m.edges, c)
		}
	}
	peers, err := read.All[reads.PeerRow](ctx, s.warehouse, org, reads.PeerCalls(window, service, environment, peerRows).Until(window.End))
	if err != nil {
		return nil, err
	}
	for _, p := range peers {
		if p.Kind != "external" || !m.internal(p.Name) {
			m.peers = append(m.peers, p)
		}
	}
	res := m.toProto(service)
	res.StartTime, res.EndTime = timestamppb.New(window.Start), timestamppb.New(window.End)
	return res, nil
}

// given is nil for an absent or empty parameter.
func given(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	return s
}

// calls adds up the calls of a window: those of the hours that were counted, and in parts those of all other time.
func (s *Service) calls(ctx context.Context, org principal.OrgID, w query.Window, environment *string) ([]reads.CallRow, error) {
	counted, rest, err := callhours.Read(ctx, s.warehouse, org, w, environment, s.blocks.now())
	if err != nil {
		return nil, err
	}
	sum := callhours.Sum{}
	sum.Add("", counted...)
	for _, p := range callhours.Parts(w, rest) {
		key, keep := s.blocks.key(org, p, environment)
		rows, kept := []reads.CallRow(nil), false
		if keep {
			rows, kept = s.blocks.get(key)
		}
		if !kept {
			if rows, err = read.All[reads.CallRow](ctx, s.warehouse, org, reads.ServiceCalls(p.Window, environment)); err != nil {
				return nil, err
			}
			if keep {
				s.blocks.put(key, rows)
			}
		}
		sum.Add("", rows...)
	}
	var out []reads.CallRow
	for of, stats := range sum {
		out = append(out, reads.CallRow{Source: of.Source, Target: of.Target, CallStats: *stats})
	}
	slices.SortFunc(out, func(a, b reads.CallRow) int {
		return cmp.Or(cmp.Compare(b.EstimatedCalls, a.EstimatedCalls), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Target, b.Target))
	})
	return out, nil
}

// serviceMap collects the contents of the map.
type serviceMap struct {
	// names are all services of the window. figures are their figures, or those in the requested environment.
	names   map[string]bool
	figures map[string]reads.ServiceRow
	edges   []reads.CallRow
	peers   []reads.PeerRow
}

func newMap(services []reads.ServiceRow) *serviceMap {
	m := &serviceMap{names: map[string]bool{}, figures: byName(services)}
	for name := range m.figures {
		m.names[name] = true
	}
	return m
}

func byName(rows []reads.ServiceRow) map[string]reads.ServiceRow {
	out := map[string]reads.ServiceRow{}
	for _, row := range rows {
		out[row.ServiceName] = row
	}
	return out
}

// internal reports whether a host or RPC service is a service of the organization. It compares the name, and the first part of a
// cluster's host name (`cart.shop.svc.cluster.local`).
func (m *serviceMap) internal(name string) bool {
	if m.names[name] {
		return true
	}
	host, _, _ := strings.Cut(name, ":")
	first, _, _ := strings.Cut(host, ".")
	for _, n := range []string{host, first} {
		if m.names[n] {
			return true
		}
	}
	return false
}
