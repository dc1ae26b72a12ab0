package issues

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// run is a release in a script: it sends spans and errors at even rates from its start to its end.
type run struct {
	environment, version, commit string
	// from and to are hours after the fix; a to of 0 is for ever.
	from, to float64
	// spans and errors are rates an hour.
	spans, errors float64
}

// script is the telemetry of one service of one organization.
type script struct {
	org  principal.OrgID
	fix  time.Time
	runs []run
	down bool
	// with says of commits whether they contain that of the fix, as the source host knows.
	with map[string]bool
	// pull is the state of the pull request at the source host.
	pull PullRequest
}

func (s *script) PullRequest(context.Context, principal.OrgID, *store.ErrorIssuePullRequest) (PullRequest, error) {
	if s.pull.State == "" {
		return PullRequest{}, &Unreadable{Text: "No account is connected."}
	}
	return s.pull, nil
}

func (s *script) Contains(
	_ context.Context, _ principal.OrgID, link *store.ErrorIssuePullRequest, _ string, _ []string,
) (map[string]bool, error) {
	if link.URL != "https://github.com/shop/web/pull/7" {
		return nil, nil
	}
	return s.with, nil
}

func hours(n float64) time.Duration { return time.Duration(n * float64(time.Hour)) }

// overlap is the part of a run inside of a window.
func (s *script) overlap(r run, from, to time.Time) (start, end time.Time, ok bool) {
	start, end = s.fix.Add(hours(r.from)), to
	if r.to != 0 {
		end = s.fix.Add(hours(r.to))
	}
	if start.Before(from) {
		start = from
	}
	if end.After(to) {
		end = to
	}
	return start, end, end.After(start)
}

func (s *script) Releases(_ context.Context, org principal.OrgID, service string, from, to time.Time) ([]ServiceRelease, error) {
	if s.down {
		return nil, errors.New("the warehouse does not answer")
	}
	var out []ServiceRelease
	for _, r := range s.runs {
		start, end, ok := s.overlap(r, from, to)
		if !ok || org != s.org || service != "web" {
			continue
		}
		x := ServiceRelease{
			Environment: r.environment, Version: r.version, Commit: r.commit, First: start, Last: end.Add(-time.Minute), State: "current",
			Spans: r.spans * end.Sub(start).Hours(),
		}
		if at := slices.IndexFunc(out, func(o ServiceRelease) bool { return o.Environment == x.Environment && o.Version == x.Version }); at >= 0 {
			out[at].Last, out[at].Spans = x.Last, out[at].Spans+x.Spans // it came back
			continue
		}
		out = append(out, x)
	}
	for i := range out {
		for _, o := range out {
			if o.Environment == out[i].Environment && o.Last.After(out[i].Last.Add(10*time.Minute)) {
				out[i].State = "replaced"
				if o.First.Before(out[i].First) {
					out[i].State = releaseRolledBack
				}
			}
		}
	}
	return out, nil
}

func (s *script) Occurrences(_ context.Context, org principal.OrgID, hashes []string, from, to time.Time) ([]VersionCount, error) {
	var out []VersionCount
	for _, r := range s.runs {
		if start, end, ok := s.overlap(r, from, to); ok && org == s.org && slices.Contains(hashes, "11") {
			if n := math.Floor(r.errors*end.Sub(start).Hours() + 1e-9); n > 0 {
				out = append(out, VersionCount{Environment: r.environment, Version: r.version, Count: n})
			}
		}
	}
	return out, nil
}

const (
	merge = "4fc1a0b2c3d4e5f60718293a4b5c6d7e8f901234"
	later = "99c1a0b2c3d4e5f60718293a4b5c6d7e8f901234"
)

// before is the release with the error, until the fix is deployed.
func before(to float64) run { return run{"production", "1.0", "", -200, to, 1000, 10} }

// TestVerdicts plays deployments of fixes.
func TestVerdicts(t *testing.T) {
	type end struct{ status, reason string }
	low, high := "low", "high"
	for name, tc := range map[string]struct {
		severity *string
		commit   string
		runs     []run
		hours    float64
		state    string
		checks   []end
		by       string
		told     int
		with     map[string]bool
	}{
		"fixed": {
			nil, merge,
			[]run{before(1), {"production", "1.1", merge, 1, 0, 1000, 0}},
			4, "done",
			[]end{{"verified", ""}},
			"commit", 0,
			nil,
		},
		"fixed, low": {
			&low, merge,
			[]run{before(1), {"production", "1.1", merge, 1, 0, 1000, 0}},
			4, "done",
			[]end{{"verified", ""}},
			"commit", 0, nil,
		},
		"fixed, high: a person decides": {
			&high, merge,
			[]run{before(1), {"production", "1.1", merge, 1, 0, 1000, 0}},
			4, "verifying",
			[]end{{"verified", ""}},
			"commit", 0, nil,
		},
		"not fixed": {
			nil, merge,
			[]run{before(1), {"production", "1.1", merge, 1, 0, 1000, 10}},
			4, "todo",
			[]end{{"not_fixed", ""}},
			"commit",
			1, nil,
		},
		"only errors of old versions": {
			nil, merge,
			[]run{before(0), {"production", "1.1", merge, 1, 0, 500, 0}},
			4, "done",
			[]end{{"verified", ""}},
			"commit", 0, nil,
		},
		"a squash, and a short name": {
			nil, merge,
			[]run{before(1), {"production", "1.1", merge[:9], 1, 0, 1000, 0}},
			4, "done",
			[]end{{"verified", ""}},
			"commit", 0, nil,
		},
		"a release without the fix comes first": {nil, merge, []run{
			before(1), {"production", "1.1", later, 1, 1.75, 1000, 10}, {"production", "1.2", merge, 1.75, 0, 1000, 0},
		}, 5, "done", []end{{"verified", ""}}, "commit", 0, nil},
		"another commit, not fixed": {
			nil, merge,
			[]run{before(1), {"production", "1.1", later, 1, 0, 1000, 10}},
			5, "todo",
			[]end{{"not_fixed", ""}},
			"assumed", 1, nil,
		},
		"no commit: the next release": {
			nil, "",
			[]run{before(1), {"production", "1.1", "", 1, 0, 1000, 0}},
			4, "done",
			[]end{{"verified", ""}},
			"assumed", 0, nil,
		},
		"no commit, not fixed": {
			nil, "",
			[]run{before(1), {"production", "1.1", "", 1, 0, 1000, 10}},
			4, "todo",
			[]end{{"not_fixed", ""}},
			"assumed", 1, nil,
		},
		"too early": {
			nil, merge,
			[]run{before(3.5), {"production", "1.1", merge, 3.5, 0, 1000, 0}},
			4, "verifying",
			[]end{{"running", ""}},
			"commit", 0, nil,
		},
		"only in staging": {
			nil, "",
			[]run{before(0), {"staging", "1.1", "", 1, 0, 1000, 0}},
			4, "verifying",
			[]end{{"waiting", ""}},
			"", 0,
			nil,
		},
		"never deployed": {nil, merge, []run{before(0)}, 24*7 + 1, "in_review", []end{{"abandoned", "not_deployed"}}, "", 0, nil},
		"too little traffic, twice": {
			nil, merge,
			[]run{before(0), {"production", "1.1", merge, 1, 0, 0.1, 0}},
			24*6 + 4, "in_review",
			[]end{{"inconclusive", "no_traffic"}, {"abandoned", "no_traffic"}},
			"commit", 0, nil,
		},
		"rolled back, then deployed again": {nil, merge, []run{
			before(1),
			{"production", "1.1", merge, 1, 1.25, 1000, 0},
			{"production", "1.0", "", 1.25, 6, 1000, 10},
			{"production", "1.2", "", 6, 0, 1000, 0},
		}, 9, "done", []end{{"inconclusive", "rolled_back"}, {"verified", ""}}, "commit", 0, nil},
		"a later commit that contains the fix": {
			nil, merge,
			[]run{before(1), {"production", "1.1", later, 1, 0, 1000, 0}},
			4, "done",
			[]end{{"verified", ""}},
			"commit", 0,
			map[string]bool{later: true},
		},
		"a later commit that contains the fix, not fixed": {
			nil, merge,
			[]run{before(1), {"production", "1.1", later, 1, 0, 1000, 10}},
			4, "todo",
			[]end{{"not_fixed", ""}},
			"commit", 1,
			map[string]bool{later: true},
		},
		"a release from another branch is no release of the fix": {
			nil, merge,
			[]run{before(1), {"production", "1.1", later, 1, 0, 1000, 10}},
			5, "verifying",
			[]end{{"waiting", ""}},
			"", 0,
			map[string]bool{later: false},
		},
		"a release from another branch, then the fix": {
			nil, merge,
			[]run{before(1), {"production", "1.1", later, 1, 2, 1000, 10}, {"production", "1.2", merge, 2, 0, 1000, 0}},
			6, "done",
			[]end{{"verified", ""}},
			"commit", 0,
			map[string]bool{later: false},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, b *bed) {
				b.policy = DefaultPolicy()
				s := &script{org: b.org, fix: time.Now().UTC().Truncate(time.Minute).Add(-time.Hour), runs: tc.runs, with: tc.with}
				issue := b.fixed(t, s, tc.severity, tc.commit)
				b.play(t, s, hours(tc.hours))
				got, err := b.GetErrorIssue(t.Context(), b.org, issue)
				must(t, err)
				checks, err := b.ListErrorIssueVerifications(t.Context(), b.org, issue, 10)
				must(t, err)
				slices.Reverse(checks)
				var ends []end
				for i := range checks {
					e := end{status: checks[i].Status}
					if checks[i].Reason != nil {
						e.reason = *checks[i].Reason
					}
					ends = append(ends, e)
				}
				if got.WorkflowState != tc.state || !slices.Equal(ends, tc.checks) || len(b.told) != tc.told {
					t.Fatalf("the issue is %s, its checks %v, and %d messages were sent", got.WorkflowState, ends, len(b.told))
				}
				f, err := ReadFigures(checks[len(checks)-1].Figures)
				must(t, err)
				if f.DeployedBy != tc.by {
					t.Errorf("deployed by %q: %+v", f.DeployedBy, f)
				}
				if got.WorkflowState == store.IssueDone && !slices.Contains(got.ResolvedVersions, "1.0") {
					t.Errorf("resolved in %v", got.ResolvedVersions)
				}
				if open := got.OpenVerificationID != nil; open != (checks[len(checks)-1].EndedAt == nil) {
					t.Errorf("an open check: %v", open)
				}
			})
		})
	}
}

// fixed makes an issue that occurs in production, and reports the merge of its pull request.
func (b *bed) fixed(t *testing.T, s *script, severity *string, commit string) (id [16]byte) {
	t.Helper()
	b.send(t, occurrences(b.org, "11", 50, s.fix.Add(-200*time.Hour)))
	b.step(t, b.org)
	b.told = nil
	issue := b.list(t, b.org, store.IssueFilter{})[0].ID
	_, err := b.ChangeLinkedErrorIssue(t.Context(), b.org, issue, func(r *store.IssueRecord, links []store.ErrorIssuePullRequest) error {
		r.Severity = severity
		link := store.ErrorIssuePullRequest{
			Provider: "github", RepoFullName: "shop/web", Number: 7, URL: "https://github.com/shop/web/pull/7", State: store.PullRequestMerged,
			MergedAt: &s.fix, LinkSource: "agent",
		}
		if commit != "" {
			link.MergeCommitSha = &commit
		}
		return Link(r, link, links, Act{At: s.fix})
	})
	must(t, err)
	if i, err := b.GetErrorIssue(t.Context(), b.org, issue); err != nil || i.WorkflowState != store.IssueVerifying ||
		i.MergedPullRequestCount != 1 {
		t.Fatalf("after the merge: %s, %v", i.WorkflowState, err)
	}
	return issue
}

// play looks at a script every few minutes of a clock.
func (b *bed) play(t *testing.T, s *script, length time.Duration) {
	t.Helper()
	now := s.fix
	c := NewChecker(CheckConfig{
		Store: b.Store, Telemetry: s, Code: s, Teller: b.teller, Events: testEvents, Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return now },
	})
	shard := c.Shard(b.fences[place{store.WorkIssueChecks, store.ShardOf(store.WorkIssueChecks, string(b.org))}])
	step := 10 * time.Minute
	if length > 48*time.Hour {
		step = 4 * time.Hour
	}
	for ; !now.After(s.fix.Add(length)); now = now.Add(step) {
		_, err := shard.Step(t.Context())
		must(t, err)
	}
}

// TestFixNamedWithDone closes an issue with the version of its fix: old versions may still fail, the new one may not.
func TestFixNamedWithDone(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		now := time.Now().UTC().Truncate(time.Minute)
		s := &script{org: b.org, fix: now.Add(-3 * time.Hour), runs: []run{before(0), {"production", "1.1", "", 1, 0, 1000, 10}}}
		b.send(t, occurrences(b.org, "11", 50, s.fix.Add(-200*time.Hour)))
		b.step(t, b.org)
		issue := b.list(t, b.org, store.IssueFilter{})[0].ID
		_, err := b.ChangeErrorIssue(t.Context(), b.org, issue, func(r *store.IssueRecord) error {
			act, version := Act{At: s.fix, Versions: []string{"1.0"}}, "1.1"
			if err := Move(r, store.IssueDone, act); err != nil {
				return err
			}
			Await(r, &version, nil, act)
			return nil
		})
		must(t, err)
		late := occurrences(b.org, "11", 5, s.fix.Add(30*time.Minute))
		late.Versions = map[string]time.Time{"0.9": late.Last} // it did not run when the issue was closed
		b.send(t, late)
		b.step(t, b.org)
		b.play(t, s, 50*time.Minute)
		if i, err := b.GetErrorIssue(t.Context(), b.org, issue); err != nil || i.WorkflowState != store.IssueDone {
			t.Fatalf("an old version fails: %s, %v", i.WorkflowState, err)
		}
		b.play(t, s, 2*time.Hour)
		i, err := b.GetErrorIssue(t.Context(), b.org, issue)
		if err != nil || i.WorkflowState != store.IssueRegressed || i.RegressionCount != 1 || i.Told {
			t.Fatalf("the new version fails: %+v, %v", i, err)
		}
	})
}

// TestChecksAndOthers lets people, failures and deletion come between a fix and its verdict.
func TestChecksAndOthers(t *testing.T) {
	each(t, func(t *testing.T, b *bed) {
		s := &script{org: b.org, fix: time.Now().UTC().Truncate(time.Minute).Add(-time.Hour)}
		s.runs = []run{before(1), {"production", "1.1", merge, 1, 0, 1000, 0}}
		issue := b.fixed(t, s, nil, merge)
		s.down = true
		b.play(t, s, 5*time.Hour)
		if i, err := b.GetErrorIssue(t.Context(), b.org, issue); err != nil || i.WorkflowState != store.IssueVerifying {
			t.Fatalf("without the warehouse: %s, %v", i.WorkflowState, err)
		}
		s.down = false
		_, err := b.ChangeErrorIssue(t.Context(), b.org, issue, func(r *store.IssueRecord) error {
			return Move(r, store.IssueTodo, Act{At: s.fix.Add(5 * time.Hour)})
		})
		must(t, err)
		b.play(t, s, 9*time.Hour)
		checks, err := b.ListErrorIssueVerifications(t.Context(), b.org, issue, 10)
		if err != nil || len(checks) != 1 || checks[0].Status != store.VerificationAbandoned || *checks[0].Reason != reasonSuperseded ||
			checks[0].DueAt != nil {
			t.Fatalf("after a move: %+v, %v", checks, err)
		}
		if i, err := b.GetErrorIssue(t.Context(), b.org, issue); err != nil || i.WorkflowState != store.IssueTodo || i.OpenVerificationID != nil {
			t.Fatalf("after a move: %+v, %v", i, err)
		}
		if theirs, err := b.ListErrorIssueVerifications(t.Context(), b.other, issue, 10); err != nil || len(theirs) != 0 {
			t.Fatalf("another organization sees %d checks, %v", len(theirs), err)
		}
	})
}
