package sessions

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/mcp/tool"
)

func TestEcho(t *testing.T) {
	a, err := tool.Read[searchSessionsArgs](`{"start_time":"now-1h","user_id":"u","has_errors":"true","http_status_min":500,"limit":3}`, now())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"userId": "u", "hasErrors": true, "httpStatusMin": 500}, a.Echo(a.filters()...)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
