package instrumentation

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// evidence holds the data that the checks read: telemetry, which may be some minutes old, and the stored setup, which is of now.
type evidence struct {
	telemetry

	now      time.Time
	outcomes []store.IngestOutcome
	keyNames map[string]string
	mappings []store.AttributeMapping
	mapped   map[string]bool
	open     []store.Recommendation
	alerts   store.AlertSetup
	// targets is the number of enabled scrape targets; failing are those that fail for long.
	targets int
	failing []store.ScrapeTarget
	// accounts are the connected accounts of other services.
	accounts []store.IntegrationConnection
	// keyUse counts the spans with the keys of mappings.
	keyUse []reads.SetupKeyUseRow
}

// telemetry is the evidence from the telemetry store.
type telemetry struct {
	at time.Time
	// window is the window of the raw rows. label describes it in words.
	window query.Window
	label  string

	signals     []reads.SignalRow
	services    []reads.SetupServiceRow
	logs        []reads.SetupLogRow
	links       []reads.SetupLinkRow
	keys        []reads.SetupKeyRow
	senders     []sender
	values      []reads.SetupValueRow
	metrics     []reads.SetupMetricRow
	peers       []reads.SetupPeerRow
	queues      []reads.SetupQueueRow
	instruments []reads.SetupInstrumentRow
	restarts    []reads.SetupRestartRow
}

// GetSetupAudit checks the organization's setup.
func (s *Service) GetSetupAudit(ctx context.Context, _ *svcv2.GetSetupAuditRequest) (*svcv2.SetupAudit, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	unavailable := storeerr.Resource{
		Unavailable: storeerr.Answer{Tag: apierr.SetupAuditUnavailable, Message: "The setup cannot be audited at the moment. Try again."},
	}
	e := &evidence{now: s.now().UTC(), keyNames: map[string]string{}}
	if err := s.stored(ctx, caller.Org, e); err != nil {
		return nil, unavailable.Failure(ctx, err)
	}
	bounded, cancel := context.WithTimeout(ctx, 3*signalTimeout)
	defer cancel()
	failure := s.examine(bounded, caller.Org, e)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	recommendations := e.open
	if failure != nil {
		s.logger.WarnContext(ctx, "the audit has no telemetry", "org_id", caller.Org, "error", failure)
		e.telemetry = telemetry{at: e.now}
	} else if recommendations, err = s.store.ReconcileRecommendations(ctx, caller.Org,
		findings(spanKeys(e.keys), e.mapped, e.senders), e.mapped); err != nil {
		return nil, unavailable.Failure(ctx, err)
	}
	e.open = nil
	for _, r := range recommendations {
		if r.Status == store.RecommendationOpen {
			e.open = append(e.open, r)
		}
	}
	return e.audit(failure == nil), nil
}

// stored reads the evidence from the relational store.
func (s *Service) stored(ctx context.Context, org principal.OrgID, e *evidence) (err error) {
	if e.outcomes, err = s.store.ListIngestOutcomes(ctx, org, ""); err != nil {
		return err
	}
	keys, err := s.store.ListIngestKeys(ctx, org)
	if err != nil {
		return err
	}
	for _, k := range keys {
		e.keyNames[publicid.Encode(publicid.IngestKey, k.ID)] = k.Name
	}
	if e.mappings, err = s.store.ListAttributeMappings(ctx, org); err != nil {
		return err
	}
	e.mapped = mappedKeys(e.mappings)
	if e.alerts, err = s.store.AlertSetup(ctx, org); err != nil {
		return err
	}
	if e.targets, err = s.store.CountScrapeTargets(ctx, org); err != nil {
		return err
	}
	if e.failing, err = s.store.FailingScrapeTargets(ctx, org, e.now.Add(-limits.SetupScrapeFailure), limits.SetupFailingTargets); err != nil {
		return err
	}
	if e.accounts, err = s.store.ListIntegrations(ctx, org); err != nil {
		return err
	}
	e.open, err = s.store.ListRecommendations(ctx, org)
	return err
}

// examine reads the evidence from the telemetry store, or takes that of an earlier audit.
func (s *Service) examine(ctx context.Context, org principal.OrgID, e *evidence) (err error) {
	e.telemetry, err = read.Recent(ctx, s.warehouse, org, "setup audit", limits.SetupEvidence,
		func(ctx context.Context) (telemetry, bool, error) {
			t := telemetry{at: e.now}
			err := s.telemetry(ctx, org, &t)
			return t, t.arrives(), err // telemetry may begin at any moment
		})
	if err != nil {
		return err
	}
	if keys := sourceKeys(e.mappings); len(keys) > 0 {
		week := query.Window{Start: e.now.Add(-limits.SetupMappingIdle), End: e.now}
		e.keyUse, err = read.All[reads.SetupKeyUseRow](ctx, s.warehouse, org, reads.SetupKeyUse(week, keys))
	}
	return err
}

// telemetry reads the evidence from the telemetry store.
func (s *Service) telemetry(ctx context.Context, org principal.OrgID, e *telemetry) (err error) {
	whole := query.Window{Start: e.at.Add(-day), End: e.at}
	hour := query.Window{Start: e.at.Add(-time.Hour), End: e.at}
	if e.signals, err = read.All[reads.SignalRow](ctx, s.warehouse, org, reads.Signals(whole, limits.SignalServices)); err != nil {
		return err
	}
	e.window, e.label = whole, "in the last "+lastDay
	spans, records := e.signal("traces").Items, e.signal("logs").Items
	if max(spans, records) > limits.SetupRows {
		e.window, e.label = hour, "in the last hour"
		spans /= 24
	}
	if e.services, err = read.All[reads.SetupServiceRow](ctx, s.warehouse, org, reads.SetupServices(e.window)); err != nil {
		return err
	}
	if e.logs, err = read.All[reads.SetupLogRow](ctx, s.warehouse, org, reads.SetupLogs(e.window)); err != nil {
		return err
	}
	if e.links, err = read.All[reads.SetupLinkRow](ctx, s.warehouse, org,
		reads.SetupLinks(e.window, spans/limits.SetupLinkedSpans+1)); err != nil {
		return err
	}
	if e.keys, err = read.All[reads.SetupKeyRow](ctx, s.warehouse, org, reads.SetupKeys(whole)); err != nil {
		return err
	}
	if e.senders, err = s.senders(ctx, org, e.at, spanKeys(e.keys), nil); err != nil {
		return err
	}
	if e.values, err = read.All[reads.SetupValueRow](ctx, s.warehouse, org, reads.SetupValues(e.window, limits.SetupValueSpans)); err != nil {
		return err
	}
	if e.peers, err = read.All[reads.SetupPeerRow](ctx, s.warehouse, org, reads.SetupPeers(e.window)); err != nil {
		return err
	}
	if e.queues, err = read.All[reads.SetupQueueRow](ctx, s.warehouse, org, reads.SetupQueues(whole)); err != nil {
		return err
	}
	if e.instruments, err = read.All[reads.SetupInstrumentRow](ctx, s.warehouse, org, reads.SetupInstruments(whole)); err != nil {
		return err
	}
	if e.restarts, err = read.All[reads.SetupRestartRow](ctx, s.warehouse, org,
		reads.SetupRestarts(hour, limits.SetupCounterStarts)); err != nil {
		return err
	}
	e.metrics, err = read.All[reads.SetupMetricRow](ctx, s.warehouse, org, reads.SetupMetrics(hour, limits.SetupSeries))
	return err
}

// arrives reports whether the organization sent traces, logs or metrics.
func (e *telemetry) arrives() bool {
	for _, name := range telemetrySignals() {
		if e.signal(name).Items > 0 {
			return true
		}
	}
	return false
}

func (e *telemetry) signal(name string) reads.SignalRow {
	for _, row := range e.signals {
		if row.Signal == name && row.Whole > 0 {
			return row
		}
	}
	return reads.SignalRow{}
}

// verdict is the result of a check. A check that affects something fails. A check with no data is skipped.
type verdict struct {
	nothing bool
	// missing says that the check fails because a thing does not exist.
	missing  bool
	detail   string
	affected []*svcv2.SetupAuditAffected
}

// check is one line of the audit.
type check struct {
	id, category, title, severity, fix string
	// telemetry says that the check needs the telemetry store.
	telemetry bool
	run       func(*evidence) verdict
}

func (e *evidence) audit(available bool) *svcv2.SetupAudit {
	out := &svcv2.SetupAudit{
		Object: "setup_audit", GeneratedAt: timestamppb.New(e.at), DataStatus: "no_data", TelemetryChecksAvailable: available,
		Summary:                 &svcv2.SetupAuditSummary{},
		OpenRecommendationCount: int32(len(e.open)),
	}
	if e.arrives() {
		out.DataStatus = "ok"
	}
	for _, c := range checks() {
		row := &svcv2.SetupAuditCheck{
			Object: "setup_audit_check", Id: c.id, Category: c.category, Title: c.title, Severity: c.severity, Status: "skip", FixHint: c.fix,
		}
		v := verdict{nothing: true, detail: "The telemetry store did not answer."}
		if available || !c.telemetry {
			v = c.run(e)
		}
		if v.detail != "" {
			row.Detail = &v.detail
		}
		switch {
		case v.nothing:
			out.Summary.Skip++
		case len(v.affected) == 0 && !v.missing:
			row.Status = "pass"
			out.Summary.Pass++
		default:
			row.Status, row.AffectedCount, row.Affected = "fail", int32(len(v.affected)), v.affected[:min(len(v.affected), limits.AffectedObjects)]
			switch c.severity {
			case critical:
				out.Summary.Critical++
			case warn:
				out.Summary.Warn++
			default:
				out.Summary.Info++
			}
		}
		out.Checks = append(out.Checks, row)
	}
	return out
}
