package app

import (
	"context"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/services/charts"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/work"
)

// guard judges the addresses behind URLs of users.
func (a *App) guard() *egress.Guard {
	return egress.New(slices.Concat(a.cfg.EgressNetworks, a.opts.Egress)...)
}

// openSender makes the sender of messages, which the API needs for tests of destinations and the background work for alerts.
func (a *App) openSender(context.Context) error {
	cfg := notify.SenderConfig{Guard: a.guard(), Directory: a.store, Endpoints: a.opts.Notify, Chats: a.integrations}
	if server := a.cfg.SMTPURL.Reveal(); server != "" {
		mail, err := notify.NewSMTP(server, a.cfg.MailFrom)
		if err != nil {
			return a.cfg.Invalid("smtp-url", err.Error())
		}
		cfg.Mail = mail
	}
	a.sender = notify.NewSender(cfg)
	seals, err := a.hasher.Sealer(notify.SealPurpose)
	if err != nil {
		return err
	}
	a.seals = seals
	ids, err := a.hasher.Sealer(charts.SealPurpose)
	a.charts = charts.Links{BaseURL: a.baseURL(), Seals: ids, Now: time.Now}
	return err
}

// outboxKind sends the messages of alerts that wait.
func (a *App) outboxKind() work.Kind {
	outbox := notify.NewOutbox(notify.OutboxConfig{
		Deliveries: a.store, Sender: a.sender, Seals: a.seals, Logger: a.log, Metrics: a.registry,
	})
	return work.Kind{Name: store.WorkOutbox, Lag: outbox.Lag, Run: func(ctx context.Context, shard *work.Shard) {
		s := outbox.Shard(shard.Fence)
		defer s.Wait()
		work.Due(ctx, shard, s.Wake(), time.Second, s.Step)
	}}
}
