package issues

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Notice is news about issues of an organization.
type Notice struct {
	// Event is the type of the message.
	Event  string
	Issues []*store.IssueRecord
	// Count is the number of issues of a digest, of which Issues are the first.
	Count int
	At    time.Time
	// By is the name of the actor of a change.
	By string
	// Key is the same for a repetition of the notice.
	Key string
}

// Teller writes messages of one organization for its destinations.
type Teller struct {
	Policy NotificationPolicy
	// Messages returns the rows of the outbox: one for each enabled destination of the policy. It is empty without destinations.
	Messages func(Notice) ([]store.NewDelivery, error)
}

// Events of notices that the worker makes.
type Events struct{ FirstSeen, Regression, Quiet, Digest string }

// Config configures a Worker.
type Config struct {
	Store *store.Store
	// Teller returns the teller of an organization.
	Teller func(ctx context.Context, org principal.OrgID) (*Teller, error)
	Events Events
}

// Worker applies occurrences, and ends leases, pauses and incidents that are over, for the shards of this process.
type Worker struct {
	cfg Config

	mu      sync.Mutex
	looked  time.Time
	waiting map[int]time.Time
}

// NewWorker returns a worker.
func NewWorker(cfg Config) *Worker { return &Worker{cfg: cfg} }

// Lag is the age of the oldest occurrences that wait, in all shards.
func (w *Worker) Lag() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lag time.Duration
	for _, at := range w.waiting {
		lag = max(lag, time.Since(at))
	}
	return lag
}

// waits says whether occurrences wait for a shard. All shards of the process share one look into the database.
func (w *Worker) waits(ctx context.Context, shard int) (bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if time.Since(w.looked) >= limits.IssueLook/2 {
		waiting, err := w.cfg.Store.WaitingErrorSums(ctx)
		if err != nil {
			return false, err
		}
		w.waiting, w.looked = waiting, time.Now()
	}
	_, ok := w.waiting[shard]
	return ok, nil
}

// Shard is the work of one shard.
type Shard struct {
	w     *Worker
	fence store.Fence
	tick  time.Time
}

// Shard returns the work of a shard under a lease.
func (w *Worker) Shard(f store.Fence) *Shard { return &Shard{w: w, fence: f} }

// Step does the work that is due, and returns the time of the next step.
func (s *Shard) Step(ctx context.Context) (time.Time, error) {
	waits, err := s.w.waits(ctx, s.fence.Number)
	if err != nil {
		return time.Time{}, err
	}
	var failed []error
	if waits {
		failed = append(failed, s.apply(ctx))
	}
	now := time.Now()
	ticks := now.Sub(s.tick) >= limits.IssueTick || now.Before(s.tick)
	if ticks {
		failed = append(failed, s.end(ctx, now))
	}
	// News that waits for more occurrences, or for the next digest, is looked at again with them, or at the next tick.
	if waits || ticks {
		failed = append(failed, s.tell(ctx, now))
	}
	if ticks && errors.Join(failed...) == nil {
		s.tick = now
	}
	return now.Add(limits.IssueLook), errors.Join(failed...)
}

// apply applies the waiting occurrences, one transaction of each organization in turn.
func (s *Shard) apply(ctx context.Context) error {
	orgs, err := s.w.cfg.Store.WaitingOrganizations(ctx, s.fence.Number)
	var failed []error
	for len(orgs) > 0 && err == nil {
		var more []principal.OrgID
		for _, org := range orgs {
			n, err := s.w.cfg.Store.ApplyErrorSums(ctx, s.fence, org, limits.IssueBatch, func(b *store.IssueBatch) error {
				return Apply(b, time.Now().UTC())
			})
			switch {
			case errors.Is(err, store.ErrFenced) || ctx.Err() != nil:
				return err
			case err != nil:
				failed = append(failed, fmt.Errorf("issues: organization %s: %w", org, err))
			case n == limits.IssueBatch:
				more = append(more, org)
			}
		}
		orgs = more
	}
	s.w.mu.Lock()
	delete(s.w.waiting, s.fence.Number)
	s.w.mu.Unlock()
	return errors.Join(append(failed, err)...)
}

// end ends leases, pauses and incidents that are over, and archives and deletes old issues.
func (s *Shard) end(ctx context.Context, now time.Time) error {
	now = now.UTC()
	refs, err := s.w.cfg.Store.OverdueErrorIssues(ctx, s.fence.Number, store.IssueTimes{
		Now: now, Quiet: now.Add(-limits.IssueQuiet), Done: now.Add(-limits.IssueArchive),
	}, limits.IssueTickRows)
	if err != nil {
		return err
	}
	due := map[principal.OrgID][]uuid.UUID{}
	for _, ref := range refs {
		due[ref.Org] = append(due[ref.Org], ref.ID)
	}
	for org, ids := range due {
		t, err := s.w.cfg.Teller(ctx, org)
		if err != nil {
			return err
		}
		for part := range slices.Chunk(ids, limits.IssueTickTogether) {
			err := s.w.cfg.Store.TickErrorIssues(ctx, s.fence, org, part, func(r *store.IssueRecord) error { return s.over(t, r, now) })
			if err != nil {
				return err
			}
		}
	}
	return s.w.cfg.Store.DeleteArchivedErrorIssues(ctx, s.fence, now.Add(-limits.IssueDelete), limits.IssueTickRows)
}

func (s *Shard) over(t *Teller, r *store.IssueRecord, now time.Time) error {
	Expire(r, now)
	Wake(r, now)
	Archive(r, now)
	if !Quiet(r, now) || !t.Policy.Enabled || !t.Policy.OnResolve || !r.Told {
		return nil
	}
	return t.add(r, Notice{Event: s.w.cfg.Events.Quiet, At: now, Key: "quiet:" + r.Incident.ID.String()})
}

// add adds the messages of a notice about one issue to its record.
func (t *Teller) add(r *store.IssueRecord, n Notice) error {
	n.Issues, n.Count = []*store.IssueRecord{r}, 1
	rows, err := t.Messages(n)
	r.Deliveries = append(r.Deliveries, rows...)
	return err
}

// tell sends the news of new and of regressed issues: one message an issue, or a digest when they are many.
func (s *Shard) tell(ctx context.Context, now time.Time) error {
	orgs, err := s.w.cfg.Store.UntoldOrganizations(ctx, s.fence.Number)
	if err != nil {
		return err
	}
	for _, org := range orgs {
		t, err := s.w.cfg.Teller(ctx, org)
		if err != nil {
			return err
		}
		least := max(t.Policy.MinOccurrences, 1)
		if !t.Policy.Enabled {
			least = 0
		}
		err = s.w.cfg.Store.TellErrorIssues(
			ctx, s.fence, org, least, now.Add(-limits.IssueNoticeTime), s.w.cfg.Events.Digest, limits.IssueDigest+1,
			func(u *store.UntoldIssues) (int, error) { return s.news(t, u, now.UTC()) },
		)
		if err != nil {
			return err
		}
	}
	return nil
}

// news decides about the messages of one organization.
func (s *Shard) news(t *Teller, u *store.UntoldIssues, now time.Time) (int, error) {
	if !t.Policy.Enabled {
		return store.TellAll, nil
	}
	var wanted []*store.IssueRecord
	for _, r := range u.Issues {
		if t.wants(r) {
			wanted = append(wanted, r)
		} else {
			r.Told = true
		}
	}
	switch {
	case len(wanted) == 0:
		return store.TellNoMore, nil
	case u.Recent+u.Count <= limits.IssueNotices:
		for _, r := range wanted {
			r.Told = true
			n := Notice{Event: s.w.cfg.Events.FirstSeen, At: r.FirstSeenAt, Key: "first_seen"}
			if r.WorkflowState == store.IssueRegressed {
				n = Notice{Event: s.w.cfg.Events.Regression, At: *r.LastRegressedAt, Key: fmt.Sprintf("regression:%d", r.RegressionCount)}
			}
			if err := t.add(r, n); err != nil {
				return 0, err
			}
		}
		return store.TellNoMore, nil
	case u.Digest:
		return store.TellNoMore, nil // the next digest has them
	}
	named := wanted[:min(len(wanted), limits.IssueDigest)]
	rows, err := t.Messages(Notice{
		Event: s.w.cfg.Events.Digest, Issues: named, Count: max(u.Count-len(u.Issues)+len(wanted), len(named)), At: now,
		Key: fmt.Sprintf("digest:%s:%d", named[0].Org, now.Unix()),
	})
	if err != nil {
		return 0, err
	}
	named[0].Deliveries = append(named[0].Deliveries, rows...)
	return store.TellEnough, nil
}

// wants says whether the news of an issue is sent.
func (t *Teller) wants(r *store.IssueRecord) bool {
	switch {
	case quiet(r.WorkflowState):
		return false
	case r.WorkflowState == store.IssueRegressed:
		return t.Policy.OnRegression
	default:
		return t.Policy.OnFirstSeen && r.RegressionCount == 0
	}
}
