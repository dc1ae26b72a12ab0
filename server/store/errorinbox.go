package store

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/counter"
	"github.com/svc-observability/svc/ent/errorinbox"
	"github.com/svc-observability/svc/ent/errorissue"
	"github.com/svc-observability/svc/ent/errorissuefingerprint"
	"github.com/svc-observability/svc/ent/organization"
	"github.com/svc-observability/svc/server/principal"
)

// ErrorSum is a number of occurrences of a fingerprint that an ingest node stored.
type ErrorSum struct {
	Org     principal.OrgID `json:"-"`
	Hash    string          `json:"hash"`
	Service string          `json:"service"`
	Type    string          `json:"type,omitempty"`
	Message string          `json:"message,omitempty"`
	Label   string          `json:"label,omitempty"`
	Frame   string          `json:"frame,omitempty"`
	// Grouping says why the occurrences are one group, as JSON.
	Grouping json.RawMessage `json:"grouping,omitempty"`
	// Count is the number of received occurrences, Weight that of all, corrected for sampling.
	Count  int64     `json:"count"`
	Weight float64   `json:"weight"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
	// Versions and Environments have the time of the last occurrence by name. The empty name stands for telemetry without one.
	Versions     map[string]time.Time `json:"versions,omitempty"`
	Environments map[string]time.Time `json:"environments,omitempty"`
	// Alert is set for incidents of an alert rule: an occurrence is then an incident that opened.
	Alert *AlertSum `json:"alert,omitempty"`
}

// OverflowLabel is the title of the issue of a service whose groups are too many.
const OverflowLabel = "Too many new groups"

// OverflowFingerprint is the fingerprint of the occurrences of a service whose groups are too many.
func OverflowFingerprint(service string) string { return "overflow:" + service }

// Bounds of the names that a sum keeps.
const (
	SumVersions     = 8
	SumEnvironments = 4
)

// Add adds another sum of the same fingerprint.
func (e *ErrorSum) Add(o *ErrorSum) {
	if e.Alert != nil && o.Alert != nil {
		e.addAlert(o)
	}
	e.Count += o.Count
	e.Weight += o.Weight
	if o.First.Before(e.First) {
		e.First = o.First
	}
	if o.Last.After(e.Last) {
		e.Last = o.Last
		if o.Alert == nil {
			e.Message = o.Message
		}
	}
	addNames(&e.Versions, o.Versions, SumVersions)
	addNames(&e.Environments, o.Environments, SumEnvironments)
}

// addNames keeps the names that were seen last.
func addNames(into *map[string]time.Time, names map[string]time.Time, most int) {
	for name, at := range names {
		if *into == nil {
			*into = map[string]time.Time{}
		}
		if at.After((*into)[name]) {
			(*into)[name] = at
		}
	}
	for len(*into) > most {
		oldest := slices.MinFunc(slices.Sorted(maps.Keys(*into)), func(a, b string) int { return (*into)[a].Compare((*into)[b]) })
		delete(*into, oldest)
	}
}

// errorSumsCounter is the prefix of counter names. The node's name follows; the counter holds the number of the node's last flush.
const errorSumsCounter = "error_sums/"

// FlushErrorSums adds sums of a node to the inbox of issues. It stores the number of the flush in the same transaction, and a flush whose
// number is not above the stored one does nothing. So a caller may repeat a flush whose outcome it does not know. Sums of organizations
// that do not exist are dropped.
func (s *Store) FlushErrorSums(ctx context.Context, node string, flush int64, sums []ErrorSum) error {
	return s.tx(ctx, "flush error sums", func(tx *ent.Tx) error {
		id := errorSumsCounter + node
		last, err := tx.Counter.Get(ctx, id)
		if err != nil && !ent.IsNotFound(err) {
			return err
		}
		if err == nil && last.Value >= flush {
			return nil
		}
		orgs := map[string]bool{}
		for i := range sums {
			orgs[string(sums[i].Org)] = true
		}
		known, err := tx.Organization.Query().Where(organization.IDIn(slices.Sorted(maps.Keys(orgs))...)).IDs(ctx)
		if err != nil {
			return err
		}
		sums = slices.DeleteFunc(slices.Clone(sums), func(sum ErrorSum) bool { return !slices.Contains(known, string(sum.Org)) })
		if err := s.queueErrorSums(ctx, tx, sums); err != nil {
			return err
		}
		return tx.Counter.Create().SetID(id).SetValue(flush).
			OnConflict(entsql.ConflictColumns(counter.FieldID)).UpdateValue().Exec(ctx)
	})
}

// queueErrorSums puts sums into the inbox of issues. Their organizations must exist.
func (s *Store) queueErrorSums(ctx context.Context, tx *ent.Tx, sums []ErrorSum) error {
	now := s.stamp()
	var rows []*ent.ErrorInboxCreate
	for i := range sums {
		body, err := json.Marshal(&sums[i])
		if err != nil {
			return err
		}
		key, err := uuid.NewV7()
		if err != nil {
			return err
		}
		org := string(sums[i].Org)
		rows = append(rows, tx.ErrorInbox.Create().SetID(key).SetOrgID(org).SetShard(ShardOf(WorkIssues, org)).SetSum(body).SetCreatedAt(now))
	}
	for part := range slices.Chunk(rows, 500) {
		if err := tx.ErrorInbox.CreateBulk(part...).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ErrorSumsFlushed returns the number of the last flush of a node; 0 before the first.
func (s *Store) ErrorSumsFlushed(ctx context.Context, node string) (int64, error) {
	row, err := s.read.Counter.Get(ctx, errorSumsCounter+node)
	if ent.IsNotFound(err) {
		return 0, nil
	}
	if err != nil {
		return 0, mapError("read the flushed error sums", err)
	}
	return row.Value, nil
}

// WaitingErrorSums returns the shards with sums in the inbox, with the time of the oldest.
func (s *Store) WaitingErrorSums(ctx context.Context) (map[int]time.Time, error) {
	var rows []struct {
		Shard int    `sql:"shard"`
		ID    string `sql:"oldest"`
	}
	// The id begins with the time. A time that the database aggregates has another type on each of the two databases.
	err := s.read.ErrorInbox.Query().GroupBy(errorinbox.FieldShard).
		Aggregate(func(sel *entsql.Selector) string {
			return entsql.As("MIN(CAST("+sel.C(errorinbox.FieldID)+" AS TEXT))", "oldest")
		}).Scan(ctx, &rows)
	if err != nil {
		return nil, mapError("look into the inbox of errors", err)
	}
	out := map[int]time.Time{}
	for _, r := range rows {
		if id, err := uuid.Parse(r.ID); err == nil {
			sec, nsec := id.Time().UnixTime()
			out[r.Shard] = time.Unix(sec, nsec).UTC()
		}
	}
	return out, nil
}

// WaitingOrganizations returns the organizations of a shard with sums in the inbox.
func (s *Store) WaitingOrganizations(ctx context.Context, shard int) ([]principal.OrgID, error) {
	var orgs []principal.OrgID
	err := s.read.ErrorInbox.Query().Where(errorinbox.Shard(shard)).Unique(true).Select(errorinbox.FieldOrgID).Scan(ctx, &orgs)
	if err != nil {
		return nil, mapError("list organizations with error sums", err)
	}
	return orgs, nil
}

// IssuePrint is a fingerprint in a change, with its issue.
type IssuePrint struct {
	ErrorIssueFingerprint
	IsNew bool
	Issue *IssueRecord
}

// IssueBatch has the sums of occurrences of an organization, one a fingerprint, and the fingerprints that exist.
type IssueBatch struct {
	Org  principal.OrgID
	Sums []*ErrorSum
	// Prints are fingerprints by hash. The change adds new ones, with new issues.
	Prints map[string]*IssuePrint
	// Open is the number of issues that are not done, cancelled or archived; New those that were made in the last minute. Both are 0 when each
	// sum has a fingerprint.
	Open, New int
	// Print reads a fingerprint that no sum has; nil if it does not exist.
	Print func(hash string) (*IssuePrint, error)
}

// ApplyErrorSums takes the oldest sums of an organization out of the inbox and applies them by a function, in one transaction under the
// lease of the shard. It returns the number of rows that it took, 0 if none wait.
func (s *Store) ApplyErrorSums(
	ctx context.Context, f Fence, org principal.OrgID, limit int, apply func(*IssueBatch) error,
) (n int, err error) {
	err = s.fenced(ctx, "apply error sums", f, func(tx *ent.Tx) error {
		rows, err := tx.ErrorInbox.Query().Where(errorinbox.Shard(f.Number), errorinbox.OrgID(string(org))).
			Order(errorinbox.ByID()).Limit(limit).All(ctx)
		if n = len(rows); err != nil || n == 0 {
			return err
		}
		batch, err := s.issueBatch(ctx, tx, org, rows)
		if err != nil {
			return err
		}
		if err := apply(batch); err != nil {
			return err
		}
		if err := s.saveBatch(ctx, tx, batch); err != nil {
			return err
		}
		ids := make([]uuid.UUID, len(rows))
		for i, row := range rows {
			ids[i] = row.ID
		}
		for part := range slices.Chunk(ids, 500) {
			if _, err := tx.ErrorInbox.Delete().Where(errorinbox.IDIn(part...)).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

func (s *Store) issueBatch(ctx context.Context, tx *ent.Tx, org principal.OrgID, rows []*ent.ErrorInbox) (*IssueBatch, error) {
	b := &IssueBatch{Org: org, Prints: map[string]*IssuePrint{}}
	byHash := map[string]*ErrorSum{}
	for _, row := range rows {
		sum := &ErrorSum{}
		if err := json.Unmarshal(row.Sum, sum); err != nil {
			return nil, err
		}
		sum.Org = org
		if have := byHash[sum.Hash]; have != nil {
			have.Add(sum)
			continue
		}
		byHash[sum.Hash] = sum
		b.Sums = append(b.Sums, sum)
	}
	if err := s.loadPrints(ctx, tx, b, slices.Sorted(maps.Keys(byHash))); err != nil {
		return nil, err
	}
	b.Print = func(hash string) (*IssuePrint, error) {
		if p := b.Prints[hash]; p != nil {
			return p, nil
		}
		err := s.loadPrints(ctx, tx, b, []string{hash})
		return b.Prints[hash], err
	}
	if len(b.Prints) == len(b.Sums) {
		return b, nil // nothing is new, so its bounds do not matter
	}
	var err error
	b.Open, err = tx.ErrorIssue.Query().Where(errorissue.OrgID(string(org)), errorissue.ArchivedAtIsNil(), errorissue.MergedIntoIsNil(),
		errorissue.WorkflowStateNotIn(IssueDone, IssueCancelled)).Count(ctx)
	if err != nil {
		return nil, err
	}
	b.New, err = tx.ErrorIssue.Query().Where(errorissue.OrgID(string(org)), errorissue.CreatedAtGT(s.stamp().Add(-time.Minute))).Count(ctx)
	return b, err
}

// loadPrints adds fingerprints and their issues to a batch.
func (s *Store) loadPrints(ctx context.Context, tx *ent.Tx, b *IssueBatch, hashes []string) error {
	issues := map[uuid.UUID]*IssueRecord{}
	for _, p := range b.Prints {
		if p.Issue != nil && !p.Issue.IsNew {
			issues[p.Issue.ID] = p.Issue
		}
	}
	var prints []*IssuePrint
	var missing []uuid.UUID
	for part := range slices.Chunk(hashes, 500) {
		rows, err := tx.ErrorIssueFingerprint.Query().
			Where(errorissuefingerprint.OrgID(string(b.Org)), errorissuefingerprint.HashIn(part...)).All(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			p := &IssuePrint{ErrorIssueFingerprint: toErrorIssueFingerprint(row)}
			prints = append(prints, p)
			if issues[p.IssueID] == nil && !slices.Contains(missing, p.IssueID) {
				missing = append(missing, p.IssueID)
			}
		}
	}
	loaded, err := s.loadIssues(ctx, tx, b.Org, missing)
	if err != nil {
		return err
	}
	maps.Copy(issues, loaded)
	for _, p := range prints {
		p.Issue = issues[p.IssueID]
		b.Prints[p.Hash] = p
	}
	return nil
}

func (s *Store) saveBatch(ctx context.Context, tx *ent.Tx, b *IssueBatch) error {
	saved := map[*IssueRecord]bool{}
	for _, hash := range slices.Sorted(maps.Keys(b.Prints)) {
		p := b.Prints[hash]
		if !saved[p.Issue] {
			saved[p.Issue] = true
			p.Issue.Org, p.Issue.Shard = b.Org, ShardOf(WorkIssues, string(b.Org))
			if err := s.saveIssue(ctx, tx, p.Issue); err != nil {
				return err
			}
		}
		if p.IsNew {
			p.Org, p.IssueID = b.Org, p.Issue.ID
			if _, err := s.insertErrorIssueFingerprint(ctx, tx, p.ErrorIssueFingerprint); err != nil {
				return err
			}
			continue
		}
		err := tx.ErrorIssueFingerprint.Update().Where(errorissuefingerprint.ID(p.ID), errorissuefingerprint.OrgID(string(b.Org))).
			SetExceptionMessage(p.ExceptionMessage).SetFirstSeenAt(utc(p.FirstSeenAt)).SetLastSeenAt(utc(p.LastSeenAt)).
			SetOccurrenceCount(p.OccurrenceCount).SetEstimatedCount(p.EstimatedCount).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return linkAlertIncidents(ctx, tx, b)
}
