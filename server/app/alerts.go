package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/services/alerts"
	"github.com/svc-observability/svc/server/services/charts"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/work"
)

// alertsKind evaluates alert rules. Its reads have places of their own, so dashboards do not hold them up.
func (a *App) alertsKind(ctx context.Context) work.Kind {
	reads := read.NewReader(read.Config{Warehouse: a.opts.reads(a.warehouse), Work: true})
	rollups := a.rollups(ctx)
	w := alerting.NewWorker(alerting.Config{
		Store:         a.store,
		Source:        alerting.NewSource(engine.New(engine.Config{Warehouse: reads, Rollups: rollups}), reads, rollups),
		StoredThrough: a.marks.StoredThrough,
		Messages:      a.alertMessages,
		Summary:       alerts.Summary,
		Logger:        a.log,
	})
	recorder := alerting.Recorder{Waiting: a.store, Into: a.warehouse, Unreadable: a.unreadableChecks()}
	return work.Kind{Name: store.WorkAlerts, Lag: w.Lag, Run: func(ctx context.Context, shard *work.Shard) {
		a.runAlerts(ctx, shard, w.Shard(shard.Fence), recorder)
	}}
}

// runAlerts evaluates the rules of a shard and moves their checks to the warehouse.
func (a *App) runAlerts(ctx context.Context, shard *work.Shard, s *alerting.Shard, recorder alerting.Recorder) {
	defer s.Close()
	work.Due(ctx, shard, nil, limits.AlertRetry, func(ctx context.Context) (time.Time, error) {
		next, err := s.Run(ctx)
		if errors.Is(err, store.ErrFenced) {
			return next, err
		}
		// Checks that cannot be stored now wait in the relational database. Rules are evaluated all the same.
		bounded, cancel := context.WithTimeout(ctx, limits.AlertCheckInsert)
		defer cancel()
		failed := recorder.Record(bounded, shard.Fence)
		switch {
		case errors.Is(failed, store.ErrFenced):
			return next, failed
		case failed != nil && ctx.Err() == nil:
			a.log.Warn("checks of alert rules cannot be stored; svc tries again", "error", failed)
		}
		return next, err
	})
}

// unreadableChecks reports batches of checks that were set aside.
func (a *App) unreadableChecks() func(store.AlertCheckBatch, error) {
	aside := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "svc_alert_checks_set_aside_total", Help: "Batches of checks of alert rules that were set aside because they cannot be read.",
	})
	a.registry.MustRegister(aside)
	return func(batch store.AlertCheckBatch, err error) {
		aside.Inc()
		a.log.Error("checks of alert rules cannot be read, so they are set aside and the history of the rules lacks them",
			"batch", batch.ID, "minute", batch.At, "error", err)
	}
}

// alertMessages makes the rows of the outbox for the changes of the incidents of one rule: one for each enabled destination, or one
// for many incidents that opened at once.
func (a *App) alertMessages(ctx context.Context, org principal.OrgID, notices []alerting.Notice) ([]store.NewDelivery, error) {
	return a.alertMessagesWith(ctx, org, notices, a.charts)
}

// alertMessagesWith makes messages whose pictures have their addresses from pictures.
func (a *App) alertMessagesWith(
	ctx context.Context, org principal.OrgID, notices []alerting.Notice, pictures charts.Links,
) ([]store.NewDelivery, error) {
	var out []store.NewDelivery
	if len(notices) == 0 {
		return nil, nil
	}
	destinations, err := a.alertDestinations(ctx, org, notices[0].Rule)
	if err != nil {
		return nil, err
	}
	storm := len(notices) > limits.AlertNotices
	links := notify.Links{BaseURL: a.baseURL(), Org: org}
	for _, d := range destinations {
		list := notices
		if storm && d.Type != notify.PagerDuty { // there, each incident has a life of its own
			opened := slices.DeleteFunc(slices.Clone(notices), func(n alerting.Notice) bool { return n.Event != alerting.Trigger })
			if len(opened) > limits.AlertNotices {
				first := opened[0]
				row, err := delivery(&d, first, alerts.StormEvent(opened, links), func() (string, error) { return pictures.Rule(first.Rule, first.At) })
				if err != nil {
					return nil, err
				}
				row.DeliveryKey = fmt.Sprintf("%s:%s:storm:%d", first.Rule.ID, d.ID, first.At.Unix())
				row.IncidentID = nil
				out = append(out, row)
				list = slices.DeleteFunc(slices.Clone(notices), func(n alerting.Notice) bool { return n.Event == alerting.Trigger })
			}
		}
		for _, n := range list {
			row, err := delivery(&d, n, alerts.NoticeEvent(n, links), func() (string, error) { return pictures.Incident(n.Rule, n.Incident, n.At) })
			if err != nil {
				return nil, err
			}
			out = append(out, row)
		}
	}
	return out, nil
}

// delivery writes a message for a destination. picture makes the address of its picture, which only chats show.
func delivery(
	d *store.AlertDestination, n alerting.Notice, e alerts.Message, picture func() (string, error),
) (_ store.NewDelivery, err error) {
	if d.Type == notify.Chat {
		if e.PictureURL, err = picture(); err != nil {
			return store.NewDelivery{}, err
		}
	}
	payload, err := e.Render(d.Type)
	if err != nil {
		return store.NewDelivery{}, err
	}
	incident := n.Incident.ID
	return store.NewDelivery{
		Subject: store.SubjectAlert, RuleID: &n.Rule.ID, IncidentID: &incident, DestinationID: d.ID, DestinationName: d.Name,
		DestinationType: d.Type, DeliveryKey: fmt.Sprintf("%s:%s:%s:%d", incident, d.ID, n.Event, n.At.Unix()),
		EventType: string(n.Event), Payload: payload, ScheduledAt: n.At,
	}, nil
}

// alertDestinations are the enabled destinations of a rule.
func (a *App) alertDestinations(ctx context.Context, org principal.OrgID, rule *store.AlertRule) ([]store.AlertDestination, error) {
	var out []store.AlertDestination
	for _, text := range rule.DestinationIds {
		id, err := uuid.Parse(text)
		if err != nil {
			continue
		}
		d, err := a.store.GetAlertDestination(ctx, org, id)
		switch {
		case errors.Is(err, store.ErrNotFound):
			continue
		case err != nil:
			return nil, err
		}
		if d.Enabled {
			out = append(out, d)
		}
	}
	return out, nil
}

// alertFarewell makes the messages that take back the open incidents of a rule that is deleted.
func (a *App) alertFarewell(
	ctx context.Context, org principal.OrgID, rule store.AlertRule, open []store.AlertIncident,
) ([]store.NewDelivery, error) {
	now := time.Now().UTC()
	notices := make([]alerting.Notice, len(open))
	for i := range open {
		open[i].Status = store.IncidentResolved
		notices[i] = alerting.Notice{Rule: &rule, Incident: &open[i], Event: alerting.Resolve, At: now, Value: open[i].LastObservedValue}
	}
	return a.alertMessagesWith(ctx, org, notices, charts.Links{}) // a chart ends with its rule, so there are no pictures
}
