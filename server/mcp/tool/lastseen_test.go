package tool

import (
	"context"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// quietSince answers as if the name had rows until a time.
type quietSince struct {
	svcv2.QueryServiceClient
	last time.Time
}

func (q quietSince) QueryBreakdown(
	_ context.Context, req *svcv2.QueryBreakdownRequest, _ ...grpc.CallOption,
) (*svcv2.QueryBreakdownResponse, error) {
	if req.GetStartTime().AsTime().After(q.last) {
		return &svcv2.QueryBreakdownResponse{Warnings: []string{"No data points of the metric were received in this window."}}, nil
	}
	return &svcv2.QueryBreakdownResponse{}, nil
}

func (q quietSince) QueryTimeseries(
	_ context.Context, req *svcv2.QueryTimeseriesRequest, _ ...grpc.CallOption,
) (*svcv2.QueryTimeseriesResponse, error) {
	var points []*svcv2.TelemetryPoint
	for at := req.GetStartTime().AsTime(); at.Before(req.GetEndTime().AsTime()); at = at.Add(time.Hour) {
		p := &svcv2.TelemetryPoint{Timestamp: timestamppb.New(at)}
		if !at.After(q.last) {
			p.Value = 3
		}
		points = append(points, p)
	}
	return &svcv2.QueryTimeseriesResponse{Series: []*svcv2.QuerySeries{{Points: points}}}, nil
}

// TestQuietNameHasItsLastHour: the note about a name that is silent in the time range gives a time range that has data.
func TestQuietNameHasItsLastHour(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC)
	made := &Tool{clients: &Clients{Query: quietSince{last: now.Add(-50*time.Hour - 15*time.Minute)}}}
	note, err := made.unknown(t.Context(), lookup{param: "metric_name", source: "metrics", value: "m"}, now.Add(-time.Hour), now, now)
	if want := "start_time=2026-01-29T09:00:00Z and end_time=2026-01-29T10:00:00Z"; err != nil || !strings.Contains(note, want) {
		t.Errorf("%q does not have %q, %v", note, want, err)
	}
}
