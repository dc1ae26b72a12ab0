package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
	"github.com/svc-observability/svc/server/testport"
)

// collectorExporter is an exporter of the Collector with a separate pipeline for each signal.
type collectorExporter struct {
	name, kind, encoding, compression string

	receiver string
	proxy    *faultProxy
}

// TestCollector runs the OpenTelemetry Collector with each of its OTLP exporters, with sending queue and retry, through a proxy
// that refuses some requests and cuts others. Everything that the Collector received must be stored, and svc_ingest_items_total
// must agree. An item may be stored twice only if the answer was cut after the server had acknowledged.
func TestCollector(t *testing.T) {
	t.Parallel()
	binary := collectorBinary(t)
	server := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	exporters := []*collectorExporter{
		{name: "grpc-gzip", kind: "otlp_grpc", compression: "gzip"},
		{name: "grpc-plain", kind: "otlp_grpc", compression: "none"},
		{name: "http-protobuf-gzip", kind: "otlp_http", encoding: "proto", compression: "gzip"},
		{name: "http-protobuf-plain", kind: "otlp_http", encoding: "proto", compression: "none"},
		{name: "http-json-gzip", kind: "otlp_http", encoding: "json", compression: "gzip"},
		{name: "http-json-plain", kind: "otlp_http", encoding: "json", compression: "none"},
	}
	for _, e := range exporters {
		e.through(t, server, throttle, pass, cutAnswer, unavailable, cutUnsent, cutHalfway)
	}
	stop := startCollector(t, binary, collectorConfig(exporters, server.PrivateKey), exporters)

	sent := feedCollector(t, exporters)
	settleCollector(t, server, exporters, sent, stop)
}

// TestCollectorWaits makes the Collector meet the server's own refusals: the warehouse is halted until the organization's share
// of the queue is full. The Collector must wait as long as each answer says, over HTTP and gRPC, and must deliver everything once
// when there is room again.
func TestCollectorWaits(t *testing.T) {
	t.Parallel()
	binary := collectorBinary(t)
	server := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"), "--queue-max-bytes", "1MiB", "--queue-segment-bytes", "64KiB")
	exporters := []*collectorExporter{
		{name: "grpc-plain", kind: "otlp_grpc", compression: "none"},
		{name: "http-protobuf-plain", kind: "otlp_http", encoding: "proto", compression: "none"},
	}
	for _, e := range exporters {
		e.through(t, server, pass)
		e.proxy.refusing = true
	}
	stop := startCollector(t, binary, collectorConfig(exporters, server.PrivateKey), exporters)
	engine := child(t, server.Pid())
	if err := syscall.Kill(engine, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	sent := feedCollector(t, exporters)
	for _, e := range exporters {
		eventually(t, "the server to refuse "+e.name, func() bool { return e.proxy.refusals() > 0 })
	}
	if err := syscall.Kill(engine, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	log := settleCollector(t, server, exporters, sent, stop)
	for _, e := range exporters {
		lines := strings.Split(log, "\n")
		i := slices.IndexFunc(lines, func(line string) bool {
			return strings.Contains(line, e.kind+"/"+e.name) && strings.Contains(line, "Throttle (")
		})
		if i < 0 {
			t.Errorf("%s did not take the server's word for how long to wait", e.name)
			continue
		}
		t.Logf("%s was refused %d times; the Collector says: %s", e.name, e.proxy.refusals(), lines[i])
	}
}

// through puts a proxy with this plan between the exporter and the server.
func (e *collectorExporter) through(t *testing.T, server *testkit.Process, plan ...fate) {
	t.Helper()
	upstream := strings.TrimPrefix(server.IngestURL, "http://")
	if e.kind == "otlp_grpc" {
		upstream = server.OTLPGRPCAddr
	}
	e.receiver = fmt.Sprint("127.0.0.1:", testport.Free(t))
	e.proxy = startFaultProxy(t, upstream, plan...)
}

// feedCollector sends to the receiver of each exporter and returns the number of items, by path.
func feedCollector(t *testing.T, exporters []*collectorExporter) map[string]int {
	t.Helper()
	const requests, items = 16, 50
	var wg sync.WaitGroup
	for _, e := range exporters {
		for i, signal := range []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} {
			wg.Go(func() {
				report, err := loadtest.Run(t.Context(), loadtest.Config{
					URL: "http://" + e.receiver, Key: "unused", Protocol: loadtest.HTTPProtobuf, Signal: signal, Run: e.name,
					Marked: true, Requests: requests, Items: items, Workers: 2, Seed: uint64(i),
				})
				if err != nil {
					t.Error(err)
				} else if report.Acknowledged != requests {
					t.Errorf("%s: the Collector took %d of %d requests: %v %v", e.name, report.Acknowledged, requests, report.Answers, report.Failure)
				}
			})
		}
	}
	wg.Wait()
	return map[string]int{"/v1/traces": requests * items, "/v1/logs": requests * items, "/v1/metrics": requests * items}
}

// settleCollector waits until the Collector has delivered everything, stops it, checks the accounts, and returns its log.
func settleCollector(
	t *testing.T, server *testkit.Process, exporters []*collectorExporter, sent map[string]int, stop func() string,
) string {
	t.Helper()
	eventually(t, "the Collector to hand over everything", func() bool {
		for _, e := range exporters {
			if unsettled, taken := e.proxy.pending(); unsettled > 0 || !cmp.Equal(taken, sent) {
				return false
			}
		}
		return true
	})
	log := stop()
	for _, bad := range []string{"Dropping data", "Partial success", "partial_success", "rejected", "panic"} {
		if strings.Contains(log, bad) {
			t.Errorf("the Collector's log says %q:\n%s", bad, log)
		}
	}
	waitFlushed(t, server)
	total := map[string]int{}
	for _, e := range exporters {
		for path, n := range e.proxy.account(t, server, e.name, sent) {
			total[path] += n
		}
	}
	if diff := cmp.Diff(total, accepted(t, server)); diff != "" {
		t.Errorf("svc_ingest_items_total differs (-acknowledged +accepted):\n%s", diff)
	}
	return log
}
