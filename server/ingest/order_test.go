package ingest_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/corpus"
	"github.com/svc-observability/svc/server/ingest/queue"
)

// brokenCall is an export over gRPC that can have several faults at once.
type brokenCall struct {
	corpus.Case
	situation
}

// TestGRPCOrderOfChecks causes every pair of faults of different checks over gRPC. The answer must be that of the first check, in
// the order of the HTTP door. A message above the limit of gRPC itself is cut while it is read, which comes after the checks that
// need no message.
func TestGRPCOrderOfChecks(t *testing.T) {
	unavailable := func(tag string) corpus.Outcome {
		return corpus.Outcome{GRPC: codes.Unavailable, Tag: "@svc/ingest/" + tag}
	}
	body := wire(t, spans(1))
	damaged := gzipped(t, body)
	damaged = damaged[:len(damaged)-6]
	all := []struct {
		name, group string
		want        corpus.Outcome
		apply       func(*brokenCall)
	}{
		{"no key", "key", corpus.Unauthorized, func(b *brokenCall) { b.key = "" }},
		{"unknown key", "key", corpus.Unauthorized, func(b *brokenCall) { b.key = "svc_pk_unknown" }},
		{"lookup outage", "key", unavailable("ServiceUnavailable"), func(b *brokenCall) { b.key = outageKey }},
		{
			"signal", "key",
			corpus.Outcome{GRPC: codes.PermissionDenied, Tag: "@svc/ingest/SignalNotAllowed"},
			func(b *brokenCall) { b.key = logsKey },
		},
		{"key's rate", "rate", unavailable("RateLimited"), func(b *brokenCall) { b.plan.paced = true }},
		{"in flight", "in flight", unavailable("RateLimited"), func(b *brokenCall) { b.busy = true }},
		{"size", "size", corpus.TooLarge, func(b *brokenCall) { b.Body = make([]byte, 9<<10) }},
		{"gzip", "body", corpus.BadRequest, func(b *brokenCall) { b.Body, b.Encoding, b.Compressed = damaged, "gzip", true }},
		{"expands too far", "body", corpus.TooLarge, func(b *brokenCall) {
			b.Body, b.Encoding, b.Compressed = gzipped(t, make([]byte, 200<<10)), "gzip", true
		}},
		{"OTLP", "body", corpus.BadRequest, func(b *brokenCall) { b.Body = []byte("this is no protobuf") }},
		{
			"plan", "plan",
			corpus.Outcome{GRPC: codes.FailedPrecondition, Tag: "@svc/ingest/PlanLimitReached"},
			func(b *brokenCall) { b.plan.spent = true },
		},
		{"organization's share", "queue", unavailable("OrgQueueThrottled"), func(b *brokenCall) { b.queue = queue.ErrOwnerFull }},
		{"backed up", "queue", unavailable("ExportLaneBackpressure"), func(b *brokenCall) { b.queue = queue.ErrBackedUp }},
		{"queue", "queue", unavailable("QueueUnavailable"), func(b *brokenCall) { b.queueFails = true }},
	}
	for i, first := range all {
		for j := i; j < len(all); j++ {
			second := all[j]
			if i != j && first.group == second.group {
				continue
			}
			t.Run(first.name+" before "+second.name, func(t *testing.T) {
				b := brokenCall{Case: corpus.Case{Door: corpus.GRPC, Body: body}, situation: situation{key: goodKey}}
				second.apply(&b)
				first.apply(&b)
				b.Want = first.want
				b.run(t)
			})
		}
	}
}

func (b *brokenCall) run(t *testing.T) {
	t.Helper()
	f := b.server(t, ingest.Limits{InFlight: 1, GRPCMessage: 8 << 10, Decompressed: 100 << 10})
	target := corpus.NewTarget("", f.listenGRPC(t), b.key)
	defer target.Close()
	b.NoKey = b.key == ""
	a, err := target.Send(t.Context(), &b.Case)
	if err == nil {
		err = b.Check(a)
	}
	if err != nil || strings.Contains(a.Message, "/secret") || strings.Contains(a.Message, "hunter2") {
		t.Errorf("%v (message %q)", err, a.Message)
	}
	if n, _ := f.queue.count(); n != 0 {
		t.Errorf("%d records were written", n)
	}
}
