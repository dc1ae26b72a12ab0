// Package usage counts the items that organizations send. It refuses organizations whose plan is not active, or that have reached
// a signal's limit for the month.
//
// Everything on the path of a request is in memory. A Meter adds its counts to the store about every second, and reads plans and
// the month's sums from it. Nodes thus learn of each other's counts, and a restart continues where the last run ended.
//
// No count is added twice. A flush has a number, which the store keeps with the counts in one transaction. If the outcome of a
// flush is unknown (a lost connection, a deadline), the Meter sends the same flush again, and a store that has its number does
// nothing. Later counts wait for the next flush. A crash loses the counts that are not flushed, normally those of one second.
//
// While the store fails, the Meter refuses only organizations that it refused before, because telemetry matters more than limits.
// A limit is reached when the usage of the month is at or above it. Open requests, and requests that other nodes accepted since
// the last read, can exceed the limit.
package usage

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Store keeps counts and plans.
type Store interface {
	// AddUsage adds the deltas to the sums of their organization, day, signal and key. It adds all of them or none. A call that
	// repeats the number of the node's last flush does nothing.
	AddUsage(ctx context.Context, node string, flush int64, deltas []Delta) error
	// Accounts returns the plans and usage of the organizations. It may omit organizations without a plan. Only those with limits
	// need the usage.
	Accounts(ctx context.Context, orgs []principal.OrgID, month time.Time) (map[principal.OrgID]Account, error)
}

// Delta is an addition to one sum.
type Delta struct {
	Org principal.OrgID
	// Day is midnight UTC.
	Day    time.Time
	Signal string
	// Key is the public id of the ingest key. OtherKeys stands for requests that arrived while too many keys were waiting to be
	// flushed.
	Key string
	Counts
}

// OtherKeys stands for keys that could not be counted individually.
const OtherKeys = "other"

// Counts holds the requests that were answered with 200, the items accepted in them, and the bytes of their bodies after decompression (a
// gigabyte is 1e9 bytes).
type Counts struct{ Requests, Items, Bytes int64 }

func (c *Counts) add(d Counts) {
	c.Requests += d.Requests
	c.Items += d.Items
	c.Bytes += d.Bytes
}

func (c *Counts) subtract(d Counts) {
	c.Requests -= d.Requests
	c.Items -= d.Items
	c.Bytes -= d.Bytes
}

// Account holds the plan and the usage of an organization, as the store has them.
type Account struct {
	// Plan is nil if the organization has no limits.
	Plan *Plan
	// Used holds the sums of the month by signal.
	Used map[string]Counts
}

// Plan bounds the items and bytes that an organization may send.
type Plan struct {
	Name   string
	Active bool
	// Limits holds the limits by signal.
	Limits map[string]Limit
}

// Limit bounds a signal for a calendar month (UTC). Nil means no bound.
type Limit struct{ Items, Bytes *int64 }

// Refusal says why an organization may not send.
type Refusal struct {
	Plan string
	// Inactive means that the plan accepts no data. The other fields describe a limit.
	Inactive bool
	Signal   string
	// Unit is "items" or "bytes".
	Unit  string
	Limit int64
	// Ends is the end of the month.
	Ends time.Time
}

// Error returns the message for the sender.
func (r *Refusal) Error() string {
	if r.Inactive {
		return fmt.Sprintf("The organization has no active subscription: its plan %q is not active. Nothing was stored.", r.Plan)
	}
	return fmt.Sprintf(
		"The plan %q of this organization allows %s of %s in a month. The limit is reached, and the month ends at %s. Nothing was stored.",
		r.Plan,
		amount(r.Limit, r.Unit),
		r.Signal,
		r.Ends.Format(time.RFC3339),
	)
}

// amount writes a limit in words, with bytes in the largest unit that gives at least 1.
func amount(n int64, unit string) string {
	if unit == unitItems {
		if n == 1 {
			return "1 item"
		}
		return strconv.FormatInt(n, 10) + " items"
	}
	for _, u := range []struct {
		size float64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if float64(n) >= u.size {
			return strconv.FormatFloat(float64(n)/u.size, 'f', -1, 64) + " " + u.name
		}
	}
	if n == 1 {
		return "1 byte"
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

const (
	unitItems = "items"
	unitBytes = "bytes"
)

// refusal checks usage against the plan.
func (p *Plan) refusal(signal string, used Counts, month time.Time) *Refusal {
	if !p.Active {
		return &Refusal{Plan: p.Name, Inactive: true}
	}
	limit := p.Limits[signal]
	switch {
	case limit.Items != nil && used.Items >= *limit.Items:
		return &Refusal{Plan: p.Name, Signal: signal, Unit: unitItems, Limit: *limit.Items, Ends: month.AddDate(0, 1, 0)}
	case limit.Bytes != nil && used.Bytes >= *limit.Bytes:
		return &Refusal{Plan: p.Name, Signal: signal, Unit: unitBytes, Limit: *limit.Bytes, Ends: month.AddDate(0, 1, 0)}
	default:
		return nil
	}
}

// Config configures a Meter. Store and Node are required.
type Config struct {
	Store Store
	// Node names this node among all that write to the store. It must stay the same over restarts.
	Node string
	// FlushEvery is how often counts are added to the store. Default 1 s.
	FlushEvery time.Duration
	// ReadEvery is how often plans and sums are read. Default 15 s.
	ReadEvery time.Duration
	// CallTimeout bounds one call of the store. Default 10 s.
	CallTimeout time.Duration
	// FirstWait is how long the first requests of an organization wait for its plan. Later requests do not wait. Default 500 ms.
	FirstWait time.Duration
	// MaxCells bounds the sums that wait to be flushed while the store fails. Above it, keys are counted together. Default
	// 100,000.
	MaxCells int
	Logger   *slog.Logger
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.FlushEvery, time.Second},
		{&c.ReadEvery, limits.PlanRead},
		{&c.CallTimeout, 10 * time.Second},
		{&c.FirstWait, 500 * time.Millisecond},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if c.MaxCells <= 0 {
		c.MaxCells = 100_000
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}
