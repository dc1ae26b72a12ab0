package issues

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Telemetry has the reads that the checks of fixes need.
type Telemetry interface {
	// Releases returns the releases of a service in a window.
	Releases(ctx context.Context, org principal.OrgID, service string, from, to time.Time) ([]ServiceRelease, error)
	// Occurrences counts the errors of fingerprints in a window by environment and version.
	Occurrences(ctx context.Context, org principal.OrgID, hashes []string, from, to time.Time) ([]VersionCount, error)
}

// CheckConfig configures a Checker.
type CheckConfig struct {
	Store     *store.Store
	Telemetry Telemetry
	Code      Code
	// Teller returns the teller of an organization.
	Teller func(ctx context.Context, org principal.OrgID) (*Teller, error)
	Events Events
	Logger *slog.Logger
	// Now is time.Now outside of tests.
	Now func() time.Time
}

// Checker looks into telemetry for the issues of an organization: whether fixes hold.
type Checker struct{ cfg CheckConfig }

// NewChecker returns a checker.
func NewChecker(cfg CheckConfig) *Checker { return &Checker{cfg: cfg} }

// CheckShard is the work of one shard.
type CheckShard struct {
	*Checker
	fence store.Fence
}

// Shard returns the work of a shard under a lease.
func (c *Checker) Shard(f store.Fence) *CheckShard { return &CheckShard{c, f} }

// Step does the work that is due, and returns the time of the next step. Telemetry that cannot be read delays one check, not the others.
func (s *CheckShard) Step(ctx context.Context) (time.Time, error) {
	now := s.cfg.Now().UTC()
	due, err := s.cfg.Store.DueVerifications(ctx, s.fence.Number, now, limits.IssueCheckRows)
	if err != nil {
		return time.Time{}, err
	}
	for i := range due {
		err := s.check(ctx, &due[i])
		switch {
		case errors.Is(err, store.ErrFenced) || ctx.Err() != nil:
			return time.Time{}, err
		case err != nil:
			s.cfg.Logger.Warn("a fix could not be checked; svc tries again", "organization", due[i].Org, "verification", due[i].ID, "error", err)
			if err := s.postpone(ctx, due[i]); err != nil {
				return time.Time{}, err
			}
		}
	}
	if err := s.followPullRequests(ctx, now); err != nil {
		return time.Time{}, err
	}
	return now.Add(limits.IssueCheckLook), nil
}

// postpone makes a check due again later, with the figures that it has.
func (s *CheckShard) postpone(ctx context.Context, v store.ErrorIssueVerification) error {
	next := s.cfg.Now().UTC().Add(limits.IssueCheckEvery)
	v.DueAt = &next
	return s.cfg.Store.NoteVerification(ctx, s.fence, v)
}

// check looks at the releases and occurrences of one fix, and notes the figures or the verdict.
func (s *CheckShard) check(ctx context.Context, v *store.ErrorIssueVerification) error {
	issue, err := s.cfg.Store.GetErrorIssue(ctx, v.Org, v.IssueID)
	if errors.Is(err, store.ErrNotFound) {
		return nil // it was deleted, and the check with it
	}
	if err != nil {
		return err
	}
	seen, err := s.look(ctx, v, &issue)
	if err != nil {
		return err
	}
	status, reason, figures := seen.judge()
	at := seen.at
	if len(seen.found) > 0 {
		deployed := seen.fix.deployed(seen.found)
		v.DeployedAt = &deployed
	}
	if status == store.VerificationWaiting || status == store.VerificationRunning {
		v.Status, v.CheckedAt = status, &at
		if v.Figures, err = json.Marshal(figures); err != nil {
			return err
		}
		return s.postpone(ctx, *v)
	}
	teller, err := s.cfg.Teller(ctx, v.Org)
	if err != nil {
		return err
	}
	return s.cfg.Store.TickErrorIssues(ctx, s.fence, v.Org, []uuid.UUID{v.IssueID}, func(r *store.IssueRecord) error {
		if r.Verification == nil || r.Verification.ID != v.ID || r.Verification.EndedAt != nil {
			return nil // somebody else decided meanwhile
		}
		r.Verification.DeployedAt = v.DeployedAt
		broken, err := conclude(r, outcome{status, reason, figures, seen.without()}, at)
		if err != nil || !broken || r.WorkflowState == store.IssueRegressed {
			return err // the worker of issues sends messages about a regression
		}
		return s.notFixed(teller, r, v.ID, at)
	})
}

// notFixed tells that an error goes on in a release with its fix.
func (s *CheckShard) notFixed(t *Teller, r *store.IssueRecord, check uuid.UUID, at time.Time) error {
	if !t.Policy.Enabled || !t.Policy.OnRegression {
		return nil
	}
	return t.add(r, Notice{Event: s.cfg.Events.Regression, At: at, Key: "not_fixed:" + check.String()})
}

// look reads the telemetry about a fix.
func (s *CheckShard) look(ctx context.Context, v *store.ErrorIssueVerification, issue *store.ErrorIssue) (*view, error) {
	now := s.cfg.Now().UTC()
	out := &view{fix: fixOf(v, issue), at: now}
	start := v.FixedAt.Add(-limits.IssueRateWindow)
	if least := now.Add(-limits.ReleaseWindow); start.Before(least) {
		start = least
	}
	start = start.Truncate(time.Minute)
	var err error
	if out.all, err = s.cfg.Telemetry.Releases(ctx, v.Org, issue.ServiceName, start, now); err != nil {
		return nil, fmt.Errorf("read releases: %w", err)
	}
	if err := s.contained(ctx, v, &out.fix, out.all); err != nil {
		return nil, err
	}
	out.found, out.by = out.fix.releases(out.all, start)
	active := out.fix.active(out.found)
	if len(active) == 0 {
		return out, nil
	}
	hashes, err := s.hashes(ctx, issue)
	if err != nil {
		return nil, err
	}
	since, began := out.fix.deployed(active), first(out.found)
	if out.since, err = s.cfg.Telemetry.Releases(ctx, v.Org, issue.ServiceName, since, now); err != nil {
		return nil, fmt.Errorf("read releases: %w", err)
	}
	if out.counts, err = s.cfg.Telemetry.Occurrences(ctx, v.Org, hashes, since, now); err != nil {
		return nil, fmt.Errorf("read occurrences: %w", err)
	}
	// The rate before the fix is that of the last days, or of the life of a younger issue.
	from := began.Add(-limits.IssueRateWindow)
	if issue.FirstSeenAt.After(from) {
		from = issue.FirstSeenAt
	}
	if latest := began.Add(-time.Hour); from.After(latest) {
		from = latest
	}
	before, err := s.cfg.Telemetry.Occurrences(ctx, v.Org, hashes, from, began.Add(-time.Nanosecond))
	if err != nil {
		return nil, fmt.Errorf("read occurrences: %w", err)
	}
	for _, c := range before {
		out.rate += c.Count / began.Sub(from).Hours()
	}
	return out, nil
}

// hashes are the fingerprints of an issue.
func (s *CheckShard) hashes(ctx context.Context, issue *store.ErrorIssue) ([]string, error) {
	prints, err := s.cfg.Store.ErrorIssueFingerprints(ctx, issue.Org, issue.ID, limits.IssueFingerprints)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(prints))
	for i := range prints {
		out[i] = prints[i].Hash
	}
	return out, nil
}

// without are the versions that ran without the fix.
func (v *view) without() []string {
	var out []string
	for _, r := range v.all {
		fixed := func(f ServiceRelease) bool { return f.Environment == r.Environment && f.Version == r.Version }
		if v.fix.concerns(r.Environment) && !slices.ContainsFunc(v.found, fixed) {
			out = append(out, r.Version)
		}
	}
	return known(out)
}
