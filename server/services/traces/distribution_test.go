package traces

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// Spans at the bounds of columns and rows lie in the cell that begins there, and the end of the window in the last column.
func TestDistributionHasExactBounds(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	const org = "org_distribution"
	begin := warehousetest.Noon()
	var spans []span
	for i, s := range []span{
		{at: begin, duration: 250 * time.Millisecond},
		{at: begin.Add(time.Minute - 1), duration: 250*time.Millisecond - 1, status: "Error"},
		{at: begin.Add(time.Minute), duration: 0},
		{at: begin.Add(time.Minute), duration: time.Microsecond - 1},
		{at: begin.Add(2 * time.Minute), duration: time.Microsecond},
		{at: begin.Add(3 * time.Minute), duration: 20 * 24 * time.Hour},
		{at: begin.Add(3*time.Minute + 1), duration: time.Second}, // after the window
	} {
		s.org, s.trace, s.id, s.service, s.name = org, traceID(i+1), fmt.Sprintf("%016x", i+1), "s", "n"
		spans = append(spans, s)
	}
	insert(t, w, spans...)
	s := New(w, engine.New(engine.Config{Warehouse: w, Rollups: query.AllRollups()}))
	seconds := int32(60)
	res, err := s.QueryTraceDistribution(warehousetest.As(t.Context(), org), &svcv2.QueryTraceDistributionRequest{
		StartTime: timestamppb.New(begin), EndTime: timestamppb.New(begin.Add(3 * time.Minute)), BucketSeconds: &seconds,
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range res.GetData() {
		for _, cell := range c.GetCells() {
			got = append(got, fmt.Sprintf("%v from %g ms: %g, %g failed", c.GetTimestamp().AsTime().Sub(begin), res.GetBoundsMs()[cell.GetRow()],
				cell.GetCount(), cell.GetErrorCount()))
		}
	}
	want := []string{
		"0s from 200 ms: 1, 1 failed", "0s from 250 ms: 1, 0 failed", "1m0s from 0 ms: 2, 0 failed", "2m0s from 0.001 ms: 1, 0 failed",
		"2m0s from 1e+09 ms: 1, 0 failed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
	if n := len(res.GetBoundsMs()); n != limits.DistributionRows+1 || res.GetCount() != 6 || res.GetErrorCount() != 1 ||
		res.GetReceivedCount() != 6 {
		t.Errorf("%d bounds, %v spans, %v failed, %v received", n, res.GetCount(), res.GetErrorCount(), res.GetReceivedCount())
	}
	narrowed, err := s.QueryTraceDistribution(warehousetest.As(t.Context(), org), &svcv2.QueryTraceDistributionRequest{
		StartTime: timestamppb.New(begin), EndTime: timestamppb.New(begin.Add(time.Hour)),
		Filters: &svcv2.TraceFilters{HasError: new(true)}, Where: new("duration >= 200ms AND duration < 250ms"),
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{200, 250}, narrowed.GetBoundsMs()); diff != "" || narrowed.GetCount() != 1 ||
		narrowed.GetBucketSeconds() != 60 {
		t.Errorf("%v spans in columns of %d s, bounds (-want +got):\n%s", narrowed.GetCount(), narrowed.GetBucketSeconds(), diff)
	}
}

// A window has a bounded number of columns, whether the request or the server gives their length.
func TestDistributionIsBounded(t *testing.T) {
	t.Parallel()
	if n := len(reads.DurationBounds()); n != limits.DistributionRows {
		t.Errorf("%d rows, the limit says %d", n, limits.DistributionRows)
	}
	for length := time.Second; length <= limits.SearchWindow; length += 97 * time.Second {
		w := query.Window{Start: warehousetest.Noon().Add(59 * time.Second), End: warehousetest.Noon().Add(59*time.Second + length)}
		bucket, err := distributionBucket(w, 0)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := query.Buckets(w, bucket)
		if err != nil || len(columns) > limits.DistributionColumns {
			t.Fatalf("%v: %d columns of %v, %v", length, len(columns), bucket, err)
		}
	}
	var e *apierr.Error
	w := query.Window{Start: warehousetest.Noon(), End: warehousetest.Noon().Add((limits.DistributionColumns + 1) * time.Second)}
	if _, err := distributionBucket(w, 1); !errors.As(err, &e) || e.Tag != apierr.TelemetryBucketCountTooLarge {
		t.Errorf("a column too many: %v", err)
	}
	_, err := filterOf(&svcv2.QueryTraceDistributionRequest{Where: new("duration >")})
	if !errors.As(err, &e) || e.Tag != apierr.TraceQueryInvalid || e.Param != "where" {
		t.Errorf("a filter that cannot be read: %v", err)
	}
}
