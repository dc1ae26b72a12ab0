package attributes_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/services/attributes"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

// The test lists keys and values of product events, including those of events that pages also send as session events.
func TestProductEvents(t *testing.T) {
	w := warehousetest.Shared(t)
	const org = "org_event_keys"
	at := time.Now().UTC().Truncate(time.Hour).Add(-30 * time.Minute)
	resource := map[string]string{"service.name": "shop", "app.build": "7", "svc_org_id": "1"} // the keys that the platform sets are not shown
	columns := []string{"OrgId", "Name", "Timestamp", "ServiceName", "Attributes", "ResourceAttributes"}
	rows := [][]any{
		{org, "bought", at, "shop", map[string]string{"plan": "pro", "seats": "3"}, resource},
		{org, "bought", at, "shop", map[string]string{"plan": "free", "svc_ai.session.id": "x"}, resource},
		{"org_other_events", "bought", at, "shop", map[string]string{"secret": "1"}, resource},
	}
	if err := w.InsertRows(t.Context(), "product_events", columns, rows, ""); err != nil {
		t.Fatal(err)
	}
	page := []any{
		org, "s1", at, uint32(1), "custom", "https://shop.example/cart", "opened",
		map[string]string{"plan": "pro", "cart": "1"},
		map[string]string{},
	}
	if err := w.InsertRows(t.Context(), "session_events", []string{
		"OrgId", "SessionId", "Timestamp", "Seq", "Type", "Url", "Message",
		"Attributes", "ResourceAttributes",
	}, [][]any{page}, ""); err != nil {
		t.Fatal(err)
	}
	s := attributes.New(w)
	start, end := timestamppb.New(at.Add(-time.Minute)), timestamppb.New(at.Add(time.Minute))
	keys := func(org principal.OrgID, edit func(*svcv2.ListAttributeKeysRequest)) map[string]string {
		t.Helper()
		req := &svcv2.ListAttributeKeysRequest{StartTime: start, EndTime: end, Signal: "product_events"}
		edit(req)
		res, err := s.ListAttributeKeys(warehousetest.As(t.Context(), org), req)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, k := range res.GetData() {
			got[k.GetScope()+" "+k.GetKey()] = fmt.Sprint(k.GetCount(), k.GetValueTypes())
		}
		return got
	}
	text := func(s string) *string { return &s }
	for name, tc := range map[string]struct {
		edit func(*svcv2.ListAttributeKeysRequest)
		want map[string]string
	}{
		"all": {func(*svcv2.ListAttributeKeysRequest) {}, map[string]string{
			"event plan": "3 [string]", "event seats": "1 [string]", "event cart": "1 [string]", "event svc_ai.session.id": "1 [string]", "resource service.name": "2 [string]",
			"resource app.build": "2 [string]",
		}},
		"of a scope": {
			func(r *svcv2.ListAttributeKeysRequest) { r.Scope = text("resource") },
			map[string]string{"resource service.name": "2 [string]", "resource app.build": "2 [string]"},
		},
		"with a text": {
			func(r *svcv2.ListAttributeKeysRequest) { r.Search = text("SEAT") },
			map[string]string{"event seats": "1 [string]"},
		},
		"a text of the platform's keys": {
			func(r *svcv2.ListAttributeKeysRequest) { r.Search = text("svc") },
			map[string]string{"event svc_ai.session.id": "1 [string]"},
		},
		"those of a service": {
			func(r *svcv2.ListAttributeKeysRequest) { r.Search, r.ServiceName = text("svc"), text("shop") },
			map[string]string{"event svc_ai.session.id": "1 []"},
		},
		"of a service": {
			func(r *svcv2.ListAttributeKeysRequest) { r.ServiceName, r.Scope = text("shop"), text("event") },
			map[string]string{"event plan": "2 []", "event seats": "1 []", "event svc_ai.session.id": "1 []"},
		},
	} {
		if diff := cmp.Diff(tc.want, keys(org, tc.edit)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := keys("org_nobody", func(*svcv2.ListAttributeKeysRequest) {}); len(got) > 0 {
		t.Errorf("another organization sees %v", got)
	}
	res, err := s.ListAttributeValues(warehousetest.As(t.Context(), org), &svcv2.ListAttributeValuesRequest{
		StartTime: start, EndTime: end, Signal: "product_events", Key: "attr.plan",
	})
	if err != nil || len(res.GetData()) != 2 || res.GetData()[0].GetValue() != "pro" || res.GetData()[0].GetCount() != 2 {
		t.Errorf("values: %v, %v", res, err)
	}
	values := func(org principal.OrgID, where string) ([]*svcv2.AttributeValue, error) {
		res, err := s.ListAttributeValues(warehousetest.As(t.Context(), org), &svcv2.ListAttributeValuesRequest{
			StartTime: start, EndTime: end, Signal: "product_events", Key: "attr.plan", Where: &where,
		})
		return res.GetData(), err
	}
	if got, err := values(org, "attr.seats > 2 OR attr.plan = trial"); err != nil || len(got) != 1 || got[0].GetValue() != "pro" ||
		got[0].GetCount() != 1 {
		t.Errorf("values with a condition: %v, %v", got, err)
	}
	if got, err := values("org_other_events", "attr.seats exists OR NOT attr.seats exists"); err != nil || len(got) > 0 {
		t.Errorf("another organization sees %v, %v", got, err)
	}
	for _, key := range []string{"person", "known.user", "known.visitor"} {
		_, err := s.ListAttributeValues(warehousetest.As(t.Context(), org), &svcv2.ListAttributeValuesRequest{
			StartTime: start, EndTime: end, Signal: "product_events", Key: key,
		})
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != apierr.ParameterInvalid || e.Param != "key" {
			t.Errorf("values of %s: %v", key, err)
		}
	}
	for _, where := range []string{"person = x", "attr.plan =", "NOT (name = bought OR known.user exists)"} {
		_, err := values(org, where)
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != apierr.ParameterInvalid || e.Param != "where" {
			t.Errorf("%s: %v", where, err)
		}
	}
}

// TestValuesOfSpansAreWeighted: a value of few spans that stand for many comes before one of more spans that stand for themselves.
func TestValuesOfSpansAreWeighted(t *testing.T) {
	t.Parallel()
	w := warehousetest.Shared(t)
	const org = "org_weighted_values"
	at := time.Now().UTC().Truncate(time.Hour).Add(-30 * time.Minute)
	var rows [][]any
	for n, of := range []struct {
		tenant string
		rate   float64
	}{{"often", 1}, {"often", 1}, {"often", 1}, {"sampled", 10}} {
		rows = append(rows, []any{
			org, at, fmt.Sprintf("%032x", n+1), fmt.Sprintf("%016x", n+1), "shop", map[string]string{"tenant": of.tenant}, of.rate,
		})
	}
	if err := w.InsertRows(t.Context(), "spans", []string{
		"OrgId", "Timestamp", "TraceId", "SpanId", "ServiceName", "SpanAttributes", "SampleRate",
	}, rows, ""); err != nil {
		t.Fatal(err)
	}
	res, err := attributes.New(w).ListAttributeValues(warehousetest.As(t.Context(), org), &svcv2.ListAttributeValuesRequest{
		StartTime: timestamppb.New(at.Add(-time.Minute)), EndTime: timestamppb.New(at.Add(time.Minute)), Signal: "traces", Key: "attr.tenant",
	})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, v := range res.GetData() {
		got[v.GetValue()] = v.GetCount()
	}
	if diff := cmp.Diff(map[string]float64{"sampled": 10, "often": 3}, got); diff != "" || res.GetData()[0].GetValue() != "sampled" {
		t.Errorf("the first is %q (-want +got):\n%s", res.GetData()[0].GetValue(), diff)
	}
}
