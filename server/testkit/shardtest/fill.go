package shardtest

import (
	"context"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/demo"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// demoTime is the length of the demo telemetry in a Bed.
const demoTime = 20 * time.Minute

// fill stores telemetry of the demo by way of the ingest gateway, the queue and the pipeline. It returns the times of the telemetry: the
// last minutes before one of the planted faults ends.
func (b *Bed) fill(t testing.TB) (from, to time.Time) {
	t.Helper()
	log, err := queue.Open(queue.Config{Dir: filepath.Join(t.TempDir(), "queue"), MinFreeBytes: -1, Owner: ingest.RecordOwner})
	if err != nil {
		t.Fatal(err)
	}
	decoder, err := ingest.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := pipeline.Start(pipeline.Config{
		Log: log, NewBatch: func() pipeline.Batch { return ingest.NewBatch(decoder) }, Inserter: pipeline.Posting{To: b.Warehouse},
	})
	if err != nil {
		t.Fatal(err)
	}
	gateway, err := ingest.New(ingest.Config{Keys: oneKey{}, Queue: log, Sets: &blocks.Pool{}})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gateway.HTTPHandler())
	yesterday := time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour)
	for _, f := range (demo.Config{}).Faults(yesterday, yesterday.Add(24*time.Hour)) {
		if f.Name == demo.FaultErrors {
			to = f.Start.Add(demoTime / 2)
		}
	}
	from = to.Add(-demoTime)
	result, err := demo.Run(t.Context(), demo.Options{
		Config: demo.Config{Seed: 11, Rate: demo.DefaultRate}, Target: demo.Target{URL: server.URL, Key: "svc_sk_" + Org}, From: from, To: to,
	})
	if err != nil || len(result.Reasons) > 0 {
		t.Fatalf("the demo ended with %v, refused: %v", err, result.Reasons)
	}
	server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := stored.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(ctx); err != nil {
		t.Fatal(err)
	}
	return from, to
}

type oneKey struct{}

// AuthenticateIngest accepts every key.
func (oneKey) AuthenticateIngest(context.Context, string) (ingest.Key, error) {
	return ingest.Key{Origin: otlp.Origin{Org: Org, KeyType: otlp.KeyPrivate}}, nil
}
