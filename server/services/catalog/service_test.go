package catalog

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// one is a span of the generator.
type one struct {
	at                                   time.Time
	service, operation, version, setting string
	entry, failed                        bool
	duration                             time.Duration
	rate                                 float64
}

// exact holds the figures that the generator counts itself.
type exact struct {
	spans, estimated, failed, failedEstimated, nano, satisfied, tolerated float64
	durations                                                             []weighted
}

type weighted struct{ ms, rate float64 }

func (e *exact) add(s one) {
	e.spans++
	e.estimated += s.rate
	e.nano += s.rate * float64(s.duration)
	e.durations = append(e.durations, weighted{float64(s.duration) / 1e6, s.rate})
	switch {
	case s.failed:
		e.failed++
		e.failedEstimated += s.rate
	case s.duration < 500*time.Millisecond:
		e.satisfied += s.rate
	case s.duration < 2*time.Second:
		e.tolerated += s.rate
	}
}

// between reports whether v is near the quantile q: its rank differs by at most a hundredth of all weight.
func (e *exact) between(q, v float64) bool {
	slices.SortFunc(e.durations, func(a, b weighted) int { return int(math.Copysign(1, a.ms-b.ms)) })
	low, high, sum := math.Inf(-1), math.Inf(1), 0.0
	for _, d := range e.durations {
		sum += d.rate
		if sum/e.estimated < q-0.02 {
			low = d.ms
		}
		if sum/e.estimated > q+0.02 {
			high = d.ms
			break
		}
	}
	return v >= low-1e-3 && v <= high+1e-3
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(b)) }

// TestReadsAgree: the reads of a service agree with an independent count of the same spans, under uneven sampling.
func TestReadsAgree(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_service_reads"
	r := rand.New(rand.NewPCG(3, 5))
	start, end := warehousetest.Noon(), warehousetest.Noon().Add(4*time.Hour)
	var rows [][]any
	operations, versions, points, apdexes, all := map[string]*exact{}, map[string]*exact{}, map[int64]*exact{}, map[int64]*exact{}, &exact{}
	count := func(m map[string]*exact, key string, s one) {
		if m[key] == nil {
			m[key] = &exact{}
		}
		m[key].add(s)
	}
	countAt := func(m map[int64]*exact, key int64, s one) {
		if m[key] == nil {
			m[key] = &exact{}
		}
		m[key].add(s)
	}
	for range 20000 {
		s := one{
			at: start.Add(time.Duration(r.Int64N(int64(end.Sub(start))))), service: []string{"shop", "shop", "library"}[r.IntN(3)],
			operation: fmt.Sprintf("op %d", r.IntN(40)),
			version:   fmt.Sprintf("1.%d", r.IntN(3)), setting: []string{"prod", "staging"}[r.IntN(2)], entry: r.IntN(3) > 0,
			failed:   r.IntN(10) == 0,
			duration: time.Duration(r.ExpFloat64() * float64(400*time.Millisecond)), rate: 1,
		}
		if !s.failed && s.duration < time.Second { // as tail sampling does: it keeps all failed and slow spans
			s.rate = 8
		}
		if s.service == "library" {
			s.entry = false
		}
		rows = append(rows, []any{string(org), s.at, s.service, s.operation, s.version, s.setting, uint64(s.duration), s.failed, s.entry, s.rate})
		if s.service == "shop" && s.entry {
			all.add(s)
			count(operations, s.operation, s)
			count(versions, s.version, s)
			countAt(points, s.at.Truncate(5*time.Minute).Unix(), s)
			if s.setting == "prod" {
				countAt(apdexes, s.at.Truncate(time.Hour).Unix(), s)
			}
		}
	}
	columns := strings.Fields("OrgId Timestamp ServiceName SpanName ServiceVersion Environment DurationNano HasError IsEntry SampleRate")
	if err := w.InsertRows(t.Context(), "spans", columns, rows, ""); err != nil {
		t.Fatal(err)
	}
	s, ctx := New(w, query.AllRollups()), warehousetest.As(t.Context(), org)
	from, to := timestamppb.New(start), timestamppb.New(end)

	service, err := s.GetService(ctx, &svcv2.GetServiceRequest{Name: "shop", StartTime: from, EndTime: to})
	if err != nil {
		t.Fatal(err)
	}
	if service.GetSpanCount() != all.spans || !near(service.GetThroughput(), all.estimated/(4*3600)) ||
		!near(service.GetErrorRate(), all.failedEstimated/all.estimated) || service.GetErrorCount() != all.failed {
		t.Errorf("service %v, want %v spans, %v estimated, %v failed", service, all.spans, all.estimated, all.failed)
	}
	if !all.between(0.5, service.GetP50LatencyMs()) || !all.between(0.95, service.GetP95LatencyMs()) ||
		!all.between(0.99, service.GetP99LatencyMs()) {
		t.Errorf("latencies of the service are not weighted: %v", service)
	}

	overview, err := s.GetServiceOverview(ctx, &svcv2.GetServiceOverviewRequest{Name: "shop", StartTime: from, EndTime: to})
	if err != nil {
		t.Fatal(err)
	}
	if overview.GetBucketSeconds() != 300 || len(overview.GetPoints()) != 48 || len(overview.GetOperations()) != 25 {
		t.Errorf("overview of %d buckets of %d s, %d operations", len(overview.GetPoints()), overview.GetBucketSeconds(),
			len(overview.GetOperations()))
	}
	for _, p := range overview.GetPoints() {
		x := points[p.GetTimestamp().GetSeconds()]
		if x == nil {
			x = &exact{}
		}
		if p.GetSpanCount() != x.spans || !near(p.GetEstimatedSpanCount(), x.estimated) || x.spans > 0 &&
			!near(p.GetErrorRate(), x.failedEstimated/x.estimated) {
			t.Errorf("point %v, want %v spans, %v", p, x.spans, x.estimated)
		}
		if x.spans > 0 && (!x.between(0.5, p.GetP50LatencyMs()) || !x.between(0.95, p.GetP95LatencyMs())) {
			t.Errorf("latencies of the point %v are not weighted", p)
		}
	}
	last := math.Inf(1)
	for _, o := range overview.GetOperations() {
		x := operations[o.GetName()]
		if o.GetSpanCount() != x.spans || !near(o.GetEstimatedSpanCount(), x.estimated) || o.GetErrorCount() != x.failed ||
			!near(o.GetErrorRate(), x.failedEstimated/x.estimated) ||
			!x.between(0.5, o.GetP50LatencyMs()) || !x.between(0.95, o.GetP95LatencyMs()) || !x.between(0.99, o.GetP99LatencyMs()) ||
			o.GetEstimatedSpanCount() > last {
			t.Errorf("operation %v, want %v spans, %v estimated, %v failed", o, x.spans, x.estimated, x.failed)
		}
		last = o.GetEstimatedSpanCount()
	}

	seen := map[string]bool{}
	var cursor *string
	last = math.Inf(1)
	for page := 0; page < 10; page++ {
		list, err := s.ListServiceOperations(ctx, &svcv2.ListServiceOperationsRequest{
			Name: "shop", StartTime: from, EndTime: to, Limit: new(int32(7)), Cursor: cursor, OrderBy: new("avg_duration"),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range list.GetData() {
			x := operations[o.GetName()]
			if seen[o.GetName()] || o.GetAvgLatencyMs() > last || !near(o.GetAvgLatencyMs(), x.nano/x.estimated/1e6) ||
				math.Abs(o.GetApdex()-(x.satisfied+x.tolerated/2)/x.estimated) > 1e-4 {
				t.Errorf("operation %v, want %v ms on average", o, x.nano/x.estimated/1e6)
			}
			seen[o.GetName()], last = true, o.GetAvgLatencyMs()
		}
		if cursor = list.NextCursor; cursor == nil {
			break
		}
	}
	if len(seen) != len(operations) {
		t.Errorf("%d operations, want %d", len(seen), len(operations))
	}

	series, err := s.GetServiceApdex(ctx, &svcv2.GetServiceApdexRequest{
		Name: "shop", StartTime: from, EndTime: to, DeploymentEnvironment: new("prod"), BucketSeconds: new(int32(3600)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(series.GetPoints()) != len(apdexes) {
		t.Errorf("%d points of Apdex, want %d", len(series.GetPoints()), len(apdexes))
	}
	for _, p := range series.GetPoints() {
		x := apdexes[p.GetTimestamp().GetSeconds()]
		if !near(p.GetTotalCount(), x.estimated) || !near(p.GetSatisfiedCount(), x.satisfied) || !near(p.GetToleratingCount(), x.tolerated) ||
			math.Abs(p.GetApdexScore()-(x.satisfied+x.tolerated/2)/x.estimated) > 1e-4 {
			t.Errorf("Apdex %v, want %+v", p, *x)
		}
	}

	releases, err := s.ListServiceReleases(ctx, &svcv2.ListServiceReleasesRequest{Name: "shop", StartTime: from, EndTime: to})
	if err != nil {
		t.Fatal(err)
	}
	if len(releases.GetData()) != len(versions) {
		t.Errorf("%d versions, want %d", len(releases.GetData()), len(versions))
	}
	for _, v := range releases.GetData() {
		x, sum := versions[v.GetVersion()], 0.0
		for _, p := range v.GetPoints() {
			sum += p.GetCount()
		}
		if v.GetSpanCount() != x.spans || !near(v.GetEstimatedSpanCount(), x.estimated) || !near(sum, x.estimated) ||
			!near(v.GetErrorRate(), x.failedEstimated/x.estimated) {
			t.Errorf("version %v, want %v spans", v, x.spans)
		}
	}

	library, err := s.GetServiceOverview(ctx, &svcv2.GetServiceOverviewRequest{
		Name: "library", StartTime: from, EndTime: to, BucketSeconds: new(int32(86400)),
	})
	if err != nil || len(library.GetOperations()) != 25 || library.GetPoints()[len(library.GetPoints())-1].GetSpanCount() == 0 {
		t.Errorf("a service without entry spans: %v, %v", library, err)
	}
	for _, reader := range []principal.OrgID{"org_nobody", org + "_other"} {
		_, err := s.GetServiceOverview(warehousetest.As(t.Context(), reader),
			&svcv2.GetServiceOverviewRequest{Name: "shop", StartTime: from, EndTime: to})
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != apierr.ServiceNotFound || e.Param != "name" {
			t.Errorf("another organization got %v", err)
		}
	}
}

func TestBucketLength(t *testing.T) {
	for length, want := range map[time.Duration]time.Duration{
		time.Minute: time.Minute, time.Hour: 2 * time.Minute, 6 * time.Hour: 15 * time.Minute, 24 * time.Hour: 30 * time.Minute,
		7 * 24 * time.Hour:  4 * time.Hour,
		30 * 24 * time.Hour: 24 * time.Hour, 365 * 24 * time.Hour: 7 * 24 * time.Hour,
	} {
		if got, err := bucketLength(query.Window{Start: warehousetest.Noon(), End: warehousetest.Noon().Add(length)}, nil); got != want ||
			err != nil {
			t.Errorf("%v: %v, %v, want %v", length, got, err, want)
		}
	}
	for seconds, tag := range map[int32]apierr.Tag{
		59: apierr.ParameterInvalid, 90: apierr.ParameterInvalid,
		60: apierr.TelemetryBucketCountTooLarge,
	} {
		_, err := bucketLength(query.Window{Start: warehousetest.Noon(), End: warehousetest.Noon().Add(48 * time.Hour)}, &seconds)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != tag || e.Param != "bucket_seconds" {
			t.Errorf("%d s: %v", seconds, err)
		}
	}
}
