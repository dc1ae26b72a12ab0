package agents

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// TestUnknownToolIsNamed: a misspelled tool is refused with near names. One that was called earlier is known.
func TestUnknownToolIsNamed(t *testing.T) {
	t.Parallel()
	of := func(name string, current, previous float64) error {
		a, err := tool.Read[getAgentToolsOverviewArgs](fmt.Sprintf(`{"tool":%q}`, name), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return knownTool(a, &svcv2.AgentToolsOverview{
			Current: &svcv2.AgentTool{Calls: current}, Previous: &svcv2.AgentTool{Calls: previous},
			Tools: []*svcv2.AgentTool{{Name: "search"}, {Name: "read_file"}},
		})
	}
	bad := (*tool.InputError)(nil)
	if err := of("serch", 0, 0); !errors.As(err, &bad) || !strings.Contains(bad.Message, `"serch"`) || bad.Example != "search" {
		t.Errorf("a near name: %v", err)
	}
	if err := of("zzzzzzzzzz", 0, 0); !errors.As(err, &bad) || !strings.Contains(bad.Message, "search, read_file") {
		t.Errorf("no near name: %v", err)
	}
	for _, err := range []error{of("search", 3, 0), of("gone", 0, 2)} {
		if err != nil {
			t.Error(err)
		}
	}
}
