package demo

import (
	"fmt"
	"time"
)

// Faults that are planted in production every day. A test compares the timetable with docs/demo.md.
const (
	// FaultRelease: a release of catalog reads each variant of a product with its own statement. The next release fixes it.
	FaultRelease = "latency-after-release"
	// FaultErrors: cart fails on carts of one currency.
	FaultErrors = "error-spike"
	// FaultDependency: the payment provider does not answer in time.
	FaultDependency = "failing-dependency"
	// FaultLogs: inventory floods its log with a new pattern.
	FaultLogs = "log-flood"
)

// fault is a line of the timetable.
type fault struct {
	name, service string
	// at is the time of day (UTC). lasts is the duration.
	at, lasts time.Duration
	// what returns a description of the fault on a day.
	what func(c faultClock, start int64) string
}

func timetable() []fault {
	const h, m = time.Hour, time.Minute
	same := func(text string) func(faultClock, int64) string {
		return func(faultClock, int64) string { return text }
	}
	return []fault{
		{FaultRelease, "catalog", 9*h + 20*m, 90 * m, func(c faultClock, start int64) string {
			lasts := c.at[FaultRelease][1]
			return fmt.Sprintf("release %s of catalog reads the variants of a product one by one: p95 of GET /products/{id} from about 30 ms to "+
				"600 ms; %s mends it",
				c.catalogVersion(start), c.catalogVersion(start+lasts))
		}},
		{FaultErrors, "cart", 13*h + 5*m, 20 * m, same("35 % of POST /cart/items fail with TypeError: Cannot read properties of undefined " +
			"(reading 'minorUnits')")},
		{FaultDependency, "payments", 16*h + 40*m, 30 * m, same("65 % of the calls to api.payfast.example time out after 3 s; payments tries " +
			"three times, checkouts are slow, one in four fails with 504")},
		{FaultLogs, "inventory", 20*h + 15*m, 25 * m, func(_ faultClock, start int64) string {
			return fmt.Sprintf("10 log records a second of a new pattern, %q; the MySQL replica falls behind", floodPattern(start))
		}},
	}
}

// Fault is one planted fault.
type Fault struct {
	Name    string    `json:"name"`
	Service string    `json:"service_name"`
	Start   time.Time `json:"start_time"`
	End     time.Time `json:"end_time"`
	What    string    `json:"description"`
	// Truth is the right answer about a fault of Config.Plant.
	Truth *Truth `json:"truth,omitempty"`
}

// Faults lists the planted faults that overlap a window, in order of time.
func (c Config) Faults(from, to time.Time) []Fault {
	if c.Plant != "" {
		return newShop(c).plan.list(from, to)
	}
	var out []Fault
	clock := newFaultClock(c)
	for at := from.Add(-c.FaultShift - day).Truncate(day); at.Before(to.Add(day - c.FaultShift)); at = at.Add(day) {
		for _, f := range timetable() {
			start := at.Add(f.at + c.FaultShift).UTC()
			if end := start.Add(f.lasts); start.Before(to) && end.After(from) {
				out = append(out, Fault{Name: f.name, Service: f.service, Start: start, End: end, What: f.what(clock, start.UnixNano())})
			}
		}
	}
	return out
}

// faultClock answers questions about faults, with times in nanoseconds since 1970.
type faultClock struct {
	shift int64
	at    map[string][2]int64 // start within the day, and length
	// quiet says that a plan replaces the timetable: the releases of catalog remain, but all of them are good.
	quiet bool
	// mended are the times from which on faults do not occur.
	mended map[string]int64
}

func newFaultClock(cfg Config) faultClock {
	c := faultClock{int64(cfg.FaultShift), map[string][2]int64{}, cfg.Plant != "", map[string]int64{}}
	for _, r := range cfg.Releases {
		if r.Mends != "" {
			c.mended[r.Mends] = r.From.UnixNano()
		}
	}
	for _, f := range timetable() {
		c.at[f.name] = [2]int64{int64(f.at), int64(f.lasts)}
	}
	return c
}

func (c faultClock) on(name string, nano int64) bool {
	f := c.at[name]
	since := (nano - c.shift) % int64(day)
	return !c.quiet && !c.over(name, nano) && since >= f[0] && since < f[0]+f[1]
}

// over reports whether a fault does not occur any more.
func (c faultClock) over(name string, nano int64) bool {
	from, mended := c.mended[name]
	return mended && nano >= from
}

// seconds returns how long a fault was active between two times.
func (c faultClock) seconds(name string, from, to int64) float64 {
	f := c.at[name]
	sum := int64(0)
	if c.quiet {
		return 0
	}
	if from, mended := c.mended[name]; mended {
		to = min(to, from)
	}
	for start := from - c.shift - (from-c.shift)%int64(day) + f[0] + c.shift - int64(day); start < to; start += int64(day) {
		if lo, hi := max(start, from), min(start+f[1], to); hi > lo {
			sum += hi - lo
		}
	}
	return float64(sum) / 1e9
}

// catalogVersion returns the version of catalog. Each day has a bad release and a release that fixes it.
func (c faultClock) catalogVersion(nano int64) string {
	f := c.at[FaultRelease]
	number := (nano-c.shift)/int64(day) - firstDay
	switch since := (nano - c.shift) % int64(day); {
	case since < f[0]:
		return fmt.Sprintf("4.%d.1", number-1)
	case since < f[0]+f[1] && !c.quiet:
		return fmt.Sprintf("4.%d.0", number)
	default:
		return fmt.Sprintf("4.%d.1", number)
	}
}

// firstDay is the release day of catalog 4.0: 2026-01-01, in days since 1970.
const firstDay = 20454

// FloodPatterns is the number of patterns of the flood of log records, which take turns by day.
const FloodPatterns = 7

// floodPattern returns the new pattern of a day.
func floodPattern(nano int64) string {
	list := [FloodPatterns]string{
		"stock ledger drift for %s: counted %d, booked %d, replica behind by %d ms",
		"reservation sweep skipped %s: %d holds left, %d expired, next try in %d ms",
		"replica read refused for %s: want position %d, have %d, waited %d ms",
		"orphaned allocation on %s: %d units without an order, %d released, took %d ms",
		"warehouse feed out of order for %s: sequence %d after %d, parked for %d ms",
		"negative stock corrected for %s: from -%d to %d, lock held for %d ms",
		"duplicate picking list for %s: list %d repeats %d, merged in %d ms",
	}
	return list[nano/int64(day)%int64(len(list))]
}
