package issues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// place is a shard.
type place struct {
	kind   string
	number int
}

type bed struct {
	*store.Store
	org, other principal.OrgID
	fences     map[place]store.Fence
	flush      int64
	policy     NotificationPolicy
	told       []Notice
	w          *Worker
}

func open(t testing.TB, cfg store.Config) *bed {
	t.Helper()
	s, err := store.Open(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	b := &bed{Store: s, fences: map[place]store.Fence{}}
	for i, org := range []*principal.OrgID{&b.org, &b.other} {
		out, err := s.CreateOrganization(t.Context(), store.NewOrganization{
			Name:  fmt.Sprintf("Org %d", i),
			Admin: &store.NewUser{Email: fmt.Sprintf("%d@example.com", i)},
		})
		must(t, err)
		*org = out.Organization.ID
	}
	node := store.WorkNode{ID: uuid.New(), Kinds: []string{store.WorkIssues, store.WorkIssueChecks}}
	must(t, s.JoinWork(t.Context(), node))
	fences, err := s.BeatWork(t.Context(), node)
	must(t, err)
	for _, f := range fences {
		b.fences[place{f.Kind, f.Number}] = f
	}
	b.w = NewWorker(Config{Store: s, Events: testEvents, Teller: b.teller})
	return b
}

var testEvents = Events{"new", "back", "quiet", "digest"}

func (b *bed) teller(context.Context, principal.OrgID) (*Teller, error) {
	return &Teller{Policy: b.policy, Messages: func(n Notice) ([]store.NewDelivery, error) {
		b.told = append(b.told, n)
		return []store.NewDelivery{{
			Subject: store.SubjectIssue, DestinationID: uuid.Max, DestinationType: "webhook", EventType: n.Event, Payload: json.RawMessage(`{}`),
			ScheduledAt: n.At, DeliveryKey: fmt.Sprintf("%s:%s", n.Issues[0].ID, n.Key),
		}}, nil
	}}, nil
}

// each runs a test on both databases.
func each(t *testing.T, test func(*testing.T, *bed)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, store.Config{Path: filepath.Join(t.TempDir(), "svc.db")}))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, store.Config{URL: pgtest.Start(t).NewDatabase(t)}))
	})
}

func (b *bed) send(t testing.TB, sums ...store.ErrorSum) {
	t.Helper()
	b.flush++
	must(t, b.FlushErrorSums(t.Context(), "node", b.flush, sums))
}

func (b *bed) step(t *testing.T, org principal.OrgID) {
	t.Helper()
	b.w.looked = time.Time{}
	s := b.w.Shard(b.fences[place{store.WorkIssues, store.ShardOf(store.WorkIssues, string(org))}])
	_, err := s.Step(t.Context())
	must(t, err)
}

func (b *bed) list(t *testing.T, org principal.OrgID, f store.IssueFilter) []store.ErrorIssue {
	t.Helper()
	out, err := b.ListErrorIssues(t.Context(), org, f, 1000)
	must(t, err)
	return out
}

func occurrences(org principal.OrgID, hash string, n int64, at time.Time) store.ErrorSum {
	s := *sum(hash, n, at, at, "1.0")
	s.Org, s.Label, s.Environments = org, "Oops", map[string]time.Time{"production": at}
	return s
}

// TestOccurrences carries sums from a flush to an issue: repeated flushes count once, and organizations stay apart.
func TestOccurrences(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		sums := []store.ErrorSum{
			occurrences(b.org, "11", 2, now), occurrences(b.org, "12", 5, now), occurrences(b.other, "11", 1, now),
			occurrences("org_gone", "1", 9, now),
		}
		b.send(t, sums...)
		must(t, b.FlushErrorSums(t.Context(), "node", b.flush, sums)) // its outcome was not known
		must(t, b.FlushErrorSums(t.Context(), "node", b.flush-1, sums))
		b.send(t, occurrences(b.org, "11", 3, now.Add(time.Second)))
		b.step(t, b.org)
		b.step(t, b.other)
		mine, theirs := b.list(t, b.org, store.IssueFilter{}), b.list(t, b.other, store.IssueFilter{})
		if len(mine) != 2 || len(theirs) != 1 || mine[0].FingerprintHash != "11" || mine[0].OccurrenceCount != 5 ||
			mine[1].OccurrenceCount != 5 ||
			theirs[0].OccurrenceCount != 1 || mine[0].EstimatedCount != 10 || !mine[0].LastSeenAt.Equal(now.Add(time.Second)) {
			t.Fatalf("mine %+v\ntheirs %+v", mine, theirs)
		}
		if n, err := b.ErrorSumsFlushed(t.Context(), "node"); err != nil || n != b.flush {
			t.Errorf("flushed %d, %v", n, err)
		}
		if waiting, err := b.WaitingErrorSums(t.Context()); err != nil || len(waiting) > 0 {
			t.Errorf("waiting %v, %v", waiting, err)
		}
		for name, f := range map[string]store.IssueFilter{
			"fingerprint": {Fingerprints: []string{"11"}}, "environment": {Environment: "production"}, "search": {Search: "OOP"},
			"state": {State: "triage"}, "unset": {Severity: "unset"}, "actionable": {Actionable: &now}, "type": {ExceptionType: "Oops"},
			"kind": {Kind: "error"}, "seen": {SeenAfter: &now}, "by severity": {BySeverity: true}, "introduced": {IntroducedAfter: &now},
		} {
			if n := len(b.list(t, b.org, f)); n == 0 {
				t.Errorf("%s finds nothing", name)
			}
			if n, err := b.CountErrorIssues(t.Context(), b.org, f); err != nil || n == 0 {
				t.Errorf("%s counts %d, %v", name, n, err)
			}
		}
		for name, f := range map[string]store.IssueFilter{
			"fingerprint": {Fingerprints: []string{"99"}}, "environment": {Environment: "prod"}, "search": {Search: "%"},
			"severity": {Severity: "high"},
			"service":  {Service: "x"},
		} {
			if n := len(b.list(t, b.org, f)); n != 0 {
				t.Errorf("%s finds %d", name, n)
			}
		}
		// The pages of a list have each issue once.
		for _, by := range []bool{false, true} {
			var seen []uuid.UUID
			f := store.IssueFilter{BySeverity: by}
			for {
				page, err := b.ListErrorIssues(t.Context(), b.org, f, 1)
				must(t, err)
				if len(page) == 0 {
					break
				}
				seen = append(seen, page[0].ID)
				f.After = &store.IssuePlace{Rank: page[0].SeverityRank, LastSeen: page[0].LastSeenAt, ID: page[0].ID}
			}
			if len(seen) != 2 || seen[0] == seen[1] {
				t.Errorf("pages: %v", seen)
			}
		}
		if _, err := b.ErrorIssue(t.Context(), b.other, mine[0].ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another organization reads an issue: %v", err)
		}
		_, err := b.ChangeErrorIssue(t.Context(), b.other, mine[0].ID, func(*store.IssueRecord) error { t.Error("called"); return nil })
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("another organization changes an issue: %v", err)
		}
	})
}

// TestMergeAndSplit merges two issues and splits them again: every count is as before, and nothing joins by itself.
func TestMergeAndSplit(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		b.send(t, occurrences(b.org, "1", 2, now.Add(-time.Hour)), occurrences(b.org, "2", 5, now))
		b.step(t, b.org)
		list := b.list(t, b.org, store.IssueFilter{})
		a, z := list[1], list[0]
		public := func(id uuid.UUID) string { return id.String() }
		merged, err := b.MergeErrorIssues(t.Context(), b.org, a.ID, []uuid.UUID{z.ID},
			func(into *store.IssueRecord, from []*store.IssueRecord) error {
				Merge(into, from, public, Act{At: now})
				return nil
			})
		must(t, err)
		if merged.OccurrenceCount != 7 || merged.EstimatedCount != 14 || !merged.LastSeenAt.Equal(now) ||
			!merged.FirstSeenAt.Equal(a.FirstSeenAt) {
			t.Errorf("merged: %+v", merged)
		}
		if found, err := b.ErrorIssue(t.Context(), b.org, z.ID); err != nil || found.ID != a.ID {
			t.Errorf("the old id leads to %v, %v", found.ID, err)
		}
		if list := b.list(t, b.org, store.IssueFilter{}); len(list) != 1 {
			t.Errorf("%d issues after the merge", len(list))
		}
		b.send(t, occurrences(b.org, "2", 1, now.Add(time.Second)))
		b.step(t, b.org)
		if got := b.list(t, b.org, store.IssueFilter{})[0]; got.ID != a.ID || got.OccurrenceCount != 8 {
			t.Errorf("after a further occurrence: %+v", got)
		}
		split := func(hashes ...string) (store.ErrorIssue, error) {
			return b.SplitErrorIssue(t.Context(), b.org, a.ID, hashes, func(from, made *store.IssueRecord) error {
				Split(from, made, hashes, public, Act{At: now})
				return nil
			})
		}
		for _, hashes := range [][]string{{"9"}, {"1", "2"}, {"2", "2"}} {
			if _, err := split(hashes...); !errors.Is(err, store.ErrFingerprints) {
				t.Errorf("split of %v: %v", hashes, err)
			}
		}
		made, err := split("2")
		must(t, err)
		if made.OccurrenceCount != 6 || !made.FirstSeenAt.Equal(z.FirstSeenAt) || made.WorkflowState != store.IssueTriage {
			t.Errorf("split off: %+v", made)
		}
		rest, err := b.ErrorIssue(t.Context(), b.org, a.ID)
		must(t, err)
		if rest.OccurrenceCount != 2 || rest.EstimatedCount != 4 || !rest.LastSeenAt.Equal(a.LastSeenAt) {
			t.Errorf("the rest: %+v", rest)
		}
		b.send(t, occurrences(b.org, "2", 1, now.Add(time.Minute)), occurrences(b.org, "1", 1, now.Add(time.Minute)))
		b.step(t, b.org)
		counts := []int64{}
		for _, i := range b.list(t, b.org, store.IssueFilter{}) {
			counts = append(counts, i.OccurrenceCount)
		}
		slices.Sort(counts)
		if !slices.Equal(counts, []int64{3, 7}) {
			t.Errorf("counts after the split: %v", counts)
		}
	})
}

// TestEnds lets leases, pauses, incidents and issues end.
func TestEnds(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		b.policy = NotificationPolicy{Enabled: true, OnResolve: true, MinOccurrences: 1}
		for i, hash := range []string{"lease", "pause", "old", "quiet"} {
			b.send(t, occurrences(b.org, hash, 1, now.Add(time.Duration(i)*time.Millisecond)))
		}
		b.step(t, b.org)
		actor, err := b.EnsureActor(t.Context(), b.org, store.IssueActor{Type: store.ActorTypeAgent, Name: "key:a"})
		must(t, err)
		byHash := map[string]uuid.UUID{}
		for _, i := range b.list(t, b.org, store.IssueFilter{}) {
			byHash[i.FingerprintHash] = i.ID
		}
		edit := func(hash string, change func(*store.IssueRecord) error) {
			_, err := b.ChangeErrorIssue(t.Context(), b.org, byHash[hash], change)
			must(t, err)
		}
		past := now.Add(-2 * limits.IssueLeaseLongest)
		for _, hash := range []string{"lease", "quiet"} {
			edit(hash, func(r *store.IssueRecord) error { r.Incident.LastTriggeredAt = now.Add(-limits.IssueQuiet); return nil })
		}
		edit("lease", func(r *store.IssueRecord) error { return Claim(r, time.Minute, Act{Actor: &actor.ID, At: past}) })
		soon := past.Add(time.Minute)
		edit("pause", func(r *store.IssueRecord) error { return Move(r, store.IssueWontfix, Act{At: past, Snooze: &soon}) })
		edit("old", func(r *store.IssueRecord) error {
			return Move(r, store.IssueDone, Act{At: now.Add(-limits.IssueArchive - time.Minute)})
		})
		b.step(t, b.org)
		states := map[string]string{}
		for _, i := range b.list(t, b.org, store.IssueFilter{Archived: true}) {
			states[i.FingerprintHash] = i.WorkflowState
			if i.OpenIncidentID != nil || (i.ArchivedAt != nil) != (i.FingerprintHash == "old") || i.LeaseHolderID != nil {
				t.Errorf("%s: %+v", i.FingerprintHash, i)
			}
		}
		if states["lease"] != store.IssueTodo || states["pause"] != store.IssueTriage || states["old"] != store.IssueDone {
			t.Errorf("states %v", states)
		}
		if n := len(b.list(t, b.org, store.IssueFilter{})); n != 3 {
			t.Errorf("%d issues that are not archived", n)
		}
		if len(b.told) != 2 || b.told[0].Event != "quiet" || b.told[1].Event != "quiet" {
			t.Errorf("told %v", b.told)
		}
		edit("old", func(r *store.IssueRecord) error {
			long := now.Add(-limits.IssueDelete - time.Hour)
			r.ArchivedAt = &long
			return nil
		})
		b.step(t, b.org)
		if n := len(b.list(t, b.org, store.IssueFilter{Archived: true})); n != 3 {
			t.Errorf("%d issues after the old one was deleted", n)
		}
	})
}

// TestNews sends messages about new issues one by one, and a digest when they are many. Each issue is in one message.
func TestNews(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		now := time.Now().UTC().Truncate(time.Microsecond)
		b.policy = DefaultPolicy()
		b.policy.MinOccurrences = 2
		b.send(t, occurrences(b.org, "once", 1, now), occurrences(b.org, "twice", 2, now))
		b.step(t, b.org)
		if len(b.told) != 1 || b.told[0].Event != "new" || b.told[0].Issues[0].FingerprintHash != "twice" {
			t.Fatalf("told %+v", b.told)
		}
		b.send(t, occurrences(b.org, "once", 1, now))
		b.step(t, b.org)
		b.step(t, b.org)
		if len(b.told) != 2 || b.told[1].Issues[0].FingerprintHash != "once" {
			t.Fatalf("told %+v", b.told)
		}
		var many []store.ErrorSum
		for i := range 100 {
			many = append(many, occurrences(b.org, fmt.Sprint(i), 2, now.Add(time.Duration(i)*time.Millisecond)))
		}
		b.send(t, many...)
		b.step(t, b.org)
		b.step(t, b.org)
		if len(b.told) != 3 || b.told[2].Event != "digest" || b.told[2].Count != 100 || len(b.told[2].Issues) != limits.IssueDigest {
			t.Fatalf("told %d times: %+v", len(b.told), b.told[2:])
		}
		b.policy.Enabled = false
		b.send(t, occurrences(b.org, "silent", 9, now))
		b.step(t, b.org)
		b.policy.Enabled = true
		b.step(t, b.org)
		if len(b.told) != 3 {
			t.Fatalf("told %d times", len(b.told))
		}
	})
}
