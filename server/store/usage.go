package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/ingestusage"
	"github.com/svc-observability/svc/ent/organization"
	"github.com/svc-observability/svc/server/principal"
)

// Usage counts accepted telemetry.
type Usage struct {
	Requests int64
	Items    int64
	// Bytes is the size after decompression.
	Bytes int64
}

// UsageDelta counts the items of one organization with one key since the last delta.
type UsageDelta struct {
	Org principal.OrgID
	// Day is any moment of the day (UTC).
	Day    time.Time
	Signal string
	// KeyID is the public id of an ingest key or of a connector.
	KeyID string
	Usage
}

// usageRows bounds the rows of one statement.
const usageRows = 200

// AddIngestUsage adds deltas of any organizations to the stored usage, all or nothing. Concurrent nodes add exactly. Deltas of
// organizations that do not exist are skipped. After an error nothing was added, unless the commit succeeded and its answer was
// lost. In that case a caller that repeats the call counts twice, and after other errors a caller that does not repeat it counts
// too little.
func (s *Store) AddIngestUsage(ctx context.Context, deltas []UsageDelta) error {
	if len(deltas) == 0 {
		return nil
	}
	return s.tx(ctx, "add ingest usage", func(tx *ent.Tx) error { return addIngestUsage(ctx, tx, deltas) })
}

func addIngestUsage(ctx context.Context, tx *ent.Tx, deltas []UsageDelta) error {
	sums := mergeUsage(deltas)
	orgs, err := existing(ctx, tx, sums, func(d UsageDelta) principal.OrgID { return d.Org })
	if err != nil {
		return err
	}
	sums = slices.DeleteFunc(sums, func(d UsageDelta) bool { return !orgs[d.Org] })
	for part := range slices.Chunk(sums, usageRows) {
		rows := make([]*ent.IngestUsageCreate, len(part))
		for i, d := range part {
			id, err := uuid.NewV7()
			if err != nil {
				return err
			}
			rows[i] = tx.IngestUsage.Create().SetID(id).SetOrgID(string(d.Org)).SetDay(d.Day).SetSignal(d.Signal).SetKeyID(d.KeyID).
				SetRequests(d.Requests).SetItems(d.Items).SetBytes(d.Bytes)
		}
		if err := tx.IngestUsage.CreateBulk(rows...).OnConflict(usageConflict()...).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// usageConflict adds the new row to the existing row instead of replacing it.
func usageConflict() []entsql.ConflictOption {
	return []entsql.ConflictOption{
		entsql.ConflictColumns(ingestusage.FieldOrgID, ingestusage.FieldDay, ingestusage.FieldSignal, ingestusage.FieldKeyID),
		entsql.ResolveWith(func(u *entsql.UpdateSet) {
			for _, column := range []string{ingestusage.FieldRequests, ingestusage.FieldItems, ingestusage.FieldBytes} {
				u.Set(column, entsql.Expr(ingestusage.Table+"."+column+" + excluded."+column))
			}
		}),
	}
}

// mergeUsage merges the deltas to one for each row, because a statement may change a row only once. It sorts them into the order
// in which all nodes lock rows; otherwise two nodes could wait for each other.
func mergeUsage(deltas []UsageDelta) []UsageDelta {
	sums := make([]UsageDelta, 0, len(deltas))
	for _, d := range deltas {
		d.Day = d.Day.UTC().Truncate(24 * time.Hour)
		sums = append(sums, d)
	}
	order := func(a, b UsageDelta) int {
		return cmp.Or(cmp.Compare(a.Org, b.Org), a.Day.Compare(b.Day), cmp.Compare(a.Signal, b.Signal), cmp.Compare(a.KeyID, b.KeyID))
	}
	slices.SortStableFunc(sums, order)
	n := 0
	for _, d := range sums {
		if n > 0 && order(sums[n-1], d) == 0 {
			sums[n-1].Requests += d.Requests
			sums[n-1].Items += d.Items
			sums[n-1].Bytes += d.Bytes
			continue
		}
		sums[n] = d
		n++
	}
	return sums[:n]
}

// existing returns which of the organizations exist. A row of a missing organization would undo the whole transaction.
func existing[T any](ctx context.Context, tx *ent.Tx, rows []T, of func(T) principal.OrgID) (map[principal.OrgID]bool, error) {
	found := map[principal.OrgID]bool{}
	for _, row := range rows {
		found[of(row)] = false
	}
	ids := make([]string, 0, len(found))
	for org := range found {
		ids = append(ids, string(org))
	}
	for part := range slices.Chunk(ids, usageRows) {
		there, err := tx.Organization.Query().Where(organization.IDIn(part...)).IDs(ctx)
		if err != nil {
			return nil, err
		}
		for _, id := range there {
			found[principal.OrgID(id)] = true
		}
	}
	return found, nil
}

// UsageGroup is a property by which usage is grouped.
type UsageGroup string

// Groups of usage.
const (
	UsageByDay    UsageGroup = ingestusage.FieldDay
	UsageBySignal UsageGroup = ingestusage.FieldSignal
	UsageByKey    UsageGroup = ingestusage.FieldKeyID
)

// UsageRow is the usage of one group. Fields by which it is not grouped are empty.
type UsageRow struct {
	Day    time.Time
	Signal string
	KeyID  string
	Usage
}

// IngestUsageOfMonth returns what the organization sent in the calendar month (UTC) of the given time, by signal. It omits
// signals without usage.
func (s *Store) IngestUsageOfMonth(ctx context.Context, org principal.OrgID, month time.Time) (map[string]Usage, error) {
	rows, err := s.ListIngestUsage(ctx, org, month, UsageBySignal)
	if err != nil {
		return nil, err
	}
	out := make(map[string]Usage, len(rows))
	for _, row := range rows {
		out[row.Signal] = row.Usage
	}
	return out, nil
}

// ListIngestUsage returns what the organization sent in the calendar month (UTC) of the given time, summed and sorted by the
// groups.
func (s *Store) ListIngestUsage(ctx context.Context, org principal.OrgID, month time.Time, by ...UsageGroup) ([]UsageRow, error) {
	month = month.UTC()
	from := time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC)
	columns := make([]string, len(by))
	order := make([]ingestusage.OrderOption, len(by))
	for i, group := range by {
		columns[i] = string(group)
		order[i] = ingestusage.OrderOption(ent.Asc(string(group)))
	}
	var sums []struct {
		Day      time.Time `sql:"day"`
		Signal   string    `sql:"signal"`
		KeyID    string    `sql:"key_id"`
		Requests int64     `sql:"requests"`
		Items    int64     `sql:"items"`
		Bytes    int64     `sql:"bytes"`
	}
	err := s.read.IngestUsage.Query().
		Where(ingestusage.OrgID(string(org)), ingestusage.DayGTE(from), ingestusage.DayLT(from.AddDate(0, 1, 0))).
		Order(order...).
		GroupBy(columns[0], columns[1:]...).
		Aggregate(
			ent.As(ent.Sum(ingestusage.FieldRequests), "requests"),
			ent.As(ent.Sum(ingestusage.FieldItems), "items"),
			ent.As(ent.Sum(ingestusage.FieldBytes), "bytes"),
		).Scan(ctx, &sums)
	if err != nil {
		return nil, mapError("list ingest usage", err)
	}
	out := make([]UsageRow, len(sums))
	for i, r := range sums {
		out[i] = UsageRow{Signal: r.Signal, KeyID: r.KeyID, Usage: Usage{Requests: r.Requests, Items: r.Items, Bytes: r.Bytes}}
		if !r.Day.IsZero() {
			out[i].Day = utc(r.Day)
		}
	}
	return out, nil
}
