package charts

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// Issues is the address of the picture of a message about error issues: one, or those of a digest. It is empty for issues that count
// no occurrences of errors.
func (l *Links) Issues(org principal.OrgID, issues []*store.IssueRecord, digest bool, at time.Time) (string, error) {
	var things []uuid.UUID
	most := slices.SortedStableFunc(slices.Values(issues), func(x, y *store.IssueRecord) int {
		return cmp.Compare(y.OccurrenceCount, x.OccurrenceCount)
	})
	for _, r := range most {
		if r.Kind == store.IssueKindError && len(things) < limits.ChartRanks {
			things = append(things, r.ID)
		}
	}
	if len(things) == 0 {
		return "", nil
	}
	subject := ofIssue
	if digest {
		subject = ofDigest
	}
	return l.address(&id{Org: org, Subject: subject, Things: things, Start: at.Add(-limits.IssueWindow), At: at}, kindChat)
}

// OpenChat finds what the chart of another message shows and returns the function that reads it. The error of a chart that is not there is
// store.ErrNotFound, whatever the reason is. The organization is that of the chart.
func (c *Charts) OpenChat(ctx context.Context, text string) (principal.OrgID, Read, error) {
	i, err := open(c.cfg.Seals, kindChat, text, c.cfg.Now())
	if err != nil {
		return "", nil, errors.Join(store.ErrNotFound, err)
	}
	var issues []store.ErrorIssue
	for _, thing := range i.Things {
		issue, err := c.cfg.Store.ErrorIssue(ctx, i.Org, thing)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return "", nil, err
		default:
			issues = append(issues, issue)
		}
	}
	switch {
	case len(issues) == 0:
		return "", nil, store.ErrNotFound
	case i.Subject == ofDigest:
		return i.Org, func(context.Context) (*svcv2.ChartPicture, error) { return ranked(issues), nil }, nil
	default:
		return i.Org, func(ctx context.Context) (*svcv2.ChartPicture, error) { return c.issue(ctx, i, &issues[0]) }, nil
	}
}

// name is the name of an issue in messages.
func name(i *store.ErrorIssue) string {
	if i.ServiceName == "" {
		return i.ErrorLabel
	}
	return i.ErrorLabel + " in " + i.ServiceName
}

// ranked compares the occurrences of the issues of a digest.
func ranked(issues []store.ErrorIssue) *svcv2.ChartPicture {
	out := &svcv2.ChartPicture{Kind: "ranked", Title: "Occurrences of errors", Unit: "number"}
	slices.SortStableFunc(issues, func(x, y store.ErrorIssue) int { return cmp.Compare(y.OccurrenceCount, x.OccurrenceCount) })
	for n := range issues {
		out.Points = append(out.Points, &svcv2.ChartPicturePoint{Name: name(&issues[n]), Value: float64(issues[n].OccurrenceCount)})
	}
	return out
}

// issue counts the occurrences of an issue over time, as its page does.
func (c *Charts) issue(ctx context.Context, i *id, issue *store.ErrorIssue) (*svcv2.ChartPicture, error) {
	prints, err := c.cfg.Store.ErrorIssueFingerprints(ctx, i.Org, issue.ID, limits.IssueFingerprints)
	if err != nil {
		return nil, err
	}
	hashes := make([]string, len(prints))
	for n := range prints {
		hashes[n] = prints[n].Hash
	}
	filters := reads.ErrorFilters{Fingerprints: reads.Fingerprints(hashes), Logs: true}
	w := query.Window{Start: i.Start, End: i.At}
	rows, err := read.All[reads.ErrorPointRow](ctx, c.cfg.Warehouse, i.Org, reads.ErrorPoints(w, filters, limits.IssueBucket).Until(w.End))
	if err != nil {
		return nil, read.Failure(ctx, err)
	}
	counts := map[int64]float64{}
	for _, r := range rows {
		counts[r.Bucket.Unix()] = r.Estimated
	}
	side := "none"
	out := &svcv2.ChartPicture{Kind: "bar", Title: name(issue), Unit: "number", BreachSide: &side}
	series := &svcv2.ChartPictureSeries{Name: "Occurrences"}
	for at := w.Start.Truncate(limits.IssueBucket); !at.After(w.End); at = at.Add(limits.IssueBucket) {
		series.Points = append(series.Points, point(at, counts[at.Unix()]))
	}
	out.Series = []*svcv2.ChartPictureSeries{series}
	return out, nil
}
