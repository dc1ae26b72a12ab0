package services

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
)

func TestServicesBeyondThoseListed(t *testing.T) {
	var rows []*svcv2.Service
	for i := range 150 {
		rows = append(rows, &svcv2.Service{Name: fmt.Sprint("s", i)})
	}
	for more, total := range map[bool]*int{false: new(150), true: nil} {
		got := servicesAnswer(&listServicesArgs{}, tool.TimeRange{}, rows, more).Data.(servicesResult)
		if diff := cmp.Diff(total, got.Total); diff != "" || len(got.Services) != limits.ToolServices {
			t.Errorf("%d listed, total (-want +got):\n%s", len(got.Services), diff)
		}
	}
}
