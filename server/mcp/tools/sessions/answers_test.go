package sessions

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

func TestEcho(t *testing.T) {
	a, err := tool.Read[searchSessionsArgs](`{"start_time":"now-1h","user_id":"u","has_errors":"true","http_status_min":500,"limit":3}`,
		tooltest.Now())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"userId": "u", "hasErrors": true, "httpStatusMin": 500}, a.Echo(a.filters()...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFailureOfEvents: of the events of a session, the request that failed leads to the trace to read.
func TestFailureOfEvents(t *testing.T) {
	status := func(n uint32) *uint32 { return &n }
	for name, tc := range map[string]struct {
		event transcriptEvent
		want  int
	}{
		"a click":           {transcriptEvent{Type: "click"}, 0},
		"a request":         {transcriptEvent{Type: "network", NetStatus: status(200)}, 0},
		"a refused request": {transcriptEvent{Type: "network", NetStatus: status(404)}, 1},
		"an error":          {transcriptEvent{Type: "error"}, 2},
		"a failed request":  {transcriptEvent{Type: "network", NetStatus: status(500)}, 3},
	} {
		if got := tc.event.failure(); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}
