package servicemap

import (
	"cmp"
	"math"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/reads"
)

// sampled is the difference between a weight and 1 above which it means sampling. A smaller difference is rounding.
const sampled = 1e-9

// toProto makes the map. It has the services with figures, or only the requested one, and both ends of every edge.
func (m *serviceMap) toProto(service *string) *svcv2.ServiceMap {
	res := &svcv2.ServiceMap{Object: "service_map", Truncated: len(m.edges) > maxEdges || len(m.peers) > maxEdges}
	nodes := map[string]*svcv2.ServiceMapNode{}
	for name := range m.figures {
		if service == nil || name == *service {
			m.serviceNode(nodes, name)
		}
	}
	for _, e := range m.edges[:min(len(m.edges), maxEdges)] {
		m.serviceNode(nodes, e.Source)
		m.serviceNode(nodes, e.Target)
		s := e.CallStats
		res.Edges = append(res.Edges, &svcv2.ServiceMapEdge{
			Object: "service_map.edge", SourceService: e.Source, TargetService: e.Target,
			CallCount: float64(s.Calls), EstimatedCallCount: s.EstimatedCalls, ErrorCount: float64(s.Errors), ErrorRate: errorRate(s),
			AvgDurationMs: average(s), MaxDurationMs: float64(s.MaxNano) / 1e6, HasSampling: hasSampling(s), SamplingWeight: weight(s),
		})
	}
	failed := map[string]float64{}
	for _, p := range m.peers[:min(len(m.peers), maxEdges)] {
		service, peer := m.serviceNode(nodes, p.Service), peerID(p)
		node := nodes[peer]
		if node == nil {
			system, name := p.System, p.Name
			if name == "" {
				name = system
			}
			node = &svcv2.ServiceMapNode{Object: "service_map.node", Id: peer, Kind: p.Kind, Name: name, System: &system}
			nodes[peer] = node
		}
		s := p.CallStats
		node.EstimatedSpanCount += s.EstimatedCalls
		failed[peer] += s.EstimatedErrors
		e := &svcv2.ServiceMapPeerEdge{
			Object: "service_map.peer_edge", Source: service, Target: peer, PeerKind: p.Kind, Direction: p.Direction,
			CallCount: float64(s.Calls), EstimatedCallCount: s.EstimatedCalls, ErrorCount: float64(s.Errors), ErrorRate: errorRate(s),
			AvgDurationMs: average(s), MaxDurationMs: float64(s.MaxNano) / 1e6, HasSampling: hasSampling(s), SamplingWeight: weight(s),
		}
		if p.Direction == "inbound" {
			e.Source, e.Target = e.Target, e.Source
		}
		res.PeerEdges = append(res.PeerEdges, e)
	}
	for id, n := range nodes {
		if n.Kind != "service" && n.EstimatedSpanCount > 0 {
			n.ErrorRate = min(failed[id]/n.EstimatedSpanCount, 1)
		}
		res.Nodes = append(res.Nodes, n)
	}
	slices.SortFunc(res.Nodes, func(a, b *svcv2.ServiceMapNode) int {
		return cmp.Or(cmp.Compare(order(a.GetKind()), order(b.GetKind())), cmp.Compare(a.GetId(), b.GetId()))
	})
	return res
}

func order(kind string) int {
	return slices.Index([]string{"service", "database", "queue", "external"}, kind)
}

func peerID(p reads.PeerRow) string { return p.Kind + ":" + p.System + ":" + p.Name }

// serviceNode puts a service on the map and returns the name by which edges refer to it.
func (m *serviceMap) serviceNode(nodes map[string]*svcv2.ServiceMapNode, name string) string {
	id := "service:" + name
	if nodes[id] != nil {
		return id
	}
	n := &svcv2.ServiceMapNode{Object: "service_map.node", Id: id, Kind: "service", Name: name}
	if row, known := m.figures[name]; known {
		n.EstimatedSpanCount = row.EstimatedSpanCount
		if row.EstimatedSpanCount > 0 {
			n.ErrorRate = min(row.EstimatedErrors/row.EstimatedSpanCount, 1)
		}
		if len(row.Latencies) > 1 && !math.IsNaN(float64(row.Latencies[1])) {
			p95 := float64(row.Latencies[1]) / 1e6
			n.P95LatencyMs = &p95
		}
	}
	nodes[id] = n
	return id
}

func errorRate(s reads.CallStats) float64 { return min(s.EstimatedErrors/s.EstimatedCalls, 1) }

func average(s reads.CallStats) float64 { return s.EstimatedNano / s.EstimatedCalls / 1e6 }

func weight(s reads.CallStats) float64 { return s.EstimatedCalls / float64(s.Calls) }

func hasSampling(s reads.CallStats) bool { return math.Abs(weight(s)-1) > sampled }
