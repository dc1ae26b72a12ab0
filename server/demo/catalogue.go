package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Kinds of faults that Config.Plant can plant at random places and times. docs/demo.md describes them.
const (
	KindLeak        = "memory-leak"
	KindPod         = "slow-pod"
	KindRegion      = "bad-region"
	KindFlag        = "feature-flag"
	KindCache       = "poisoned-cache"
	KindRetries     = "retry-storm"
	KindQueue       = "queue-behind"
	KindCertificate = "expired-certificate"
	KindCustomer    = "customer-traffic"
	KindQuery       = "slow-query"
	KindLogLevel    = "log-level"
	KindRelease     = "bad-release"
	// KindTwo is two faults of other kinds at once, in different services.
	KindTwo = "two-at-once"
)

// Values of Config.Plant that are no kind.
const (
	// PlantRandom plants a fault of a random kind in each slot.
	PlantRandom = "random"
	// PlantNone plants no fault: the days are quiet.
	PlantNone = "none"
)

// Kinds lists the kinds of faults.
func Kinds() []string {
	return append(singleKinds(), KindTwo)
}

func singleKinds() []string {
	return []string{
		KindLeak, KindPod, KindRegion, KindFlag, KindCache, KindRetries, KindQueue, KindCertificate, KindCustomer, KindQuery, KindLogLevel,
		KindRelease,
	}
}

// CanPlant tells whether a text is a value for Config.Plant.
func CanPlant(plant string) bool {
	return plant == "" || plant == PlantRandom || plant == PlantNone || slices.Contains(Kinds(), plant)
}

// Truth is the right answer to the question what went wrong. An answer that names one of Services and one of Causes is right.
type Truth struct {
	Services []string `json:"service_names"`
	Causes   []Cause  `json:"causes"`
	// Felt is the time by which callers feel a fault that grows slowly. For other faults it is the start.
	Felt time.Time `json:"felt_time"`
}

// Cause is a right cause. An answer agrees if it has the kind, and if its target, its value or its statement contains the text.
type Cause struct {
	Kind     string `json:"kind"`
	Contains string `json:"contains"`
}

// planted is one fault of a plan.
type planted struct {
	kind, service string
	from, to      int64
	// size is the share of failing requests, the factor of a duration or of a number, as the kind says.
	size float64
	// fails says that the fault makes requests fail. Otherwise they are slow.
	fails bool
	// replica, region, customer, flag, key and version say where the fault is, in the kinds that have such a place.
	replica                              int
	region, customer, flag, key, version string
	// dependency is the name of the database, host or topic, table the slow table, entry the service that gets the traffic.
	dependency, table, entry string
}

func (p *planted) on(nano int64) bool { return nano >= p.from && nano < p.to }

// grown is the finished part of the fault's time: 0 at its start, 1 at its end.
func (p *planted) grown(nano int64) float64 { return float64(nano-p.from) / float64(p.to-p.from) }

// leakFelt is the part of a leak's time after which the process collects garbage so often that requests wait.
const leakFelt = 0.5

// typical is the usual duration of a service's requests. Faults that slow a service add a multiple of it.
func typical(service string) time.Duration {
	return map[string]time.Duration{
		edge: 45 * ms, catalog: 32 * ms, search: 30 * ms, cart: 14 * ms, checkout: 330 * ms, payments: 240 * ms, inventory: 16 * ms,
		shipping: 100 * ms, email: 150 * ms, recommendation: 28 * ms,
	}[service]
}

// target is a service with one of its dependencies, and a table that may grow.
type target struct{ service, dependency, table string }

// draw chooses the place, the time and the size of a fault that begins in a slot.
func (p *plan) draw(kind string, r random, slot int64) *planted {
	minute := func(low, high int) int64 { return int64(low+r.IntN(high-low)) * nanosPerMinute }
	size := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	f := &planted{kind: kind, fails: r.chance(0.5)}
	length := minute(ShortestFault, LongestFault)
	services := []string{catalog, search, cart, checkout, payments, inventory, shipping, recommendation}
	switch kind {
	case KindLeak:
		f.service, f.size = pick(r, []string{catalog, search, cart, checkout, inventory, recommendation}), size(2.2, 4)
		length = minute(ShortestGrowth, LongestGrowth)
	case KindPod:
		f.service, f.replica, f.size = pick(r, services), r.IntN(replicasInRegions), size(6, 20)
	case KindRegion:
		f.service, f.region, f.size = pick(r, services), pick(r, regions()), size(0.25, 0.7)
		if !f.fails {
			f.size = size(4, 12)
		}
	case KindFlag:
		f.service, f.size = pick(r, flagged()), size(0.2, 0.5)
		f.flag = flagOf(f.service)
	case KindCache:
		f.service, f.key, f.size = catalog, "category="+pick(r, categories()), size(0.6, 1)
		if r.chance(0.3) {
			f.service, f.key = search, "q="+pick(r, []string{"tent", "gift", "socks"})
		}
	case KindRetries:
		at := pick(r, []target{
			{search, "products", ""},
			{shipping, "api.parcelway.example", ""},
			{inventory, "inventory", ""},
			{catalog, "catalog", ""},
			{cart, "0", ""},
			{checkout, "orders", ""},
		})
		f.service, f.dependency, f.size = at.service, at.dependency, size(0.4, 0.8)
	case KindQueue:
		at := pick(r, []target{
			{email, "orders.placed", ""},
			{inventory, "orders.placed", ""},
			{shipping, "orders.placed", ""},
			{recommendation, "clickstream", ""},
			{shipping, "labels", ""},
		})
		f.service, f.dependency, f.size, length = at.service, at.dependency, size(6, 20), minute(ShortestBacklog, LongestBacklog)
	case KindCertificate:
		at := pick(r, []target{
			{payments, "api.payfast.example", ""},
			{shipping, "api.parcelway.example", ""},
			{email, "api.mailgrid.example", ""},
			{search, "products", ""},
			{recommendation, "recommendation", ""},
		})
		f.service, f.dependency = at.service, at.dependency
	case KindCustomer:
		f.service, f.customer, f.size, f.entry = pick(r, []string{inventory, search, catalog}), pick(r, customers()), size(4, 12), edge
	case KindQuery:
		at := pick(r, []target{
			{catalog, "catalog", "product_variants"},
			{catalog, "catalog", "products"},
			{checkout, "orders", "orders"},
			{inventory, "inventory", "stock"},
			{recommendation, "recommendation", "similarities"},
			{search, "products", "products"},
		})
		f.service, f.dependency, f.table, f.size = at.service, at.dependency, at.table, size(20, 60)
		length = minute(ShortestGrowth, LongestGrowth)
	case KindLogLevel:
		f.service, f.size = pick(r, []string{edge, catalog, search, cart, checkout, payments, inventory}), size(20, 60)
	case KindRelease:
		f.service, f.size = pick(r, []string{edge, search, cart, checkout, payments, inventory, shipping}), size(0.1, 0.4)
		if !f.fails {
			f.size = size(3, 8)
		}
		f.version = fmt.Sprint(100 + r.IntN(800))
	}
	latest := slotMinutes - 10 - int(length/nanosPerMinute)
	f.from = slot*slotNanos + minute(earliestOnset, latest) + r.Int64N(nanosPerMinute)
	f.to = f.from + length
	return f
}

// felt is the time by which callers feel the fault.
func (p *planted) felt() int64 {
	length := float64(p.to - p.from)
	switch p.kind {
	case KindLeak:
		return p.from + int64(length*(leakFelt+0.1))
	case KindQuery: // when the statement has become several times slower
		return p.from + int64(length*min(0.5, 12/p.size))
	case KindQueue:
		return p.from + int64(10*time.Minute)
	}
	return p.from
}

// truth is the right answer about the fault.
func (p *plan) truth(f *planted) *Truth {
	t := &Truth{Services: []string{f.service}, Felt: time.Unix(0, f.felt()).UTC()}
	may := func(kind, contains string) { t.Causes = append(t.Causes, Cause{kind, contains}) }
	switch f.kind {
	case KindLeak:
		may("resource", "memory")
		may("resource", "heap")
	case KindPod:
		may("attribute", p.pod(f))
	case KindRegion:
		may("attribute", "region = "+f.region)
	case KindFlag:
		may("attribute", "feature_flag."+f.flag)
	case KindCache:
		_, value, _ := strings.Cut(f.key, "=")
		may("attribute", value)
		may("operation", value)
		may("error", cacheKind)
	case KindRetries, KindQuery:
		may("dependency", f.dependency)
	case KindQueue:
		broker := brokerOf(f.dependency)
		t.Services = append(t.Services, broker)
		may("resource", map[string]string{"kafka": "consumer_group.lag", "rabbitmq": "message.current"}[broker])
		may("operation", f.dependency)
	case KindCertificate:
		may("dependency", f.dependency)
		may("error", "certificate")
	case KindCustomer:
		t.Services = append(t.Services, f.entry)
		may("traffic", f.customer)
		may("attribute", f.customer)
	case KindLogLevel:
		may("logs", "log records")
	case KindRelease:
		may("release", p.released(f))
	}
	return t
}

// told is the fault in the list of a run.
func (p *plan) told(f *planted) Fault {
	slow := "slow"
	if f.fails {
		slow = "failing"
	}
	where := map[string]string{
		KindLeak:        "the memory grows until requests wait for the garbage collector and the process is killed",
		KindPod:         "the pod " + p.pod(f) + " is slow",
		KindRegion:      "requests in " + f.region + " are " + slow,
		KindFlag:        fmt.Sprintf("the flag %s is on for %.0f %% of the requests, and they are %s", f.flag, 100*f.size, slow),
		KindCache:       "the cache entry for " + f.key + " cannot be decoded",
		KindRetries:     fmt.Sprintf("%.0f %% of the calls to %s fail, and each is repeated at once up to six times", 100*f.size, f.dependency),
		KindQueue:       "the consumer of " + f.dependency + " is slow, and its queue grows",
		KindCertificate: "the certificate of " + f.dependency + " has run out",
		KindCustomer:    fmt.Sprintf("the customer %s sends %.0f times as many requests, and they slow the service down", f.customer, f.size),
		KindQuery:       "the statements on " + f.table + " of " + f.dependency + " get slower and slower",
		KindLogLevel:    "the log level is changed to DEBUG",
		KindRelease:     "requests are " + slow + " in the release " + p.released(f) + ", which is rolled back",
	}
	return Fault{
		Name: f.kind, Service: f.service, Start: time.Unix(0, f.from).UTC(), End: time.Unix(0, f.to).UTC(), What: where[f.kind],
		Truth: p.truth(f),
	}
}
