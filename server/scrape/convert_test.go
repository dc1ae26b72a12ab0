package scrape

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

var begun = time.Date(2026, 11, 23, 12, 0, 0, 123_456_789, time.UTC)

func aTarget() *Target {
	return &Target{
		ID: uuid.MustParse("01890000-0000-7000-8000-000000000001"), Org: "org_one", Name: "nodes", Service: "checkout",
		URL: "https://node.example.com/metrics", Interval: 15 * time.Second, Labels: map[string]string{"region": "eu"},
	}
}

// converted is the answer of a target as export requests.
func converted(t *testing.T, p page) (*converter, []*colmetrics.ExportMetricsServiceRequest) {
	t.Helper()
	c, _ := converters.Get().(*converter)
	c.begin(newIdentity(aTarget()), begun, nil)
	if err := c.reader.read(p); err != nil {
		t.Fatal(err)
	}
	c.cut()
	return c, parsed(t, c.requests)
}

func parsed(t *testing.T, bodies [][]byte) (all []*colmetrics.ExportMetricsServiceRequest) {
	t.Helper()
	for _, body := range bodies {
		req := &colmetrics.ExportMetricsServiceRequest{}
		if err := proto.Unmarshal(body, req); err != nil {
			t.Fatal(err)
		}
		result, err := otlp.Walk(otlp.Metrics, body,
			&otlp.Stamp{Origin: otlp.Origin{Org: "org_one"}, ReceivedUnixNano: begun.UnixNano()}, &blocks.Set{})
		if err != nil {
			t.Errorf("ingest refuses the request: %v", err)
		}
		for _, reason := range result.Reasons {
			if !strings.Contains(reason.String(), "retention") {
				t.Errorf("ingest rejects points: %s", reason)
			}
		}
		all = append(all, req)
	}
	return all
}

func text(t *testing.T, all []*colmetrics.ExportMetricsServiceRequest) string {
	t.Helper()
	var out strings.Builder
	for _, req := range all {
		for _, r := range req.GetResourceMetrics() {
			fmt.Fprintf(&out, "resource %s\n", oneLine(t, r.GetResource()))
			for _, s := range r.GetScopeMetrics() {
				for _, m := range s.GetMetrics() {
					fmt.Fprintf(&out, "%s\n", oneLine(t, m))
				}
			}
		}
	}
	return out.String()
}

// oneLine writes a message with stable white space.
func oneLine(t *testing.T, m proto.Message) string {
	t.Helper()
	b, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	s := strings.NewReplacer(": ", ":", ", ", ",").Replace(string(b))
	return strings.ReplaceAll(s, `},{"`, "},\n  {\"")
}

func TestGoldens(t *testing.T) {
	for name, contentType := range map[string]string{
		"text": "text/plain; version=0.0.4; charset=utf-8", "openmetrics": "application/openmetrics-text; version=1.0.0; charset=utf-8",
	} {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
			if err != nil {
				t.Fatal(err)
			}
			_, all := converted(t, page{body, contentType})
			golden.Compare(t, name+".golden", text(t, all))
		})
	}
}

// protobufPage is the page of a real client in the protobuf format.
func protobufPage(t testing.TB, reg prometheus.Gatherer) page {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	format := expfmt.NewFormat(expfmt.TypeProtoDelim)
	enc := expfmt.NewEncoder(&b, format)
	for _, f := range families {
		if err := enc.Encode(f); err != nil {
			t.Fatal(err)
		}
	}
	return page{b.Bytes(), string(format)}
}

func TestProtobuf(t *testing.T) {
	reg := prometheus.NewRegistry()
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "jobs_total", Help: "Jobs."}, []string{"kind"})
	classic := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "classic_seconds", Buckets: []float64{1, 2}})
	native := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "native_seconds", NativeHistogramBucketFactor: 2,
		NativeHistogramZeroThreshold: 0.001,
	})
	s := prometheus.NewSummary(prometheus.SummaryOpts{Name: "sizes", Objectives: map[float64]float64{0.5: 0.05}})
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "depth"})
	reg.MustRegister(c, classic, native, s, g)
	c.WithLabelValues("a").Add(3)
	g.Set(-4)
	for _, v := range []float64{0.5, 1.5, 3} {
		classic.Observe(v)
		s.Observe(v)
	}
	for _, v := range []float64{0, 0.75, 1, 1.5, 3, 3.5, 100, -3} {
		native.Observe(v)
	}
	conv, all := converted(t, protobufPage(t, reg))
	byName := map[string]*metricspb.Metric{}
	for _, m := range all[0].GetResourceMetrics()[0].GetScopeMetrics()[0].GetMetrics() {
		byName[m.GetName()] = m
	}
	if p := byName["jobs_total"].GetSum(); !p.GetIsMonotonic() || p.GetDataPoints()[0].GetAsDouble() != 3 ||
		p.GetDataPoints()[0].GetStartTimeUnixNano() == 0 {
		t.Errorf("counter: %v", p)
	}
	if p := byName["depth"].GetGauge().GetDataPoints(); len(p) != 1 || p[0].GetAsDouble() != -4 ||
		p[0].GetTimeUnixNano() != uint64(begun.UnixNano()) {
		t.Errorf("gauge: %v", p)
	}
	if p := byName["classic_seconds"].GetHistogram().GetDataPoints()[0]; p.GetCount() != 3 || p.GetSum() != 5 ||
		!cmp.Equal(p.GetBucketCounts(), []uint64{1, 1, 1}) || !cmp.Equal(p.GetExplicitBounds(), []float64{1, 2}) {
		t.Errorf("classic histogram: %v", p)
	}
	// Buckets of the factor 2: (0.5,1] has 0.75 and 1; (1,2] has 1.5; (2,4] has 3 and 3.5; (64,128] has 100.
	p := byName["native_seconds"].GetExponentialHistogram().GetDataPoints()[0]
	if p.GetScale() != 0 || p.GetCount() != 8 || p.GetZeroCount() != 1 || p.GetPositive().GetOffset() != -1 || p.GetZeroThreshold() != 0.001 ||
		!cmp.Equal(p.GetPositive().GetBucketCounts(), []uint64{2, 1, 2, 0, 0, 0, 0, 1}) || p.GetNegative().GetOffset() != 1 ||
		!cmp.Equal(p.GetNegative().GetBucketCounts(), []uint64{1}) {
		t.Errorf("native histogram: %v", p)
	}
	if p := byName["sizes"].GetSummary().GetDataPoints()[0]; p.GetCount() != 3 || p.GetSum() != 5 ||
		p.GetQuantileValues()[0].GetValue() != 1.5 {
		t.Errorf("summary: %v", p)
	}
	if conv.reader.samples != 1+5+1+3+1 {
		t.Errorf("%d samples", conv.reader.samples)
	}
}
