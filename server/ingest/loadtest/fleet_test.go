package loadtest

import (
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// TestFleet: a request is that of one instance, its spans are in the order of time and cover some seconds, requests that follow each other
// overlap, and traces have 5 to 30 spans.
func TestFleet(t *testing.T) {
	cfg, err := Config{
		Signal: otlp.Traces, Protocol: HTTPProtobuf, Run: "fleet", Varied: true, Fleet: true, Requests: 8, Items: 2000,
		Seed: 3,
	}.validated()
	if err != nil {
		t.Fatal(err)
	}
	var before uint64 // the end of the request before
	instances, stacks, events, links := map[string]bool{}, 0, 0, 0
	for n := range 8 {
		req, ok := cfg.fleetRequest(cfg.Seed + uint64(n)).(*coltrace.ExportTraceServiceRequest)
		if !ok || len(req.GetResourceSpans()) != 1 {
			t.Fatalf("request %d is not of one instance", n)
		}
		for _, a := range req.GetResourceSpans()[0].GetResource().GetAttributes() {
			if a.GetKey() == "service.instance.id" {
				instances[a.GetValue().GetStringValue()] = true
			}
		}
		spans := req.GetResourceSpans()[0].GetScopeSpans()[0].GetSpans()
		first, last := spans[0].GetStartTimeUnixNano(), spans[len(spans)-1].GetStartTimeUnixNano()
		if width := time.Duration(last - first); width < fleetWidth*9/10 || width > fleetWidth {
			t.Errorf("request %d covers %s", n, width)
		}
		if n > 0 && first > before {
			t.Errorf("request %d does not overlap with the one before", n)
		}
		before = last
		sizes := map[string]int{}
		for i, s := range spans {
			if i > 0 && s.GetStartTimeUnixNano() < spans[i-1].GetStartTimeUnixNano() {
				t.Errorf("request %d: span %d is earlier than the one before", n, i)
			}
			sizes[string(s.GetTraceId())]++
			links += len(s.GetLinks())
			for _, e := range s.GetEvents() {
				if events++; e.GetName() == "exception" {
					stacks++
				}
			}
		}
		for id, size := range sizes {
			if last := string(spans[len(spans)-1].GetTraceId()); size > 30 || size < 5 && id != last {
				t.Errorf("request %d: a trace of %d spans", n, size)
			}
		}
	}
	if len(instances) != 8 || stacks < 40 || stacks > 200 || events < 500 || events > 1100 || links < 80 || links > 300 {
		t.Errorf("%d instances; of 16,000 spans %d stacks, %d events, %d links", len(instances), stacks, events, links)
	}
	for _, bad := range []Config{
		{Signal: otlp.Traces, Run: "fleet", Fleet: true, Requests: 1},
		{Signal: otlp.Metrics, Run: "fleet", Fleet: true, Varied: true, Requests: 1},
	} {
		if _, err := bad.validated(); err == nil {
			t.Errorf("%+v is valid", bad)
		}
	}
}
