package services_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/services/catalog"
	"github.com/svc-observability/svc/server/services/errorevents"
	"github.com/svc-observability/svc/server/services/logs"
	"github.com/svc-observability/svc/server/services/traces"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// TestUnmatched searches for names that the window does not have. An empty first page says so, with the nearest names. Other pages have no
// warnings: those with data, and those of a filter whose names all exist or are below
// OR or NOT. Names of another organization stay unknown.
func TestUnmatched(t *testing.T) {
	w := warehousetest.Shared(t)
	at := warehousetest.Noon()
	attributes := map[string]string{"http.route": "/pay"}
	for _, org := range []string{"org_unmatched", "org_unmatched_other"} {
		service := strings.TrimPrefix(org, "org_unmatched") + "checkout"
		err := errors.Join(w.InsertRows(t.Context(), "spans", strings.Fields("OrgId Timestamp TraceId SpanId SpanName SpanKind ServiceName "+
			"Environment StatusCode HasError IsEntry DurationNano SampleRate SpanAttributes"), [][]any{{
			org, at, strings.Repeat("a", 32), strings.Repeat("b", 16), "POST /pay", "Server", service, "production", "Unset", false, true,
			uint64(time.Millisecond), 1.0, attributes,
		}}, ""), w.InsertRows(t.Context(), "logs", strings.Fields("OrgId Timestamp ObservedTimestamp ServiceName Environment Body LogAttributes"),
			[][]any{{org, at, at, service, "production", "paid", attributes}}, ""),
			w.InsertRows(t.Context(), "attribute_keys", []string{"OrgId", "Hour", "Signal", "Scope", "Key", "ValueType", "UsageCount"}, [][]any{
				{org, at.Truncate(time.Hour), "traces", "span", "http.route", "string", uint64(1)},
				{org, at.Truncate(time.Hour), "logs", "log", "http.route", "string", uint64(1)},
			}, ""))
		if err != nil {
			t.Fatal(err)
		}
	}
	e := engine.New(engine.Config{Warehouse: w})
	ofTraces, ofLogs, ofErrors := traces.New(w, e), logs.New(w, e), errorevents.New(w, e, nil, time.Now)
	ctx := warehousetest.As(t.Context(), "org_unmatched")
	start, end := timestamppb.New(at.Add(-time.Hour)), timestamppb.New(at.Add(time.Hour))
	search := map[string]func(where string) ([]string, error){
		"traces": func(where string) ([]string, error) {
			res, err := ofTraces.SearchTraces(ctx, &svcv2.SearchTracesRequest{StartTime: start, EndTime: end, Where: &where})
			return res.GetWarnings(), err
		},
		"spans": func(where string) ([]string, error) {
			res, err := ofTraces.SearchSpans(ctx, &svcv2.SearchSpansRequest{StartTime: start, EndTime: end, Where: &where})
			return res.GetWarnings(), err
		},
		"logs": func(where string) ([]string, error) {
			res, err := ofLogs.SearchLogs(ctx, &svcv2.SearchLogsRequest{StartTime: start, EndTime: end, Where: &where})
			return res.GetWarnings(), err
		},
		"error events": func(where string) ([]string, error) {
			res, err := ofErrors.SearchErrorEvents(ctx,
				&svcv2.SearchErrorEventsRequest{StartTime: start, EndTime: end, Where: &where})
			return res.GetWarnings(), err
		},
	}
	for name, find := range search {
		own := "span"
		if name == "logs" {
			own = "log"
		}
		for where, want := range map[string][]string{
			`service.name = "checkout"`: nil,
			`service.name = "chekout"`: {`No service "chekout" was received in this window; the nearest name is "checkout". ` +
				`The names in this window are checkout.`},
			`service.name = "_othercheckout"`: {`No service "_othercheckout" was received in this window; the nearest name is "checkout". ` +
				`The names in this window are checkout.`},
			`deployment.environment = "prod"`: {`No environment "prod" was received in this window; the nearest name is "production". ` +
				`The names in this window are production.`},
			`attr.http.rout = "/pay"`:                                  {`No ` + own + ` attribute "http.rout" was received in this window; the nearest name is "http.route".`},
			`NOT service.name = "gone" AND attr.http.route = "/other"`: nil,
			`service.name = "gone" OR attr.gone = 1`:                   nil,
			`attr.http.route = "/pay" AND service.name = "checkout"`:   nil,
		} {
			got, err := find(where)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, where, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s where %s (-want +got):\n%s", name, where, diff)
			}
		}
	}
	testUnknownService(ctx, t, catalog.New(w, query.Rollups{}), start, end)
}

func testUnknownService(ctx context.Context, t *testing.T, s *catalog.Service, start, end *timestamppb.Timestamp) {
	t.Helper()
	_, err := s.GetService(ctx, &svcv2.GetServiceRequest{Name: "Checkout", StartTime: start, EndTime: end})
	var refused *apierr.Error
	if !errors.As(err, &refused) || refused.Tag != apierr.ServiceNotFound || !strings.Contains(refused.Message, `the nearest name is "checkout"`) {
		t.Errorf("an unknown service: %v", err)
	}
	_, err = s.GetServiceOverview(ctx, &svcv2.GetServiceOverviewRequest{Name: "chekout", StartTime: start, EndTime: end})
	if !errors.As(err, &refused) || refused.Param != "name" || !strings.Contains(refused.Message, `the nearest name is "checkout"`) {
		t.Errorf("the overview of an unknown service: %v", err)
	}
}
