package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/principal"
	telemetry "github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse"
)

// faults make the server of a matrix fail on demand.
type faults struct {
	// reads is the error with which every read of the warehouse fails.
	reads atomic.Pointer[warehouse.Error]
	// late gives requests a deadline that has passed.
	late atomic.Bool
}

func (f *faults) options(o *app.Options) {
	o.Reads = func(w telemetry.ConfinedWarehouse) telemetry.ConfinedWarehouse { return failingReads{w, f} }
	watch := o.Watch
	o.Watch = func(next http.Handler) http.Handler {
		return watch(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if f.late.Load() {
				ctx, cancel := context.WithDeadline(r.Context(), time.Now().Add(-time.Second))
				defer cancel()
				r = r.WithContext(ctx)
			}
			next.ServeHTTP(w, r)
		}))
	}
}

type failingReads struct {
	telemetry.ConfinedWarehouse
	faults *faults
}

func (w failingReads) Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error) {
	if e := w.faults.reads.Load(); e != nil {
		return nil, e
	}
	return w.ConfinedWarehouse.Query(ctx, org, sql, args...)
}

func (w failingReads) SelectConfined(
	ctx context.Context, org principal.OrgID, sql string, limits warehouse.TenantLimits,
) (*warehouse.TenantResult, error) {
	if e := w.faults.reads.Load(); e != nil {
		return nil, e
	}
	return w.ConfinedWarehouse.SelectConfined(ctx, org, sql, limits)
}

func (w failingReads) SQLSchemas(ctx context.Context) ([]warehouse.SQLSchema, error) {
	if e := w.faults.reads.Load(); e != nil {
		return nil, e
	}
	return w.ConfinedWarehouse.SQLSchemas(ctx)
}

const engineText = "DB::Exception: stored value"

// failTelemetry makes the warehouse fail in every possible way. Each operation that reads telemetry must answer with the error
// for that failure.
func (x *matrix) failTelemetry(t *testing.T, all []*operated) {
	token := fmt.Sprint(x.client(t, x.mine).call("PUT", "/v2/dashboards/"+x.board+"/share", `{"mode":"public"}`, 200)["token"])
	for _, kind := range []struct {
		err error
		tag apierr.Tag
	}{
		{warehouse.ErrTimeout, apierr.QueryEngineTimeout},
		{warehouse.ErrMemory, apierr.WarehouseQuotaExceeded},
		{warehouse.ErrUnavailable, apierr.WarehouseUpstream},
		{warehouse.ErrAuth, apierr.WarehouseAuth},
		{warehouse.ErrConfig, apierr.WarehouseConfig},
		{warehouse.ErrSchema, apierr.WarehouseSchemaDrift},
		{warehouse.ErrMalformed, apierr.WarehouseMalformedQuery},
		{warehouse.ErrDecode, apierr.WarehouseResultDecode},
		{warehouse.ErrClient, apierr.WarehouseClient},
		{warehouse.ErrScope, apierr.WarehouseScope},
		{warehouse.ErrOther, apierr.WarehouseQuery},
	} {
		key := x.key(x.mine)
		requests := map[*operated]map[string]any{}
		for _, o := range all {
			if o.m.ReadsTelemetry {
				requests[o] = o.reading()
			}
		}
		x.faults.reads.Store(&warehouse.Error{Kind: kind.err, Message: engineText})
		for o, request := range requests {
			o.try(t, key, request, func(door string, a answer) {
				if o.m.OperationID == "inspectDashboardWidget" && kind.tag == apierr.WarehouseQuery {
					if a.err != nil || !strings.Contains(string(a.body), `"verdict":"broken"`) || strings.Contains(string(a.body), engineText) {
						t.Errorf("%s: a widget whose query is refused: %+v %s, want the verdict broken", door, a.err, a.body)
					}
					return
				}
				if a.err == nil || a.err.Tag != apierr.Spec(kind.tag).GetTag() || strings.Contains(a.err.Message, engineText) {
					t.Errorf("%s: %s while reads fail with %q: %+v %.200s, want %s", door, o.m.OperationID, kind.err, a.err, a.body, nameOf(kind.tag))
				}
			})
		}
		// A public answer says that a widget failed, but not why.
		body := fmt.Sprintf(`{"token":%q,"requests":[{"widget_id":"w"}],"time_range":{"start_time":%q,"end_time":%q}}`, token,
			time.Now().UTC().Add(-time.Hour).Format(time.RFC3339Nano), time.Now().UTC().Format(time.RFC3339Nano))
		status, got := as(t, x.mine, "", "", http.MethodPost, "/v2/share/widget-data", body)
		if text := fmt.Sprint(got); status != 200 || !strings.Contains(text, "reason:failed") || strings.Contains(text, "arehouse") ||
			strings.Contains(text, engineText) {
			t.Errorf("a shared widget while reads fail with %q: %d %s", kind.err, status, text)
		}
		x.faults.reads.Store(nil)
	}
}

// reading is a request that reads telemetry, in a window that no earlier request used.
func (o *operated) reading() map[string]any {
	request := maps.Clone(o.request)
	if _, has := request["start_time"]; has {
		request["start_time"], request["end_time"] = time.Now().UTC().Add(-time.Hour).Format(time.RFC3339Nano),
			time.Now().UTC().Format(time.RFC3339Nano)
	}
	switch {
	case o.m.OperationID == "previewDashboardWidget":
		request["widget"] = json.RawMessage(charts["w"])
	case strings.HasPrefix(o.m.HTTP.Path, "/v2/dashboards/{id}"):
		request["id"] = o.board
	}
	return request
}

// late sends every request with a deadline that has passed, as if rpc.DefaultTimeout were over.
func (x *matrix) late(t *testing.T, all []*operated) {
	key := x.key(x.mine)
	x.every(t, all[:1], func(*operated) string { return key }) // from now on the server has the key in its cache
	x.faults.late.Store(true)
	defer x.faults.late.Store(false)
	x.every(t, all, func(o *operated) string {
		if o.m.Public {
			return ""
		}
		return key
	})
}

// unfinished repeats requests whose first attempt never recorded its end, as if its process had died.
func (x *matrix) unfinished(t *testing.T, all []*operated, db breakable) {
	for _, statement := range db.freeze {
		db.exec(t, statement)
	}
	key := x.key(x.mine)
	send := func(o *operated, door, path string, body []byte) {
		for again := range 2 {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, x.mine.BaseURL+path, bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{
				"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"},
				"Idempotency-Key": {o.m.OperationID + " by " + door},
			}
			status, text := roundTrip(t, req)
			switch {
			case again == 0:
			case status == http.StatusConflict && bytes.Contains(text, []byte("still running")):
				o.note(door, &wireError{Tag: apierr.Spec(apierr.IdempotencyInProgress).GetTag()})
			default:
				t.Errorf("%s: %s again, while the first try has no end: %d %.300s", door, o.m.OperationID, status, text)
			}
		}
	}
	for _, o := range all {
		if !o.m.IdempotencyKey {
			continue
		}
		body, err := json.Marshal(o.request)
		if err != nil {
			t.Fatal(err)
		}
		send(o, "connect", o.m.Procedure, body)
		rest, err := io.ReadAll(o.body(t))
		if err != nil {
			t.Fatal(err)
		}
		send(o, "rest", o.path(), rest)
	}
	for _, statement := range db.thaw {
		db.exec(t, statement)
	}
}
