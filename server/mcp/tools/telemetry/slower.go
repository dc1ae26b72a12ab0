package telemetry

import (
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// slowerOp is an operation that takes longer than before.
type slowerOp struct {
	ServiceName   string  `json:"serviceName"`
	SpanName      string  `json:"spanName"`
	P95Ms         float64 `json:"p95Ms"`
	PreviousP95Ms float64 `json:"previousP95Ms"`
	Count         float64 `json:"count"`
}

func toSlower(list *svcv2.SlowerOperationList) []slowerOp {
	out := []slowerOp{}
	for _, o := range list.GetData() {
		out = append(out, slowerOp{o.GetServiceName(), o.GetSpanName(), o.GetP95LatencyMs(), o.GetPreviousP95LatencyMs(), o.GetCount()})
	}
	return out
}

func slowerBlock(list []slowerOp, thin bool) tool.Block {
	empty := "No operation takes much longer than in the equally long time before. Operations that are slow now were slow then, too."
	if thin {
		empty = "The equally long time before has too few spans to tell which operations got slower."
	}
	var cells [][]string
	for _, o := range list {
		cells = append(
			cells,
			[]string{
				o.ServiceName,
				wording.Clip(o.SpanName, 120),
				wording.Number(o.P95Ms),
				wording.Number(o.PreviousP95Ms),
				wording.Number(o.Count),
			},
		)
	}
	return tool.Table(
		"Slower than in the time before",
		empty,
		[]string{"Service", "Operation", "p95 ms", "before", "Spans"},
		cells,
	)
}
