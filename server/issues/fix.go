package issues

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// Reasons for a check without a result.
const (
	reasonNoTraffic   = "no_traffic"
	reasonRolledBack  = "rolled_back"
	reasonNotDeployed = "not_deployed"
	reasonSuperseded  = "superseded"
)

// Ways in which the first release with a fix is known.
const (
	byCommit  = "commit"
	byVersion = "version"
	byTime    = "assumed"
)

// States of releases.
const (
	releaseCurrent    = "current"
	releaseRolledBack = "rolled_back"
)

// ServiceRelease is a version of a service in an environment, as its telemetry in a window shows it.
type ServiceRelease struct {
	Environment, Version, Commit string
	// First and Last are its first and last minute in the window.
	First, Last time.Time
	// State is current, replaced or rolled_back, at the end of the window.
	State string
	// Spans is the number of its entry spans, corrected for sampling.
	Spans float64
}

// VersionCount is a number of occurrences in a version.
type VersionCount struct {
	Environment, Version string
	Count                float64
}

// FixedRelease is a release that contains a fix. Its JSON is that of the store.
type FixedRelease struct {
	Environment string    `json:"deployment_environment"`
	Version     string    `json:"version"`
	Commit      string    `json:"commit_sha,omitempty"`
	First       time.Time `json:"first_seen"`
	Last        time.Time `json:"last_seen"`
	State       string    `json:"state"`
	Spans       float64   `json:"estimated_span_count"`
	Occurrences float64   `json:"occurrence_count"`
}

// Figures are the basis of the state of a check. Their JSON is that of the store.
type Figures struct {
	DeployedBy string         `json:"deployed_by,omitempty"`
	Releases   []FixedRelease `json:"releases,omitempty"`
	// Spans and Share are of the releases with the fix; Expected is the number of occurrences that they would have without it.
	Spans    float64 `json:"estimated_span_count"`
	Share    float64 `json:"span_share"`
	Expected float64 `json:"expected_occurrence_count"`
	// Occurrences are those in releases with the fix, Others those in other releases.
	Occurrences float64 `json:"occurrence_count"`
	Others      float64 `json:"other_occurrence_count"`
}

// ReadFigures reads stored figures.
func ReadFigures(stored json.RawMessage) (f Figures, err error) {
	if len(stored) > 0 {
		err = json.Unmarshal(stored, &f)
	}
	return f, err
}

// fix has the known facts about a fix.
type fix struct {
	commit, version string
	// at is the time of the fix, started the start of this attempt to check it.
	at, started time.Time
	// environments are those in which the error occurs; an empty list stands for all.
	environments []string
	// host says whether the commit of a release contains the commit of the fix, for the commits about which the source host answered.
	host map[string]bool
}

func fixOf(v *store.ErrorIssueVerification, i *store.ErrorIssue) fix {
	f := fix{at: v.FixedAt, started: v.StartedAt.Truncate(time.Minute), environments: i.Environments}
	if v.Commit != nil {
		f.commit = *v.Commit
	}
	if v.Version != nil {
		f.version = *v.Version
	}
	return f
}

// concerns says whether releases of an environment say something about the fix.
func (f *fix) concerns(environment string) bool {
	return len(f.environments) == 0 || slices.Contains(f.environments, environment)
}

// names returns how a release is known to have the fix by itself; empty if it is not.
func (f *fix) names(r *ServiceRelease) string {
	switch {
	case sameCommit(f.commit, r.Commit), f.host[r.Commit]:
		return byCommit
	case f.version != "" && f.version == r.Version:
		return byVersion
	default:
		return ""
	}
}

// lacks reports whether the source host knows that a release does not contain the fix.
func (f *fix) lacks(r *ServiceRelease) bool {
	has, known := f.host[r.Commit]
	return known && !has
}

// sameCommit compares two commits. One of them may be shortened.
func sameCommit(a, b string) bool {
	n := min(len(a), len(b))
	return n >= limits.CommitShortest && strings.EqualFold(a[:n], b[:n])
}

// releases returns the releases that contain the fix, and the evidence for it. In each environment, these are the first release that is
// known to have the fix and the releases that began later. In an environment without such a release, the releases that began after the fix
// are assumed to have it, unless the fix names its version. A release that ran at the start of the window counts as older than the window.
// A release whose commit lacks the fix, as the source host says, never counts.
func (f *fix) releases(all []ServiceRelease, start time.Time) (found []ServiceRelease, by string) {
	ranks := map[string]int{"": 0, byTime: 1, byVersion: 2, byCommit: 3}
	first := map[string]time.Time{}
	for i := range all {
		r := &all[i]
		name := f.names(r)
		if name == "" || !f.concerns(r.Environment) {
			continue
		}
		if at, ok := first[r.Environment]; !ok || r.First.Before(at) {
			first[r.Environment] = r.First
		}
		if ranks[name] > ranks[by] {
			by = name
		}
	}
	for i := range all {
		r := &all[i]
		if !f.concerns(r.Environment) {
			continue
		}
		at, known := first[r.Environment]
		switch {
		case f.lacks(r):
			continue
		case known && (f.names(r) != "" || r.First.After(at)):
		case !known && f.version == "" && r.First.After(f.at) && r.First.After(start):
			if by == "" {
				by = byTime
			}
		default:
			continue
		}
		found = append(found, *r)
	}
	return found, by
}

// active are the releases that sent telemetry since the attempt began.
func (f *fix) active(found []ServiceRelease) []ServiceRelease {
	return slices.DeleteFunc(slices.Clone(found), func(r ServiceRelease) bool { return r.Last.Before(f.started) })
}

// first is the time at which the first of some releases began.
func first(found []ServiceRelease) time.Time {
	return slices.MinFunc(found, func(a, b ServiceRelease) int { return a.First.Compare(b.First) }).First
}

// deployed is the time since which releases with the fix count: not before this attempt began.
func (f *fix) deployed(found []ServiceRelease) time.Time {
	if at := first(found); at.After(f.started) {
		return at
	}
	return f.started
}

// rolledBack says whether the releases with the fix are gone, while earlier ones went on for a while.
func (f *fix) rolledBack(all, active []ServiceRelease) bool {
	var last, others time.Time
	back := false
	for _, r := range active {
		if r.State == releaseCurrent {
			return false
		}
		back = back || r.State == releaseRolledBack
		if r.Last.After(last) {
			last = r.Last
		}
	}
	for _, r := range all {
		if f.concerns(r.Environment) && r.Last.After(others) {
			others = r.Last
		}
	}
	return back && others.Sub(last) >= limits.IssueRollbackAfter
}

// view has the figures of telemetry about a fix whose releases are known.
type view struct {
	fix fix
	// all are the releases of the service, found those with the fix, by how that is known.
	all, found []ServiceRelease
	by         string
	// since are the releases with their spans since the deployment, and counts the occurrences since then.
	since  []ServiceRelease
	counts []VersionCount
	// rate is the number of occurrences an hour before it.
	rate float64
	at   time.Time
}

// judge returns the state of a check, the reason of one without a result, and the figures.
func (v *view) judge() (status, reason string, out Figures) {
	active := v.fix.active(v.found)
	if len(active) == 0 {
		if v.at.Sub(v.fix.started) >= limits.IssueDeployWait {
			return store.VerificationAbandoned, reasonNotDeployed, out
		}
		return store.VerificationWaiting, "", out
	}
	out = v.figures()
	ran := v.at.Sub(v.fix.deployed(active))
	switch {
	case out.Occurrences > 0 && (!v.doubtful() || ran >= limits.IssueVerdictLeast):
		return store.VerificationNotFixed, "", out
	case v.fix.rolledBack(v.all, active):
		return store.VerificationInconclusive, reasonRolledBack, out
	case out.Expected >= limits.IssueVerdictExpected && ran >= limits.IssueVerdictLeast:
		return store.VerificationVerified, "", out
	case ran >= limits.IssueVerdictMost:
		return store.VerificationInconclusive, reasonNoTraffic, out
	default:
		return store.VerificationRunning, "", out
	}
}

// doubtful says that the first release after the fix has a commit other than that of the fix. Often it contains the fix, but somebody may
// have built it earlier. So an error in it does not decide at once: the release of the fix may follow.
func (v *view) doubtful() bool {
	return v.by == byTime && v.fix.commit != "" && slices.ContainsFunc(v.found, func(r ServiceRelease) bool { return r.Commit != "" })
}

func (v *view) figures() Figures {
	out := Figures{DeployedBy: v.by}
	type place struct{ environment, version string }
	with := map[place]*FixedRelease{}
	list := slices.SortedStableFunc(slices.Values(v.found), func(a, b ServiceRelease) int { return b.First.Compare(a.First) })
	fixed := make([]FixedRelease, len(list))
	for i, r := range list {
		fixed[i] = FixedRelease{Environment: r.Environment, Version: r.Version, Commit: r.Commit, First: r.First, Last: r.Last, State: r.State}
		with[place{r.Environment, r.Version}] = &fixed[i]
	}
	all := 0.0
	for _, r := range v.since {
		if !v.fix.concerns(r.Environment) {
			continue
		}
		all += r.Spans
		if f := with[place{r.Environment, r.Version}]; f != nil {
			f.Spans += r.Spans
			out.Spans += r.Spans
		}
	}
	for _, c := range v.counts {
		if f := with[place{c.Environment, c.Version}]; f != nil {
			f.Occurrences += c.Count
			out.Occurrences += c.Count
			continue
		}
		out.Others += c.Count
	}
	if all > 0 {
		out.Share = out.Spans / all
	}
	out.Expected = v.rate * v.at.Sub(v.fix.deployed(v.fix.active(v.found))).Hours() * out.Share
	out.Releases = fixed[:min(len(fixed), limits.IssueFixReleases)]
	return out
}
