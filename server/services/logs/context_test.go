package logs

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// The context of every record is the part of the list around it, in each scope. The length of its sides goes around with the records.
func TestLogContext(t *testing.T) {
	w := warehousetest.Shared(t)
	s := New(w, engine.New(engine.Config{Warehouse: w}))
	const org, trace = "org_context", "0123456789abcdef0123456789abcdef"
	var records []record
	for i := range 30 {
		r := record{
			org: org, at: warehousetest.Noon().Add(time.Duration(i/3) * 7 * time.Minute), service: fmt.Sprintf("s%d", i%2),
			body:     fmt.Sprint("record ", i),
			resource: map[string]string{"k8s.pod.name": fmt.Sprint("pod", i%3)},
		}
		if i%5 == 0 {
			r.trace = trace
		}
		records = append(records, r)
	}
	elsewhere := records[4]
	elsewhere.org, elsewhere.body = "org_context_2", "of another organization"
	insert(t, w, append(records, elsewhere)...)
	ctx := warehousetest.As(t.Context(), org)
	page, err := s.SearchLogs(ctx, &svcv2.SearchLogsRequest{
		StartTime: timestamppb.New(warehousetest.Noon()), EndTime: timestamppb.New(warehousetest.Noon().Add(3 * time.Hour)),
		Limit: new(int32(100)), Order: new("asc"),
	})
	if err != nil || len(page.GetData()) != len(records) {
		t.Fatalf("%d records, %v", len(page.GetData()), err)
	}
	all := page.GetData()
	for i, of := range all {
		for k, tt := range []struct {
			scope  string
			shares func(l *svcv2.Log) bool
		}{
			{"service", func(l *svcv2.Log) bool { return l.GetServiceName() == of.GetServiceName() }},
			{"trace", func(l *svcv2.Log) bool { return l.GetTraceId() == of.GetTraceId() }},
			{"pod", func(l *svcv2.Log) bool {
				return l.GetServiceName() == of.GetServiceName() && l.GetResourceAttributes()["k8s.pod.name"] == of.GetResourceAttributes()["k8s.pod.name"]
			}},
		} {
			if tt.scope == "trace" && of.TraceId == nil {
				continue
			}
			var before, after []string
			for j, l := range all {
				apart := l.GetTimestamp().AsTime().Sub(of.GetTimestamp().AsTime())
				switch {
				case !tt.shares(l) || apart.Abs() > time.Hour:
				case j < i:
					before = append(before, l.GetId())
				case j > i:
					after = append(after, l.GetId())
				}
			}
			n := []int{0, 2, 100}[(i/5+k)%3] // each fifth record has the trace
			got, err := s.GetLogContext(ctx, &svcv2.GetLogContextRequest{
				Id: of.GetId(), Before: new(int32(n)), After: new(int32(n)),
				Scope: &tt.scope,
			})
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, l := range got.GetData() {
				ids = append(ids, l.GetId())
			}
			want := slices.Concat(before[max(0, len(before)-n):], []string{of.GetId()}, after[:min(n, len(after))])
			if !slices.Equal(ids, want) || ids[got.GetPosition()] != of.GetId() ||
				got.GetHasMoreBefore() != (len(before) > n) || got.GetHasMoreAfter() != (len(after) > n) {
				t.Errorf("record %d, %s, %d: %d records at %d, want %d", i, tt.scope, n, len(ids), got.GetPosition(), len(want))
			}
		}
	}
	alone := all[slices.IndexFunc(all, func(l *svcv2.Log) bool { return l.TraceId == nil })]
	for _, scope := range []string{"trace", "instance"} {
		_, err = s.GetLogContext(ctx, &svcv2.GetLogContextRequest{Id: alone.GetId(), Scope: &scope})
		wantError(t, scope, err, apierr.LogQueryInvalid, "scope")
	}
	_, err = s.GetLogContext(warehousetest.As(t.Context(), "org_context_2"), &svcv2.GetLogContextRequest{Id: alone.GetId()})
	wantError(t, "another organization", err, apierr.LogNotFound, "id")
	_, err = s.GetLogContext(ctx, &svcv2.GetLogContextRequest{Id: "log_x"})
	wantError(t, "no id", err, apierr.LogIdInvalid, "id")
}
