package notify

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// outboxPoll is the pause between two looks for new deliveries, which other processes may have written.
const outboxPoll = time.Second

// outboxPage is how many due deliveries are read at once.
const outboxPage = 64

// Deliveries are the rows of the outbox. *store.Store has them.
type Deliveries interface {
	DueDeliveryShards(ctx context.Context, now time.Time) (map[int]bool, error)
	DueDeliveries(ctx context.Context, shard int, now time.Time, busy store.OutboxBusy, limit int) ([]store.Delivery, error)
	BeginDelivery(ctx context.Context, f store.Fence, id uuid.UUID, now time.Time) (store.Delivery, store.AlertDestination, bool, error)
	DeliveryThread(ctx context.Context, d store.Delivery) (string, error)
	EndDelivery(ctx context.Context, f store.Fence, id uuid.UUID, end store.DeliveryEnd) error
}

// Sends sends a message. *Sender is one.
type Sends interface {
	Send(ctx context.Context, d *Destination, key string, p Payload) Result
}

// OutboxConfig configures an Outbox.
type OutboxConfig struct {
	Deliveries Deliveries
	Sender     Sends
	Seals      Seals
	Logger     *slog.Logger
	Metrics    prometheus.Registerer
}

// Outbox sends the deliveries that wait.
type Outbox struct {
	cfg     OutboxConfig
	results *prometheus.CounterVec
	delay   prometheus.Histogram

	mu sync.Mutex
	// due is when the oldest message became due that could be sent at the last look, by shard.
	due map[int]time.Time

	peek sync.Mutex
	// waiting are the shards that had a message which was due, at the time looked.
	waiting map[int]bool
	looked  time.Time
}

// NewOutbox returns an outbox.
func NewOutbox(cfg OutboxConfig) *Outbox {
	o := &Outbox{
		cfg: cfg, due: map[int]time.Time{},
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_deliveries_total", Help: "Attempts to send messages of alerts, by type of destination and result.",
		}, []string{"type", "result"}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_delivery_delay_seconds", Help: "Time from the moment at which a message was due to its attempt.",
			Buckets: []float64{.1, .5, 1, 2, 5, 15, 60, 300, 900},
		}),
	}
	if cfg.Metrics != nil {
		cfg.Metrics.MustRegister(o.results, o.delay)
	}
	return o
}

// Lag is the age of the oldest message that is due and could be sent. A message to a destination that pauses is not late.
func (o *Outbox) Lag() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	var lag time.Duration
	for _, at := range o.due {
		lag = max(lag, time.Since(at))
	}
	return lag
}

// waits says whether a message is due in a shard. All shards of the process share one look into the database, because most looks find
// nothing.
func (o *Outbox) waits(ctx context.Context, shard int) (bool, error) {
	o.peek.Lock()
	defer o.peek.Unlock()
	if now := time.Now(); now.Sub(o.looked) >= outboxPoll/2 {
		waiting, err := o.cfg.Deliveries.DueDeliveryShards(ctx, now)
		if err != nil {
			return false, err
		}
		o.waiting, o.looked = waiting, now
	}
	return o.waiting[shard], nil
}

// look notes the messages of a shard that are due, the oldest first.
func (o *Outbox) look(shard int, rows []store.Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(rows) == 0 {
		delete(o.due, shard)
		return
	}
	o.due[shard] = rows[0].DueAt
}

// OutboxShard is the work of one shard of the outbox.
type OutboxShard struct {
	outbox *Outbox
	fence  store.Fence
	wake   chan struct{}
	ended  sync.WaitGroup

	mu   sync.Mutex
	sent map[uuid.UUID]underWay // the deliveries that are under way
	// healthy are destinations whose last attempt succeeded. Others get one message at a time, so a dead destination holds one of the
	// places of its organization.
	healthy map[uuid.UUID]bool
	// fenced is the proof that another process has the shard now.
	fenced error
}

type underWay struct {
	org         principal.OrgID
	destination uuid.UUID
}

// Shard begins the work of the shard that the fence is for.
func (o *Outbox) Shard(fence store.Fence) *OutboxShard {
	return &OutboxShard{outbox: o, fence: fence, wake: make(chan struct{}, 1), sent: map[uuid.UUID]underWay{}, healthy: map[uuid.UUID]bool{}}
}

// Wake has a value when a message was sent, so there may be room for another one.
func (s *OutboxShard) Wake() <-chan struct{} { return s.wake }

// Wait ends the work of the shard here: it waits until no message is under way.
func (s *OutboxShard) Wait() {
	s.ended.Wait()
	s.outbox.look(s.fence.Number, nil)
}

// Step begins to send everything that is due and may be sent now, and returns when to look again.
func (s *OutboxShard) Step(ctx context.Context) (time.Time, error) {
	for {
		if err := s.over(); err != nil {
			return time.Time{}, err
		}
		now := time.Now()
		if waits, err := s.outbox.waits(ctx, s.fence.Number); err != nil || !waits {
			if err == nil {
				s.outbox.look(s.fence.Number, nil)
			}
			return now.Add(outboxPoll), err
		}
		rows, err := s.outbox.cfg.Deliveries.DueDeliveries(ctx, s.fence.Number, now, s.busy(), outboxPage)
		if err != nil {
			return time.Time{}, err
		}
		s.outbox.look(s.fence.Number, rows)
		began := false
		for _, row := range rows {
			if !s.take(&row) {
				continue
			}
			began = true
			s.ended.Go(func() { s.run(ctx, row) })
		}
		if !began {
			return now.Add(outboxPoll), nil
		}
	}
}

// over returns the error of an attempt that met a newer lease. The work of the shard ends with it: another attempt would meet it, too.
func (s *OutboxShard) over() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fenced
}

// busy lists the deliveries, organizations and destinations from which nothing more can be taken now.
func (s *OutboxShard) busy() (b store.OutboxBusy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	orgs, destinations := map[principal.OrgID]int{}, map[uuid.UUID]int{}
	for _, u := range s.sent {
		orgs[u.org]++
		destinations[u.destination]++
	}
	b.Deliveries = slices.Collect(maps.Keys(s.sent))
	for org, n := range orgs {
		if n >= limits.DeliverySends {
			b.Organizations = append(b.Organizations, org)
		}
	}
	for id, n := range destinations {
		if n >= s.room(id) {
			b.Destinations = append(b.Destinations, id)
		}
	}
	return b
}

// room is how many messages to a destination may be under way.
func (s *OutboxShard) room(destination uuid.UUID) int {
	if s.healthy[destination] {
		return limits.DeliveryDestinationSends
	}
	return 1
}

// take reserves a place for a delivery, if there is one.
func (s *OutboxShard) take(d *store.Delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	orgs, destinations := 0, 0
	for _, u := range s.sent {
		if u.org == d.Org {
			orgs++
		}
		if u.destination == d.DestinationID {
			destinations++
		}
	}
	if _, twice := s.sent[d.ID]; twice || orgs >= limits.DeliverySends || destinations >= s.room(d.DestinationID) {
		return false
	}
	s.sent[d.ID] = underWay{d.Org, d.DestinationID}
	return true
}

// run makes one attempt and frees its place.
func (s *OutboxShard) run(ctx context.Context, d store.Delivery) {
	delivered, err := s.attempt(ctx, d.ID)
	if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrFenced) {
		s.outbox.cfg.Logger.Warn("a delivery could not be recorded; it is tried again", "delivery", d.ID, "error", err)
		// Without a pause, a database that fails would be asked without end.
		select {
		case <-time.After(outboxPoll):
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	if errors.Is(err, store.ErrFenced) {
		s.fenced = err
	}
	delete(s.sent, d.ID)
	if delivered {
		s.healthy[d.DestinationID] = true
	} else {
		delete(s.healthy, d.DestinationID)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// attempt sends a delivery once. Its status is `processing` before the request leaves. If the process ends between the request and the
// record of its result, the next holder of the shard sends the message again, under the same key.
func (s *OutboxShard) attempt(ctx context.Context, id uuid.UUID) (delivered bool, err error) {
	o := s.outbox
	d, row, ok, err := o.cfg.Deliveries.BeginDelivery(ctx, s.fence, id, time.Now())
	if err != nil || !ok {
		return false, err
	}
	o.delay.Observe(time.Since(d.DueAt).Seconds())
	r := o.send(ctx, &d, row)
	if ctx.Err() != nil && r.Outcome != Delivered {
		return false, ctx.Err() // the stop ended the request, not the destination
	}
	result := "success"
	if r.Outcome != Delivered {
		result = "failed"
	}
	o.results.WithLabelValues(d.DestinationType, result).Inc()
	end := after(&d, r, time.Now())
	if r.Adopt != nil {
		if end.Config, err = json.Marshal(r.Adopt); err != nil {
			return false, err
		}
	}
	// The message is out: its result is recorded even while the process stops.
	record, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.DeliveryTimeout)
	defer cancel()
	return r.Outcome == Delivered, o.cfg.Deliveries.EndDelivery(record, s.fence, id, end)
}

// send opens the destination and sends the message.
func (o *Outbox) send(ctx context.Context, d *store.Delivery, row store.AlertDestination) Result {
	to, err := Open(row, o.cfg.Seals)
	if err != nil {
		o.cfg.Logger.Warn("a destination cannot be read", "destination", row.ID, "error", err)
		problem := "The stored settings of the destination cannot be read."
		if errors.Is(err, ErrSecret) {
			problem = "The stored secret of the destination cannot be opened. Set it again."
		}
		return Result{Outcome: Unreadable, Problem: problem}
	}
	var p Payload
	if err := json.Unmarshal(d.Payload, &p); err != nil {
		return Result{Outcome: Unreadable, Problem: "The stored message cannot be read."}
	}
	if to.Type == Chat && p.Thread == "" {
		if p.Thread, err = o.cfg.Deliveries.DeliveryThread(ctx, *d); err != nil {
			return Result{Outcome: Failed, Problem: "The first message about the incident could not be looked up."}
		}
	}
	return o.cfg.Sender.Send(ctx, to, d.DeliveryKey, p)
}
