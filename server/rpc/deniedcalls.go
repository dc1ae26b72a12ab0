package rpc

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Bounds on the audit entries of denied calls. A caller that repeats them, with one credential or many, cannot fill the database.
const (
	denialWindow = limits.DeniedCallsTime
	// denialsPerOrganization bounds the entries of one window.
	denialsPerOrganization = limits.DeniedCalls
	denialOrganizations    = 10_000
	denialQueue            = 256
	denialTimeout          = 5 * time.Second
)

// Auditor adds an entry to the audit log.
type Auditor interface {
	RecordAudit(ctx context.Context, org principal.OrgID, e store.AuditEvent) error
}

// DeniedCallLog writes an audit entry for each call that was denied although its credential is good: the scope, the role or the
// organization was wrong. The same denial of the same credential makes one entry in a window; the first entry of the next window counts
// those that were left out. A goroutine writes the entries, so calls do not wait for the database. Safe for concurrent use. A nil log
// records nothing. The owner must Close it.
type DeniedCallLog struct {
	auditor Auditor
	logger  *slog.Logger
	now     func() time.Time
	queue   chan denial
	ended   chan struct{}
	omitted prometheus.Counter

	mu     sync.Mutex
	closed bool
	began  time.Time
	// orgs holds the entries of each organization since began; repeats counts the denials of each kind that the last window left out.
	orgs    map[principal.OrgID]*denialsOf
	repeats map[denialKind]int
}

type denialsOf struct {
	entries int
	seen    map[denialKind]int
}

// denialKind tells one denial from another: calls of one kind share an entry.
type denialKind struct {
	org                           principal.OrgID
	credential, operation, reason string
}

type denial struct {
	ctx   context.Context
	org   principal.OrgID
	event store.AuditEvent
}

// NewDeniedCallLog starts the writer.
func NewDeniedCallLog(auditor Auditor, logger *slog.Logger) *DeniedCallLog {
	d := &DeniedCallLog{
		auditor: auditor, logger: logger, now: time.Now, queue: make(chan denial, denialQueue), ended: make(chan struct{}),
		orgs: map[principal.OrgID]*denialsOf{}, repeats: map[denialKind]int{},
		omitted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "svc_audit_denials_omitted_total", Help: "Refused requests without an entry of their own in the audit log.",
		}),
	}
	go d.write()
	return d
}

// Close writes the entries that wait, and stops the writer.
func (d *DeniedCallLog) Close() {
	d.mu.Lock()
	if !d.closed {
		d.closed = true
		close(d.queue)
	}
	d.mu.Unlock()
	<-d.ended
}

// Describe describes the metric.
func (d *DeniedCallLog) Describe(ch chan<- *prometheus.Desc) { d.omitted.Describe(ch) }

// Collect reads the metric.
func (d *DeniedCallLog) Collect(ch chan<- prometheus.Metric) { d.omitted.Collect(ch) }

func (d *DeniedCallLog) record(ctx context.Context, p *principal.Principal, m *contract.Method, err error) {
	if d == nil {
		return
	}
	e := apierr.From(err)
	reason := apierr.Spec(e.Tag).GetCode()
	kind := denialKind{p.Org, limitKey(p), m.OperationID, reason}
	metadata := map[string]any{"operation_id": m.OperationID, "message": e.Message}
	if scope := m.Scope(); scope != "" {
		metadata["required_scope"] = scope
	}
	if m.Admin {
		metadata["required_role"] = string(principal.RoleAdmin)
	}
	// The entry names its caller even if authentication refused it, and it must outlive the request.
	ctx = principal.WithResult(context.WithoutCancel(ctx), principal.Result{Principal: p})

	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || !d.admits(kind) {
		d.omitted.Inc()
		return
	}
	if n := d.repeats[kind]; n > 0 {
		metadata["omitted_before"] = n
		delete(d.repeats, kind)
	}
	select {
	case d.queue <- denial{ctx, p.Org, store.AuditEvent{Action: "api.request", Denied: reason, Metadata: metadata}}:
	default: // the database is slower than the callers
		d.omitted.Inc()
	}
}

// admits counts a denial and reports whether it makes an entry.
func (d *DeniedCallLog) admits(kind denialKind) bool {
	if now := d.now(); now.Sub(d.began) >= denialWindow {
		d.began = now
		clear(d.repeats)
		for _, of := range d.orgs {
			for kind, n := range of.seen {
				if n > 1 {
					d.repeats[kind] = n - 1
				}
			}
		}
		clear(d.orgs)
	}
	of := d.orgs[kind.org]
	if of == nil {
		if len(d.orgs) >= denialOrganizations {
			return false
		}
		of = &denialsOf{seen: map[denialKind]int{}}
		d.orgs[kind.org] = of
	}
	if n := of.seen[kind]; n > 0 {
		of.seen[kind] = n + 1
		return false
	}
	if of.entries >= denialsPerOrganization {
		return false
	}
	of.entries++
	of.seen[kind] = 1
	return true
}

func (d *DeniedCallLog) write() {
	defer close(d.ended)
	for e := range d.queue {
		ctx, cancel := context.WithTimeout(e.ctx, denialTimeout)
		if err := d.auditor.RecordAudit(ctx, e.org, e.event); err != nil {
			d.logger.WarnContext(ctx, "a refused request could not be written to the audit log", "org_id", e.org, "error", err)
		}
		cancel()
	}
}
