package rpc

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// auditLog keeps entries; hold blocks it.
type auditLog struct {
	hold    sync.Mutex
	entries []string
	callers []*principal.Principal
}

func (a *auditLog) RecordAudit(ctx context.Context, org principal.OrgID, e store.AuditEvent) error {
	a.hold.Lock()
	defer a.hold.Unlock()
	p, _ := principal.From(ctx)
	a.callers = append(a.callers, p)
	entry := fmt.Sprint(org, " ", e.Action, " ", e.Denied, " ", e.Metadata["operation_id"])
	if n := e.Metadata["omitted_before"]; n != nil {
		entry += fmt.Sprint(" after ", n)
	}
	a.entries = append(a.entries, entry)
	return ctx.Err()
}

func key(org principal.OrgID, id string) *principal.Principal {
	return &principal.Principal{Org: org, Kind: principal.KindAPIKey, CredentialID: id}
}

func TestDeniedCallLog(t *testing.T) {
	log := &auditLog{}
	d := NewDeniedCallLog(log, slog.New(slog.DiscardHandler))
	now := time.Unix(1_800_000_000, 0)
	d.now = func() time.Time { return now }
	list, create := &contract.Method{OperationID: "list", Family: "things"}, &contract.Method{
		OperationID: "create", Family: "things", Write: true, Admin: true,
	}
	scope, role := apierr.New(apierr.InsufficientScope, "scope"), apierr.New(apierr.InsufficientPermissions, "role")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the request is over before the entry is written

	for range 50 {
		d.record(ctx, key("org_a", "key_1"), list, scope)
	}
	d.record(ctx, key("org_a", "key_1"), create, scope)
	d.record(ctx, key("org_a", "key_1"), create, role)
	d.record(ctx, key("org_a", "key_2"), list, scope)
	d.record(ctx, key("org_b", "key_1"), list, scope)
	now = now.Add(denialWindow - 1)
	d.record(ctx, key("org_a", "key_1"), list, scope)
	now = now.Add(1)
	d.record(ctx, key("org_a", "key_1"), list, scope)
	d.record(ctx, key("org_a", "key_1"), list, scope)
	d.Close()
	d.record(ctx, key("org_a", "key_9"), list, scope)
	want := []string{
		"org_a api.request insufficient_scope list", "org_a api.request insufficient_scope create",
		"org_a api.request insufficient_permissions create",
		"org_a api.request insufficient_scope list", "org_b api.request insufficient_scope list",
		"org_a api.request insufficient_scope list after 50",
	}
	if diff := cmp.Diff(want, log.entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	for i, p := range log.callers {
		if p == nil || p.CredentialID == "" {
			t.Errorf("entry %d is nobody's", i)
		}
	}
	if got := testutil.ToFloat64(d.omitted); got != 52 {
		t.Errorf("%v were omitted, want 49 of the first kind, one at its end, one of the next window and the one after the close", got)
	}
	var none *DeniedCallLog
	none.record(ctx, key("org_a", "key_1"), list, scope)
}

// TestDeniedCallLogIsBounded sends refusals of many credentials while the database hangs: entries do not pile up and requests do not
// wait.
func TestDeniedCallLogIsBounded(t *testing.T) {
	log := &auditLog{}
	d := NewDeniedCallLog(log, slog.New(slog.DiscardHandler))
	m := &contract.Method{OperationID: "list", Family: "things"}
	scope := apierr.New(apierr.InsufficientScope, "scope")
	log.hold.Lock()
	for i := range 1000 {
		d.record(t.Context(), key("org_a", fmt.Sprint("key_", i)), m, scope)
	}
	for i := range 1000 {
		d.record(t.Context(), key(principal.OrgID(fmt.Sprint("org_", i)), "key"), m, scope)
	}
	log.hold.Unlock()
	d.Close()
	inA := 0
	for _, e := range log.entries {
		if e == "org_a api.request insufficient_scope list" {
			inA++
		}
	}
	if inA != denialsPerOrganization {
		t.Errorf("%d entries of one organization, want %d", inA, denialsPerOrganization)
	}
	if n := len(log.entries); n > denialQueue+1 {
		t.Errorf("%d entries waited for the database, want at most %d", n, denialQueue+1)
	}
	if got := int(testutil.ToFloat64(d.omitted)) + len(log.entries); got != 2000 {
		t.Errorf("%d of 2000 are accounted for", got)
	}
}
