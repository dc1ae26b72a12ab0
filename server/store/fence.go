package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/workshard"
)

// Kinds of background work that is divided into shards. The number of shards of a kind never changes, because rows keep theirs.
const (
	// WorkAlerts evaluates alert rules. An organization has one shard.
	WorkAlerts = "alerts"
	// WorkOutbox sends messages. An organization has one shard.
	WorkOutbox = "outbox"
	// WorkScrape scrapes targets. A target has one shard.
	WorkScrape = "scrape"
	// WorkIssues applies occurrences to error issues, and ends leases, pauses and incidents. An organization has one shard.
	WorkIssues = "issues"
	// WorkIssueChecks reads telemetry for error issues: whether fixes hold. An organization has one shard.
	WorkIssueChecks = "issue_checks"
	// WorkIntegrations reads the accounts that organizations connected. An account has one shard.
	WorkIntegrations = "integrations"
	// WorkRepositories looks at connected repositories for pull requests that name issues, and for deployments. An organization has one shard.
	WorkRepositories = "repositories"
	// WorkCallHours counts the calls between services of each hour. An organization has one shard.
	WorkCallHours = "call_hours"
	// WorkHeartbeat tells a monitor outside that alert rules are evaluated.
	WorkHeartbeat = "heartbeat"
	// WorkSweep removes old rows.
	WorkSweep = "sweep"
)

// WorkShards are the numbers of shards.
var workShards = map[string]int{
	WorkAlerts: 64, WorkOutbox: 16, WorkScrape: 64, WorkIssues: 64, WorkIssueChecks: 8, WorkIntegrations: 16,
	WorkRepositories: 8, WorkCallHours: 8, WorkHeartbeat: 1, WorkSweep: 1,
}

// WorkShards returns the number of shards of a kind.
func WorkShards(kind string) int { return workShards[kind] }

// ShardOf returns the shard of a kind that does the work of a key: the id of an organization, or of a target. It is the same on
// every node and in every version.
func ShardOf(kind, key string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	sum := h.Sum64()
	// FNV mixes its low bits badly for keys that differ in their last character.
	sum ^= sum >> 32
	return int(sum % uint64(max(1, workShards[kind])))
}

// Fence is the proof of a lease: the shard, its holder, and the number of the lease. Every transaction of a worker begins with it, so
// a worker that lost its lease writes nothing.
type Fence struct {
	Kind   string
	Number int
	Holder uuid.UUID
	Token  int64
}

// Shard is the id of the shard, `<kind>/<number>`.
func (f Fence) Shard() string { return shardID(f.Kind, f.Number) }

func shardID(kind string, number int) string { return fmt.Sprintf("%s/%02d", kind, number) }

// ErrFenced reports that the lease of the worker is over. Nothing was written.
var ErrFenced = errors.New("the lease of the shard is over")

// fenced is tx for workers. On PostgreSQL a takeover of the shard waits for the end of the transaction. On SQLite there is one writer.
func (s *Store) fenced(ctx context.Context, op string, f Fence, fn func(*ent.Tx) error) error {
	return s.tx(ctx, op, func(tx *ent.Tx) error {
		if err := s.hold(ctx, tx, f); err != nil {
			return fmt.Errorf("store: %s: %w", op, err)
		}
		return fn(tx)
	})
}

// hold checks that the lease is not over. It returns ErrFenced if it is.
func (s *Store) hold(ctx context.Context, tx *ent.Tx, f Fence) error {
	q := tx.WorkShard.Query().
		Where(workshard.ID(f.Shard()), workshard.Holder(f.Holder), workshard.Fence(f.Token))
	if s.dialect == dialect.Postgres {
		q.ForShare()
	}
	held, err := q.Exist(ctx)
	if err != nil {
		return err
	}
	if !held {
		return fmt.Errorf("%w: %s", ErrFenced, f.Shard())
	}
	return nil
}
