package ingest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// oneKey answers every lookup with one key.
type oneKey ingest.Key

func (k oneKey) AuthenticateIngest(context.Context, string) (ingest.Key, error) {
	return ingest.Key(k), nil
}

// TestPolicies: the policies that a key carries for traces apply at once, are stored with the record, and affect no other signal.
func TestPolicies(t *testing.T) {
	named := func(m *coltrace.ExportTraceServiceRequest) *coltrace.ExportTraceServiceRequest {
		s := m.ResourceSpans[0].ScopeSpans[0].Spans[0]
		s.Attributes = append(s.Attributes, attribute("svc.product_event.name", "order"))
		return m
	}
	failed := func(m *coltrace.ExportTraceServiceRequest) *coltrace.ExportTraceServiceRequest {
		m.ResourceSpans[0].ScopeSpans[0].Spans[1].Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
		return m
	}
	mappings := []otlp.Mapping{{Source: "http.route", Target: "route", Move: true}}
	few := otlp.Sampling{Ratio: 1e-6, KeepErrors: true}
	for name, c := range map[string]struct {
		key                ingest.Key
		path               string
		body               []byte
		rows               int
		message            string
		sampled, ev, spans int
	}{
		"mapped":      {ingest.Key{Origin: otlp.Origin{Mappings: mappings}}, "/v1/traces", wire(t, spans(3)), 3, "", 0, 0, 3},
		"all dropped": {ingest.Key{Origin: otlp.Origin{Sampling: few}}, "/v1/traces", wire(t, spans(3)), 0, "", 3, 0, 0},
		"an error is kept": {
			ingest.Key{Origin: otlp.Origin{Sampling: few, Mappings: mappings}},
			"/v1/traces", wire(t, failed(spans(3))),
			1, "", 2, 0, 1,
		},
		"an event is all there is": {ingest.Key{Origin: otlp.Origin{Sampling: few}}, "/v1/traces", wire(t, named(spans(3))), 1, "", 3, 1, 0},
		"an event and its span":    {ingest.Key{}, "/v1/traces", wire(t, named(spans(1))), 2, "", 0, 1, 1},
		"no events by this key": {
			ingest.Key{Signals: []string{"traces"}}, "/v1/traces", wire(t, named(spans(1))), 1, "this ingest key may not send events", 0, 0, 1,
		},
		"events by this key": {ingest.Key{Signals: []string{"traces", "events"}}, "/v1/traces", wire(t, named(spans(1))), 2, "", 0, 1, 1},
		"logs": {
			ingest.Key{Origin: otlp.Origin{Sampling: few, Mappings: mappings}, Signals: []string{"logs"}},
			"/v1/logs",
			wire(t, logRecords()), 1, "", 0, 0, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{queue: &memoryQueue{sets: &blocks.Pool{}}, reg: prometheus.NewRegistry()}
			c.key.Org, c.key.KeyType = org, otlp.KeyCustom
			var err error
			if f.Gateway, err = ingest.New(ingest.Config{Keys: oneKey(c.key), Queue: f.queue, Sets: f.queue.sets, Metrics: f.reg}); err != nil {
				t.Fatal(err)
			}
			res := f.do(http.MethodPost, c.path, c.body, append(bearer("svc_ik_one"), "Content-Type", "application/x-protobuf")...)
			answer := text(t, res.Body)
			if res.StatusCode != http.StatusOK || (answer == "") != (c.message == "") || !strings.Contains(answer, c.message) {
				t.Errorf("%d %q, want %q", res.StatusCode, answer, c.message)
			}
			records, rows := f.queue.count()
			if rows != c.rows || (records == 1) != (rows > 0) {
				t.Errorf("%d records, %d rows, want %d", records, rows, c.rows)
			}
			if again := f.decoded(t); again != c.rows {
				t.Errorf("%d rows when read back, want %d", again, c.rows)
			}
			if records > 0 && c.path == "/v1/logs" && f.queue.records[0].Header[0] != 1 {
				t.Error("a record of logs carries policies")
			}
			for _, want := range []struct {
				signal, outcome string
				n               int
			}{{"traces", "sampled", c.sampled}, {"traces", "accepted", c.spans}, {"events", "accepted", c.ev}} {
				if got := f.metric(t, "svc_ingest_items_total", want.outcome, want.signal); got != float64(want.n) {
					t.Errorf("%s %s: %v, want %d", want.signal, want.outcome, got, want.n)
				}
			}
		})
	}
}
