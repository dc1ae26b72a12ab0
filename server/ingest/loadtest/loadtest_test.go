package loadtest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type oneKey struct{}

func (oneKey) AuthenticateIngest(context.Context, string) (ingest.Key, error) {
	return ingest.Key{Origin: otlp.Origin{Org: "org_1", KeyType: otlp.KeyPrivate}}, nil
}

// sink is a queue that keeps the records and refuses every refuse-th one.
type sink struct {
	sets   *blocks.Pool
	refuse int

	mu      sync.Mutex
	calls   int
	rows    int
	records []queue.Record
}

func (*sink) Admits(string, bool, int) error { return nil }

func (s *sink) Append(_ context.Context, rec queue.Record) (queue.Position, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.refuse > 0 && s.calls%s.refuse == 0 {
		return queue.Position{}, errors.New("disk full")
	}
	set := rec.Attachment.(*blocks.Set)
	s.rows += set.Rows()
	s.sets.Put(set)
	s.records = append(s.records, queue.Record{Header: bytes.Clone(rec.Header), Payload: bytes.Clone(rec.Payload)})
	return queue.Position{}, nil
}

// serve starts both doors on the sink and returns their addresses.
func (s *sink) serve(t testing.TB) (url, addr string) {
	t.Helper()
	s.sets = &blocks.Pool{}
	g, err := ingest.New(ingest.Config{Keys: oneKey{}, Queue: s, Sets: s.sets})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(g.HTTPHandler())
	t.Cleanup(h.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gs := g.GRPCServer()
	done := make(chan error, 1)
	go func() { done <- gs.Serve(l) }()
	t.Cleanup(func() { _ = gs.Close(); <-done })
	return h.URL, l.Addr().String()
}

// stored counts the marks in the queued payloads, as the warehouse would count them.
func (s *sink) stored(t *testing.T, signal otlp.Signal) map[string]loadtest.Stored {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	items := map[string]map[string]int{}
	for _, rec := range s.records {
		for _, attributes := range marks(t, signal, rec) {
			var request, item string
			for _, kv := range attributes {
				switch kv.Key {
				case loadtest.RequestAttribute:
					request = kv.Value.GetStringValue()
				case loadtest.ItemAttribute:
					item = kv.Value.GetStringValue()
				}
			}
			if items[request] == nil {
				items[request] = map[string]int{}
			}
			items[request][item]++
		}
	}
	stored := map[string]loadtest.Stored{}
	for request, of := range items {
		st := loadtest.Stored{Distinct: len(of)}
		for _, n := range of {
			st.Items += n
		}
		stored[request] = st
	}
	return stored
}

func marks(t *testing.T, signal otlp.Signal, rec queue.Record) (all [][]*commonpb.KeyValue) {
	t.Helper()
	h, err := ingest.ParseRecordHeader(rec.Header)
	if err != nil {
		t.Fatal(err)
	}
	raw := rec.Payload
	switch h.Encoding {
	case ingest.EncodingGzip:
		zr, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := out.ReadFrom(zr); err != nil {
			t.Fatal(err)
		}
		raw = out.Bytes()
	case ingest.EncodingZstd:
		zr, err := zstd.NewReader(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer zr.Close()
		if raw, err = zr.DecodeAll(raw, nil); err != nil {
			t.Fatal(err)
		}
	}
	unmarshal := func(m proto.Message) {
		if err := proto.Unmarshal(raw, m); err != nil {
			t.Fatal(err)
		}
	}
	switch signal {
	case otlp.Logs:
		var m collogs.ExportLogsServiceRequest
		unmarshal(&m)
		for _, r := range m.ResourceLogs[0].ScopeLogs[0].LogRecords {
			all = append(all, r.Attributes)
		}
	case otlp.Metrics:
		var m colmetrics.ExportMetricsServiceRequest
		unmarshal(&m)
		for _, p := range m.ResourceMetrics[0].ScopeMetrics[0].Metrics[0].GetGauge().DataPoints {
			all = append(all, p.Attributes)
		}
	default:
		var m coltrace.ExportTraceServiceRequest
		unmarshal(&m)
		for _, s := range m.ResourceSpans[0].ScopeSpans[0].Spans {
			all = append(all, s.Attributes)
		}
	}
	return all
}

// TestMarkedLoads: for each protocol and signal, a load sends exactly the reported requests, and every item is distinct.
func TestMarkedLoads(t *testing.T) {
	for _, protocol := range []loadtest.Protocol{loadtest.HTTPProtobuf, loadtest.HTTPJSON, loadtest.GRPC} {
		for _, signal := range []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} {
			for _, gzip := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s gzip %t", protocol, signal, gzip), func(t *testing.T) {
					s := &sink{}
					url, addr := s.serve(t)
					r, err := loadtest.Run(t.Context(), loadtest.Config{
						URL: url, Addr: addr, Key: "svc_sk_1", Protocol: protocol, Signal: signal, Gzip: gzip, Run: "run-1", Marked: true, Workers: 3,
						Requests: 7, Items: 20,
					})
					if err != nil {
						t.Fatal(err)
					}
					if r.Acknowledged != 7 || r.Refused+r.Failed != 0 || s.rows != 140 || r.AcknowledgedItems() != 140 {
						t.Fatalf("%s; %d rows; %v", r, s.rows, r.Failure)
					}
					stored := s.stored(t, signal)
					if got := stored["0000000003"]; len(stored) != 7 || got != (loadtest.Stored{Items: 20, Distinct: 20}) {
						t.Errorf("stored %v", stored)
					}
					res, err := loadtest.Verify(t.Context(), r, func(context.Context) (map[string]loadtest.Stored, error) { return stored, nil })
					if err != nil || !res.OK() || res.Unacknowledged != 0 {
						t.Errorf("%s, %v", res, err)
					}
				})
			}
		}
	}
}

func TestVerifyFindsWhatIsWrong(t *testing.T) {
	s := &sink{refuse: 4}
	url, _ := s.serve(t)
	r, err := loadtest.Run(t.Context(), loadtest.Config{
		URL: url, Key: "svc_sk_1", Protocol: loadtest.HTTPProtobuf, Run: "run-2", Marked: true,
		Workers: 1, Requests: 8, Items: 5,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Acknowledged != 6 || r.Refused != 2 || r.Answers["503 Service Unavailable"] != 2 {
		t.Fatal(r)
	}
	// With one worker the fourth and the eighth request are refused: numbers 3 and 7.
	for name, c := range map[string]struct {
		change func(map[string]loadtest.Stored)
		want   loadtest.Result
		ok     bool
	}{
		"nothing":        {func(map[string]loadtest.Stored) {}, loadtest.Result{}, true},
		"a lost request": {func(m map[string]loadtest.Stored) { delete(m, "0000000001") }, loadtest.Result{Lost: 5}, false},
		"lost items": {
			func(m map[string]loadtest.Stored) { m["0000000001"] = loadtest.Stored{Items: 3, Distinct: 3} },
			loadtest.Result{Lost: 2},
			false,
		},
		"duplicates": {
			func(m map[string]loadtest.Stored) { m["0000000001"] = loadtest.Stored{Items: 9, Distinct: 5} },
			loadtest.Result{Duplicated: 4},
			false,
		},
		"unacknowledged": {
			func(m map[string]loadtest.Stored) { m["0000000003"] = loadtest.Stored{Items: 5, Distinct: 5} },
			loadtest.Result{Unacknowledged: 5},
			true,
		},
		"unknown request": {
			func(m map[string]loadtest.Stored) { m["0000000008"] = loadtest.Stored{Items: 5, Distinct: 5} },
			loadtest.Result{Unknown: 5},
			false,
		},
		"no number": {
			func(m map[string]loadtest.Stored) { m[""] = loadtest.Stored{Items: 2, Distinct: 1} },
			loadtest.Result{Unknown: 2, Duplicated: 1},
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			stored := s.stored(t, otlp.Traces)
			c.change(stored)
			got, err := loadtest.Verify(t.Context(), r, func(context.Context) (map[string]loadtest.Stored, error) { return stored, nil })
			if err != nil || got.OK() != c.ok || !c.ok && len(got.Examples) == 0 {
				t.Errorf("%s, ok %t, %v", got, got.OK(), err)
			}
			got.Examples = nil
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	if _, err := loadtest.Verify(t.Context(), r, func(context.Context) (map[string]loadtest.Stored, error) {
		return nil,
			errors.New("down")
	}); err == nil {
		t.Error("a failed query passed")
	}
}

// TestServerAway: requests without a response count as neither acknowledged nor refused, and the load ends by itself.
func TestServerAway(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, protocol := range []loadtest.Protocol{loadtest.HTTPProtobuf, loadtest.GRPC} {
		r, err := loadtest.Run(t.Context(), loadtest.Config{
			URL: "http://" + addr, Addr: addr, Key: "svc_sk_1", Protocol: protocol, Gzip: true, Run: "away", Marked: true, Workers: 2,
			Duration: 100 * time.Millisecond, Items: 3,
		})
		if err != nil || r.Failed == 0 || r.Acknowledged+r.Refused != 0 || r.Failure == nil {
			t.Errorf("%s: %s, %v", protocol, r, err)
		}
	}
}

func TestUnmarkedLoadEndsByTime(t *testing.T) {
	s := &sink{}
	url, _ := s.serve(t)
	r, err := loadtest.Run(t.Context(), loadtest.Config{
		URL: url, Key: "svc_sk_1", Protocol: loadtest.HTTPProtobuf, Gzip: true, Run: "fast",
		Duration: 150 * time.Millisecond, Items: 50, Rate: 200,
	})
	if err != nil || r.Acknowledged < 2 || r.Acknowledged > 40 || r.Elapsed > 5*time.Second || s.rows != 50*r.Acknowledged || r.P99 == 0 {
		t.Errorf("%s, %d rows, %v", r, s.rows, err)
	}
}

func TestPartialSuccessIsNoAcknowledgement(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte{10, 2, 8, 1}) }))
	defer h.Close()
	r, err := loadtest.Run(t.Context(), loadtest.Config{
		URL: h.URL, Key: "k", Protocol: loadtest.HTTPProtobuf, Run: "part", Requests: 1,
		Items: 1,
	})
	if err != nil || r.Acknowledged != 0 || r.Refused != 1 {
		t.Errorf("%s, %v", r, err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for name, cfg := range map[string]loadtest.Config{
		"endless":     {Run: "a", Protocol: loadtest.GRPC},
		"no run":      {Requests: 1, Protocol: loadtest.GRPC},
		"quoted run":  {Requests: 1, Run: "it's", Protocol: loadtest.GRPC},
		"no protocol": {Requests: 1, Run: "a"},
	} {
		if _, err := loadtest.Run(t.Context(), cfg); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestParseTSV(t *testing.T) {
	got, err := loadtest.ParseTSV("0000000001\t20\t20\n0000000002\t5\t4\n")
	if diff := cmp.Diff(map[string]loadtest.Stored{"0000000001": {Items: 20, Distinct: 20}, "0000000002": {Items: 5, Distinct: 4}},
		got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	for _, bad := range []string{"x\t1\n", "x\t1\ty\n"} {
		if _, err := loadtest.ParseTSV(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
	if sql := loadtest.SQL(otlp.Logs, "run-1"); !strings.Contains(sql, "FROM logs WHERE ResourceAttributes['loadtest.run'] = 'run-1'") {
		t.Error(sql)
	}
}
