package ingest_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/corpus"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

// storedNames reads the real durable queue as the pipeline does after a restart: from header and payload, not from columns made
// earlier.
type storedNames struct {
	log     *queue.Log
	decoder *ingest.Decoder

	mu      sync.Mutex
	records []queue.Record
}

func (s *storedNames) Admits(owner string, public bool, size int) error {
	return s.log.Admits(owner, public, size)
}

func (s *storedNames) Append(ctx context.Context, rec queue.Record) (queue.Position, error) {
	at, err := s.log.Append(ctx, rec)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.records = append(s.records, queue.Record{Header: slices.Clone(rec.Header), Payload: slices.Clone(rec.Payload)})
	}
	return at, err
}

// take returns the names of the items stored since the last call.
func (s *storedNames) take(t *testing.T) []string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	var set blocks.Set
	for _, rec := range s.records {
		if err := s.decoder.DecodeRecord(rec.Header, rec.Payload, &set); err != nil {
			t.Fatal(err)
		}
	}
	s.records = nil
	if set.Rows() > 100_000 {
		return []string{fmt.Sprintf("%d rows", set.Rows())}
	}
	var names []string
	columns := map[string]string{
		"spans": "SpanName", "logs": "Body", "metrics_gauge": "MetricName", "metrics_sum": "MetricName", "metrics_histogram": "MetricName",
		"metrics_exponential_histogram": "MetricName", "metrics_summary": "MetricName",
		"product_events": "Name", "session_replays": "SessionId", "session_replay_events": "SessionId", "session_events": "SessionId",
	}
	for table := range set.Tables() {
		if column := columns[table.Name]; column != "" {
			for _, row := range nativetest.Rows(t, table) {
				names = append(names, row[column].(string))
			}
		}
	}
	slices.Sort(names)
	return names
}

// TestCorpus sends every bad request to a gateway over real connections, one after the other, and checks the answer and the
// queue.
func TestCorpus(t *testing.T) {
	log, err := queue.Open(queue.Config{Dir: t.TempDir(), MinFreeBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	sets := &blocks.Pool{}
	log.Subscribe(func(all []queue.Committed) {
		for _, rec := range all {
			rec.Attachment.Release()
		}
		if err := log.Release(all[len(all)-1].Next); err != nil {
			t.Error(err)
		}
	})
	decoder, err := ingest.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	stored := &storedNames{log: log, decoder: decoder}
	g, err := ingest.New(ingest.Config{Keys: keys{}, Connectors: &connectors{}, Queue: stored, Sets: sets, Region: "eu"})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{Gateway: g}
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	target := corpus.NewTarget(f.listen(t), f.listenGRPC(t), goodKey)
	target.Connector = goodConnector
	defer target.Close()

	cases := corpus.Cases(time.Now())
	if len(cases) < 150 {
		t.Errorf("%d cases", len(cases))
	}
	var slowest time.Duration
	var most uint64
	large := 0
	for i := range cases {
		c := &cases[i]
		if c.Make != nil && raceDetector {
			large++
			continue
		}
		c.Load()
		bomb := strings.Contains(c.Name, "bomb")
		peak := watchHeap(bomb || c.Make != nil)
		before := cpuTime(t)
		a, err := target.Send(t.Context(), c)
		spent := time.Duration(cpuTime(t) - before)
		grown := peak()
		if err == nil {
			err = c.Check(a)
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if d := cmp.Diff(slices.Sorted(slices.Values(c.Stored)), stored.take(t), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: stored (-want +got):\n%.2000s", c.Name, d)
		}
		if a.Took > time.Second || grown > 256<<20 {
			t.Logf("%s took %s, %s of the processors and %d MiB", c.Name, a.Took.Round(time.Millisecond), spent, grown>>20)
		}
		slowest, most = max(slowest, a.Took), max(most, grown)
		if grown > maxHeap || bomb && (grown > maxBombHeap || spent > maxBombTime) {
			t.Errorf("%s took %s, %s of the processors and %d MiB", c.Name, a.Took, spent, grown>>20)
		}
		c.Body = nil
	}
	if large > 0 {
		t.Logf("%d cases of many megabytes were left out: they are sent without the race detector, and by the end-to-end test", large)
	}
	t.Logf("%d cases, the slowest took %s, the heap grew by %d MiB at most", len(cases), slowest, most>>20)
}

const (
	// maxHeap is the memory that one request may cost, including garbage that is not yet collected. The end-to-end test measures
	// the memory of the whole server.
	maxHeap = 1 << 30
	// A bomb costs only its 20 MiB body and the processor time to detect it. Elapsed time would depend on other programs.
	maxBombHeap = 128 << 20
	maxBombTime = 10 * time.Second
)

// watchHeap measures the growth of the heap, including garbage, until the returned function is called.
func watchHeap(watch bool) func() uint64 {
	if !watch {
		return func() uint64 { return 0 }
	}
	percent := debug.SetGCPercent(100)
	runtime.GC()
	read := func() uint64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	before, peak := read(), uint64(0)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
				peak = max(peak, read())
			}
		}
	}()
	return func() uint64 {
		debug.SetGCPercent(percent)
		close(stop)
		<-done
		return max(peak, before) - before
	}
}
