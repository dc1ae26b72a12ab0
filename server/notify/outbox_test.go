package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// world is an outbox on a real database, with a stand-in for the destinations.
type world struct {
	*store.Store
	t     *testing.T
	org   principal.OrgID
	fence store.Fence

	mu   sync.Mutex
	sent []string // delivery keys, in the order of their requests
	// deliveryAnswer decides each request; nil means that all succeed.
	answer func(d *Destination, key string) Result
}

func newWorld(t *testing.T) *world {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{Store: s, t: t}
	w.org = w.organization()
	w.lease()
	return w
}

func (w *world) organization() principal.OrgID {
	w.t.Helper()
	out, err := w.CreateOrganization(w.t.Context(), store.NewOrganization{
		Name: "Org", Admin: &store.NewUser{Email: uuid.NewString() + "@example.com"},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out.Organization.ID
}

// lease takes the shard of the organization, as a server that starts.
func (w *world) lease() {
	w.t.Helper()
	node := store.WorkNode{ID: uuid.Must(uuid.NewV7()), Kinds: []string{store.WorkOutbox}}
	if err := w.JoinWork(w.t.Context(), node); err != nil {
		w.t.Fatal(err)
	}
	held, err := w.BeatWork(w.t.Context(), node)
	if err != nil {
		w.t.Fatal(err)
	}
	w.fence = held[store.ShardOf(store.WorkOutbox, string(w.org))]
}

func (w *world) destination(name string) uuid.UUID {
	w.t.Helper()
	d, _, err := w.CreateAlertDestination(w.t.Context(), w.org, store.NewAlertDestination{
		ID: uuid.Must(uuid.NewV7()), Name: name, Type: Webhook, Enabled: true, Config: json.RawMessage(`{"url":"https://example.com/"}`),
		CreatedBy: "user_x",
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return d.ID
}

func (w *world) enqueue(to, incident uuid.UUID, kind string, at time.Time) {
	w.t.Helper()
	p, err := Render(event(kind, "critical"), Webhook)
	if err != nil {
		w.t.Fatal(err)
	}
	text, err := p.Marshal()
	if err != nil {
		w.t.Fatal(err)
	}
	err = w.Enqueue(w.t.Context(), w.org, store.NewDelivery{
		Subject: store.SubjectAlert, IncidentID: &incident, DestinationID: to, DestinationType: Webhook, EventType: kind, Payload: text,
		DeliveryKey: fmt.Sprintf("%s:%s:%s:%d", incident, to, kind, at.Unix()), ScheduledAt: at,
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) Send(_ context.Context, d *Destination, key string, _ Payload) Result {
	w.mu.Lock()
	w.sent = append(w.sent, key)
	answer := w.answer
	w.mu.Unlock()
	if answer == nil {
		return Result{Code: 200}
	}
	return answer(d, key)
}

func (w *world) requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sent)
}

// serve runs the shard until the time is over.
func (w *world) serve(d time.Duration, rows Deliveries) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	s := NewOutbox(OutboxConfig{Deliveries: rows, Sender: w, Logger: slog.New(slog.DiscardHandler)}).Shard(w.fence)
	defer s.Wait()
	for ctx.Err() == nil {
		next, err := s.Step(ctx)
		if err != nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-s.Wake():
		case <-time.After(time.Until(next)):
		}
	}
}

func (w *world) list() []store.Delivery {
	w.t.Helper()
	rows, err := w.ListDeliveries(w.t.Context(), w.org, store.DeliveryFilter{}, 0, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Reverse(rows)
	return rows
}

// inBubble runs a test with virtual time.
func inBubble(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer func() {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}()
		test(t, w)
	})
}

// TestRetries: a destination that fails gets 5 attempts over the pauses of the schedule, each a row, all with one key. A resolve waits
// for its trigger meanwhile.
func TestRetries(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		to, incident, start := w.destination("a"), uuid.New(), time.Now()
		w.enqueue(to, incident, Trigger, start)
		w.enqueue(to, incident, Resolve, start.Add(time.Second))
		var at []time.Duration
		w.answer = func(*Destination, string) Result {
			at = append(at, time.Since(start))
			if len(at) > 5 {
				return Result{Code: 200}
			}
			return Result{Outcome: Failed, Code: 503, Problem: "down"}
		}
		w.serve(2*time.Hour, w.Store)
		rows := w.list()
		if len(rows) != 6 {
			t.Fatalf("%d rows: %+v", len(rows), rows)
		}
		for i, row := range rows[:5] {
			if row.AttemptNumber != i+1 || row.Status != store.DeliveryFailed || row.EventType != Trigger ||
				row.DeliveryKey != rows[0].DeliveryKey || *row.ResponseCode != 503 {
				t.Errorf("attempt %d: %+v", i+1, row)
			}
		}
		if rows[5].EventType != Resolve || rows[5].Status != store.DeliverySuccess {
			t.Errorf("the resolve: %+v", rows[5])
		}
		// The pauses are 1, 2, 4 and 8 minutes. The breaker opens with the third failure, and its pauses are shorter.
		for i, least := range []time.Duration{0, time.Minute, 3 * time.Minute, 7 * time.Minute, 15 * time.Minute} {
			if d := at[i] - least; d < 0 || d > 10*time.Second {
				t.Errorf("attempt %d after %v", i+1, at[i])
			}
		}
	})
}

// TestThrottled: 429 is no attempt, and the pause that the destination asks for counts for all its messages.
func TestThrottled(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		to, start := w.destination("a"), time.Now()
		for i := range 3 {
			w.enqueue(to, uuid.New(), Trigger, start.Add(time.Duration(i)))
		}
		var mu sync.Mutex // messages are sent at once
		var at []time.Duration
		w.answer = func(*Destination, string) Result {
			mu.Lock()
			defer mu.Unlock()
			at = append(at, time.Since(start))
			if len(at) == 1 {
				return Result{Outcome: Throttled, Code: 429, RetryAfter: 10 * time.Minute}
			}
			return Result{Code: 200}
		}
		w.serve(time.Hour, w.Store)
		for _, row := range w.list() {
			if row.AttemptNumber != 1 || row.Status != store.DeliverySuccess {
				t.Errorf("%+v", row)
			}
		}
		if len(at) != 4 || at[1] < 10*time.Minute {
			t.Errorf("requests at %v", at)
		}
	})
}

// TestDisabled: three refusals in a row, or one 410, disable a destination. The messages that wait fail with the reason.
func TestDisabled(t *testing.T) {
	for _, c := range []struct {
		outcome Outcome
		want    int
	}{{Rejected, 3}, {Gone, 1}} {
		inBubble(t, func(t *testing.T, w *world) {
			to, start := w.destination("a"), time.Now()
			for i := range 5 {
				w.enqueue(to, uuid.New(), Trigger, start.Add(time.Duration(i)))
			}
			w.answer = func(*Destination, string) Result { return Result{Outcome: c.outcome, Code: 400, Problem: "no"} }
			w.serve(time.Minute, w.Store)
			d, err := w.GetAlertDestination(t.Context(), w.org, to)
			if n := len(w.requests()); err != nil || n != c.want || d.Enabled || d.DisabledReason == nil {
				t.Errorf("%d requests, %+v, %v", n, d, err)
			}
			for _, row := range w.list() {
				if row.Status != store.DeliveryFailed || row.AttemptNumber != 1 {
					t.Errorf("%+v", row)
				}
			}
		})
	}
}

// TestDeadDestination: destinations that do not answer delay no other one, of their own organization or of another.
func TestDeadDestination(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		start := time.Now()
		dead := map[uuid.UUID]bool{}
		for i := range 5 {
			id := w.destination(fmt.Sprint("dead ", i))
			dead[id] = true
			for range 40 {
				w.enqueue(id, uuid.New(), Trigger, start)
			}
		}
		alive := w.destination("alive")
		for range 40 {
			w.enqueue(alive, uuid.New(), Trigger, start)
		}
		var last time.Duration
		delivered := 0
		w.answer = func(d *Destination, _ string) Result {
			if dead[d.ID] {
				time.Sleep(15 * time.Second)
				return Result{Outcome: Failed, Problem: "no answer"}
			}
			time.Sleep(100 * time.Millisecond)
			w.mu.Lock()
			defer w.mu.Unlock()
			delivered++
			last = time.Since(start)
			return Result{Code: 200}
		}
		w.serve(time.Minute, w.Store)
		if delivered != 40 || last > 5*time.Second {
			t.Errorf("%d of 40 messages arrived, the last after %v", delivered, last)
		}
	})
}

// TestReminders: a reminder that waits gives way to a newer one.
func TestReminders(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		to, incident, start := w.destination("a"), uuid.New(), time.Now()
		down := true
		w.answer = func(*Destination, string) Result {
			if down {
				return Result{Outcome: Failed, Problem: "down"}
			}
			return Result{Code: 200}
		}
		w.enqueue(to, incident, Renotify, start)
		w.serve(10*time.Second, w.Store)
		down = false
		w.enqueue(to, incident, Renotify, start.Add(time.Minute))
		w.serve(5*time.Minute, w.Store)
		rows := w.list()
		if len(rows) != 3 || rows[1].Status != store.DeliveryFailed || *rows[1].ErrorMessage != "A newer reminder took its place." ||
			rows[2].Status != store.DeliverySuccess {
			t.Errorf("%+v", rows)
		}
		if n := len(w.requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// dying is a store whose process is killed at one of its calls: before it, or after it.
type dying struct {
	Deliveries
	mu    sync.Mutex
	calls int
	at    int
	after bool
	kill  context.CancelFunc
}

var errKilled = errors.New("the process is dead")

// step reports whether the process is dead before and after a call.
func (d *dying) step() (before, after bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.calls++
	switch {
	case d.calls > d.at, d.calls == d.at && !d.after:
		d.kill()
		return true, true
	case d.calls == d.at:
		d.kill()
		return false, true
	}
	return false, false
}

func (d *dying) BeginDelivery(
	ctx context.Context, f store.Fence, id uuid.UUID, now time.Time,
) (row store.Delivery, to store.AlertDestination, ok bool, err error) {
	before, after := d.step()
	if before {
		return row, to, false, errKilled
	}
	row, to, ok, err = d.Deliveries.BeginDelivery(context.WithoutCancel(ctx), f, id, now)
	if after {
		return row, to, false, errKilled
	}
	return row, to, ok, err
}

func (d *dying) EndDelivery(ctx context.Context, f store.Fence, id uuid.UUID, end store.DeliveryEnd) error {
	before, after := d.step()
	if before {
		return errKilled
	}
	err := d.Deliveries.EndDelivery(ctx, f, id, end)
	if after {
		return errKilled
	}
	return err
}

// TestKill kills the process before and after every step of three sends, and lets another one go on. Each message must arrive at least
// once, always under its key, and be recorded exactly once. Only messages that were under way can be repeated.
func TestKill(t *testing.T) {
	for at := 1; at <= 6; at++ {
		for _, after := range []bool{false, true} {
			inBubble(t, func(t *testing.T, w *world) {
				to, start := w.destination("a"), time.Now()
				for i := range 3 {
					w.enqueue(to, uuid.New(), Trigger, start.Add(time.Duration(i)*time.Second))
				}
				ctx, kill := context.WithCancel(t.Context())
				rows := &dying{Deliveries: w.Store, at: at, after: after, kill: kill}
				s := NewOutbox(OutboxConfig{Deliveries: rows, Sender: w, Logger: slog.New(slog.DiscardHandler)}).Shard(w.fence)
				for ctx.Err() == nil {
					if _, err := s.Step(ctx); err != nil {
						break
					}
					select {
					case <-ctx.Done():
					case <-s.Wake():
					}
				}
				s.Wait()
				old := w.fence
				w.lease() // another process takes over
				w.serve(time.Minute, w.Store)
				counts := map[string]int{}
				for _, key := range w.requests() {
					counts[key]++
				}
				repeated := 0
				for _, row := range w.list() {
					if row.Status != store.DeliverySuccess || row.AttemptNumber != 1 {
						t.Errorf("kill at %d (after: %v): %+v", at, after, row)
					}
					repeated += counts[row.DeliveryKey] - 1
					if counts[row.DeliveryKey] < 1 {
						t.Errorf("kill at %d (after: %v): %s did not arrive", at, after, row.DeliveryKey)
					}
				}
				if len(w.list()) != 3 || repeated > 2 { // the first one went alone, the two others together
					t.Errorf("kill at %d (after: %v): %d rows, %d repeats", at, after, len(w.list()), repeated)
				}
				if _, _, _, err := w.BeginDelivery(t.Context(), old, w.list()[0].ID, time.Now()); !errors.Is(err, store.ErrFenced) {
					t.Errorf("the process that is dead can still write: %v", err)
				}
			})
		}
	}
}

// TestTakeover: another process takes the shard over. The outbox here sends nothing more and ends its work, instead of meeting the new
// lease again and again.
func TestTakeover(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world) {
		to, start := w.destination("a"), time.Now()
		for i := range 3 {
			w.enqueue(to, uuid.New(), Trigger, start.Add(time.Duration(i)*time.Second))
		}
		time.Sleep(time.Minute)
		s := NewOutbox(OutboxConfig{Deliveries: w.Store, Sender: w, Logger: slog.New(slog.DiscardHandler)}).Shard(w.fence)
		w.lease()
		// The first step may already see the end of the attempt that it began.
		if _, err := s.Step(t.Context()); err == nil {
			<-s.Wake()
			if _, err = s.Step(t.Context()); !errors.Is(err, store.ErrFenced) {
				t.Errorf("the step after the takeover: %v", err)
			}
		} else if !errors.Is(err, store.ErrFenced) {
			t.Fatal(err)
		}
		s.Wait()
		if n := len(w.requests()); n != 0 {
			t.Errorf("%d requests under the old lease", n)
		}
	})
}

func TestPauses(t *testing.T) {
	for attempt, want := range map[int]time.Duration{
		1: time.Minute, 2: 2 * time.Minute, 4: 8 * time.Minute, 5: 15 * time.Minute,
		50: 15 * time.Minute,
	} {
		if got := retryPause(attempt); got < want || got > want+time.Second {
			t.Errorf("after attempt %d: %v", attempt, got)
		}
	}
	var h store.DestinationHealth
	now := time.Now()
	var pauses []time.Duration
	for range 8 {
		h = health(h, Result{Outcome: Failed}, now)
		if h.PausedUntil.IsZero() {
			pauses = append(pauses, 0)
		} else {
			pauses = append(pauses, h.PausedUntil.Sub(now))
		}
	}
	if fmt.Sprint(pauses) != "[0s 0s 1m0s 2m0s 4m0s 8m0s 15m0s 15m0s]" {
		t.Error(pauses)
	}
	if h = health(h, Result{}, now); h != (store.DestinationHealth{}) {
		t.Errorf("after a success: %+v", h)
	}
}

// TestWaitingDestination: messages that wait for a person never disable their destination, as refusals do.
func TestWaitingDestination(t *testing.T) {
	t.Parallel()
	for outcome, disabled := range map[Outcome]bool{Waiting: false, Unauthorized: true} {
		var h store.DestinationHealth
		for range 10 {
			h = health(h, Result{Outcome: outcome, Problem: "No."}, time.Now())
		}
		if (h.DisabledReason != "") != disabled {
			t.Errorf("outcome %d: %+v", outcome, h)
		}
	}
	now := time.Now()
	end := after(&store.Delivery{AttemptNumber: 1, CreatedAt: now}, Result{Outcome: Waiting, RetryAfter: limits.ChatWait}, now)
	if end.Status != store.DeliveryFailed || end.DueAt.Before(now.Add(limits.ChatWait)) {
		t.Errorf("the next attempt: %+v", end)
	}
}
