package services

import (
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// cause is a change that explains other changes, with its figures.
type cause struct {
	Kind      string  `json:"kind"`
	Service   string  `json:"service"`
	Statement string  `json:"statement"`
	Weight    float64 `json:"weight"`

	target string // the called end of a dependency
}

func toCauses(list []*svcv2.Cause) []cause {
	out := []cause{}
	for _, c := range list {
		out = append(out, cause{c.GetKind(), c.GetServiceName(), c.GetStatement(), c.GetWeight(), c.GetTarget()})
	}
	return out
}

// causeBlock lists causes. Without any, it says so, or why nothing was compared.
func causeBlock(list []cause, uncompared string) tool.Block {
	b := tool.Block{
		Heading: "Likely causes, the likeliest first",
		Empty:   "No cause was found: no release, dependency, error or log pattern changed much since the time before.",
	}
	if uncompared != "" {
		b.Empty = uncompared
	}
	for i, c := range list {
		b.Rows = append(b.Rows, fmt.Sprintf("%d. (%s) %s", i+1, c.Kind, c.Statement))
	}
	return b
}
