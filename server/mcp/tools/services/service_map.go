package services

import (
	"context"
	"fmt"
	"sort"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type mapResult struct {
	TimeRange    tool.TimeRange `json:"timeRange"`
	Edges        []edgeRow      `json:"edges"`
	PeerEdges    []edgeRow      `json:"peerEdges"`
	ServiceCount int            `json:"serviceCount"`
	Service      *string        `json:"service,omitempty"`
	Environment  *string        `json:"environment,omitempty"`
}

type edgeRow struct {
	SourceService string  `json:"sourceService"`
	TargetService string  `json:"targetService"`
	CallCount     float64 `json:"callCount"`
	ErrorCount    float64 `json:"errorCount"`
	AvgDurationMs float64 `json:"avgDurationMs"`
	MaxDurationMs float64 `json:"maxDurationMs"`
}

type serviceMapArgs struct {
	tool.Window
	Service     *string `doc:"Only edges that touch this service."`
	Environment *string
}

func newServiceMap(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[mapResult](&tool.Tool{
		Name: "service_map", View: "/map?service={service}",
		Title: "Service map",
		Description: "List the calls between services, and to databases, queues and external hosts, in at most " +
			limits.Lasts(limits.SearchWindow) + ", with errors and durations. The counts are corrected for sampling.",
		Run: tool.With(func(ctx context.Context, a *serviceMapArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			var m *svcv2.ServiceMap
			var notes []string
			err = atonce.Run(
				func() (err error) { m, err = readMap(ctx, s, w, a.Service, a.Environment); return err },
				func() (err error) { notes, err = tool.ReadMixed(ctx, s, w, a.Service, a.Environment); return err },
			)
			if err != nil {
				return nil, err
			}
			res := mapResult{TimeRange: w, Edges: []edgeRow{}, PeerEdges: []edgeRow{}, Service: a.Service, Environment: a.Environment}
			services := map[string]bool{}
			for _, e := range serviceEdges(m) {
				services[e.SourceService], services[e.TargetService] = true, true
				res.Edges = append(res.Edges, e)
			}
			res.PeerEdges = append(res.PeerEdges, peerEdges(m)...)
			for _, n := range m.GetNodes() {
				if n.GetKind() == "service" {
					services[n.GetName()] = true
				}
			}
			res.ServiceCount = len(services)
			text := tool.Page{Scope: append(a.Labels(w, &a.Service, &a.Environment), tool.Weighted("calls"))}
			text.Notes = notes
			text.Blocks = []tool.Block{
				edgeTable("Services, as the called service measured its spans", "No service called another in this time range.", res.Edges),
			}
			if len(res.PeerEdges) > 0 {
				text.Blocks = append(text.Blocks, edgeTable("Databases, queues, external hosts, as the caller measured its spans", "", res.PeerEdges))
			}
			if m.GetTruncated() {
				text.Notes = append(text.Notes, "The map has more edges. Name a service to see all edges of that service.")
			}
			text.Shown = fmt.Sprintf("Shown: %d edges between services, %d to others.", len(res.Edges), len(res.PeerEdges))
			if worst := worstEdge(append(append([]edgeRow{}, res.Edges...), res.PeerEdges...)); worst != nil {
				text.Next = append(text.Next, tool.Next(
					"diagnose_service",
					a.Again(w, map[string]any{"service": worst.SourceService}, &a.Environment),
					"the edge with the most errors begins there: "+wording.Percent(
						worst.ErrorCount/worst.CallCount,
					)+" of its calls to "+worst.TargetService+" fail",
				))
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

func readMap(ctx context.Context, s *tool.Clients, w tool.TimeRange, service, environment *string) (*svcv2.ServiceMap, error) {
	return s.ServiceMap.GetServiceMap(ctx, &svcv2.GetServiceMapRequest{
		StartTime: w.StartProto(), EndTime: w.EndProto(), ServiceName: service, DeploymentEnvironment: environment,
	})
}

func serviceEdges(m *svcv2.ServiceMap) []edgeRow {
	var edges []edgeRow
	for _, e := range m.GetEdges() {
		edges = append(
			edges,
			edgeRow{
				e.GetSourceService(),
				e.GetTargetService(),
				e.GetEstimatedCallCount(),
				e.GetErrorRate() * e.GetEstimatedCallCount(),
				e.GetAvgDurationMs(),
				e.GetMaxDurationMs(),
			},
		)
	}
	sort.SliceStable(edges, func(i, j int) bool { return edges[i].CallCount > edges[j].CallCount })
	return edges
}

// peerEdges returns the edges to databases, queues and external hosts. Their names begin with their kind:
// "database:postgresql:orders".
func peerEdges(m *svcv2.ServiceMap) []edgeRow {
	var edges []edgeRow
	for _, e := range m.GetPeerEdges() {
		edges = append(edges, edgeRow{
			strings.TrimPrefix(e.GetSource(), "service:"), strings.TrimPrefix(e.GetTarget(), "service:"), e.GetEstimatedCallCount(),
			e.GetErrorRate() * e.GetEstimatedCallCount(), e.GetAvgDurationMs(), e.GetMaxDurationMs(),
		})
	}
	sort.SliceStable(edges, func(i, j int) bool { return edges[i].CallCount > edges[j].CallCount })
	return edges
}

func edgeTable(heading, empty string, edges []edgeRow) tool.Block {
	var cells [][]string
	for _, e := range edges {
		cells = append(
			cells,
			[]string{
				e.SourceService,
				e.TargetService,
				wording.Number(e.CallCount),
				wording.Percent(e.ErrorCount / max(e.CallCount, 1)),
				wording.Number(e.AvgDurationMs),
				wording.Number(e.MaxDurationMs),
			},
		)
	}
	return tool.Table(heading, empty, []string{"From", "To", "Calls", "Errors", "avg ms", "max ms"}, cells)
}

// worstEdge is the edge with the most failed calls, or nil if no call failed.
func worstEdge(edges []edgeRow) *edgeRow {
	var worst *edgeRow
	for i, e := range edges {
		// An edge can begin at a queue or an external host.
		if e.ErrorCount > 0 && !strings.Contains(e.SourceService, ":") && (worst == nil || e.ErrorCount > worst.ErrorCount) {
			worst = &edges[i]
		}
	}
	return worst
}
