package oracle_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// origin is a sender of telemetry: one resource.
type origin struct {
	service, namespace, environment, version string
	environmentKey                           string // deployments name it in the old or in the new way
	tenant                                   string // an attribute that spans and records have too, with other values
	skew                                     time.Duration
}

// row is a span or a log record as the contract describes it.
type row struct {
	*origin
	at       time.Time
	duration time.Duration
	// weight is the number of spans that the span stands for; 1 for a record.
	weight float64
	failed bool
	root   bool
	entry  bool
	// name is the name of a span, or the body of a record.
	name                       string
	kind, status, severity     string
	severityNumber             int
	trace, id, parent          string
	method, route              string
	code                       int
	attributes                 map[string]string
	traceState, sampleRate     string
	exception, exceptionDetail string
}

func (r *row) milliseconds() float64 { return float64(r.duration) / 1e6 }

// endpoint is an operation with a sampling of its own.
type endpoint struct {
	name, method, route string
	rate                float64
	traceState          string
	attribute           string
}

// telemetry is one organization's random telemetry. All of it lies in the hours from start to end.
type telemetry struct {
	r          *rand.Rand
	chance     *rand.PCG // of r
	start, end time.Time
	origins    []*origin
	endpoints  []endpoint
	spans      []*row
	records    []*row
	points     []*point
	*activity
	next int
}

func generate(seed uint64, now time.Time) *telemetry {
	start := now.UTC().Truncate(time.Hour).Add(-5 * time.Hour)
	chance := rand.NewPCG(seed, 14)
	t := &telemetry{r: rand.New(chance), chance: chance, start: start, end: start.Add(3 * time.Hour)}
	for _, service := range []string{"web", "checkout", "cart", "söarch", `we"ird\ one`} {
		for _, environment := range []string{"production", "staging", ""} {
			if environment != "production" && t.r.IntN(3) == 0 {
				continue
			}
			t.origins = append(t.origins, &origin{
				service: service, environment: environment, namespace: t.pick("shop", ""), version: t.pick("1.0.0", "1.1.0"),
				environmentKey: t.pick("deployment.environment", "deployment.environment.name"), tenant: t.pick("resource-a", "resource-b"),
				skew: time.Duration(t.r.Int64N(int64(2*time.Second))) - time.Second,
			})
		}
	}
	t.endpoints = []endpoint{
		{name: "GET /cart/{id}", method: "GET", route: "/cart/{id}", rate: 1},
		{name: "POST /checkout", method: "POST", route: "/checkout", rate: 4, attribute: "4"},
		{name: "GET", method: "GET", route: "/products", rate: 10, attribute: "10"},
		{name: "search", rate: 4, traceState: "ot=th:c"},
		{name: "render ü", rate: 2, traceState: "vendor=x,ot=p:8;th:8"},
		{name: "half", rate: 1, attribute: "0.5"},
		{name: "both", rate: 3, attribute: "3", traceState: "ot=th:8"},
		{name: "fraction", rate: 2.5, attribute: "2.5"},
	}
	for range 120 {
		t.addTrace()
	}
	for range 400 {
		t.addRecord()
	}
	t.addPoints()
	t.addDistributions(seed)
	t.addAgents(seed)
	t.addActivity(seed)
	t.addRecordings(seed)
	return t
}

func (t *telemetry) pick(list ...string) string { return list[t.r.IntN(len(list))] }

// boundary is a time at which buckets of every usual length begin. Some rows have exactly this time.
func (t *telemetry) boundary() time.Time { return t.start.Add(2 * time.Hour) }

func (t *telemetry) anyTime() time.Time {
	if t.r.IntN(20) == 0 {
		return t.boundary()
	}
	return t.start.Add(time.Minute + time.Duration(t.r.Int64N(int64(t.end.Sub(t.start)-2*time.Minute))))
}

func (t *telemetry) hexID(digits int) string {
	t.next++
	return fmt.Sprintf("%0*x", digits, uint64(t.next)<<16|uint64(t.r.IntN(1<<16)))
}

// addTrace adds a trace of up to eight spans. Some of its spans have a parent that never arrives, some have the clock of another
// machine, and a fifth of the traces lack their root.
func (t *telemetry) addTrace() {
	trace, at := t.hexID(32), t.anyTime()
	orphan := t.r.IntN(5) == 0
	environment := t.origins[t.r.IntN(len(t.origins))].environment
	var spans []*row
	for n := range 1 + t.r.IntN(8) {
		o := t.origins[t.r.IntN(len(t.origins))]
		for o.environment != environment && t.r.IntN(10) > 0 {
			o = t.origins[t.r.IntN(len(t.origins))]
		}
		s := t.span(o, trace)
		s.at = at.Add(o.skew + time.Duration(t.r.Int64N(int64(3*time.Second))))
		if at.Equal(t.boundary()) {
			s.at = at
		}
		switch {
		case n == 0 && !orphan:
			s.at = at
		case n == 0 || t.r.IntN(12) == 0:
			s.parent = t.hexID(16)
		default:
			s.parent = spans[t.r.IntN(len(spans))].id
		}
		s.root = s.parent == ""
		s.entry = s.root || s.kind == "Server" || s.kind == "Consumer"
		spans = append(spans, s)
	}
	t.spans = append(t.spans, spans...)
}

func (t *telemetry) span(o *origin, trace string) *row {
	e := t.endpoints[t.r.IntN(len(t.endpoints))]
	s := &row{
		origin: o, trace: trace, id: t.hexID(16), name: e.name, weight: e.rate, traceState: e.traceState, sampleRate: e.attribute,
		kind:   t.pick("Server", "Client", "Internal", "Producer", "Consumer", "Server", "Client", "Unspecified"),
		status: t.pick("Ok", "Unset", "Unset", "Unset", "Error"), duration: time.Duration(t.r.ExpFloat64() * 3e8),
		attributes: map[string]string{},
	}
	if t.r.IntN(20) == 0 {
		s.duration = 0
	}
	if e.method != "" {
		s.method, s.route = e.method, e.route
		s.attributes[t.pick("http.method", "http.request.method")] = e.method
		s.attributes["http.route"] = e.route
		s.code = []int{200, 200, 404, 499, 500, 503}[t.r.IntN(6)]
		s.attributes[t.pick("http.status_code", "http.response.status_code")] = strconv.Itoa(s.code)
	}
	s.failed = s.status == "Error" || s.code >= 500
	if s.status == "Error" && t.r.IntN(2) == 0 {
		s.exception, s.exceptionDetail = t.pick("TimeoutError", "TypeError"), t.pick("gave up after 3 tries", "")
	}
	if s.sampleRate != "" {
		s.attributes["SampleRate"] = s.sampleRate
	}
	t.attributes(s)
	return s
}

// attributes adds attributes that spans and records have alike.
func (t *telemetry) attributes(r *row) {
	if t.r.IntN(3) > 0 {
		r.attributes["tenant"] = t.pick("a", "b", "ü", "")
	}
	if t.r.IntN(2) == 0 {
		r.attributes["cart.size"] = t.pick("7", "12", "1.5", "-3", "1e3", "many", "")
	}
	if t.r.IntN(3) == 0 {
		r.attributes[t.pick("db.system", "db.system.name")] = t.pick("postgresql", "redis")
	}
}

func (t *telemetry) addRecord() {
	levels := map[string]int{"TRACE": 1, "DEBUG": 5, "INFO": 9, "WARN": 13, "ERROR": 17, "FATAL": 21}
	r := &row{
		origin: t.origins[t.r.IntN(len(t.origins))], at: t.anyTime(), weight: 1, attributes: map[string]string{},
		severity: t.pick("TRACE", "DEBUG", "INFO", "INFO", "WARN", "ERROR", "FATAL"),
		name:     t.pick("cart lookup timed out", "order placed", "Straße gesperrt", "", "paid "+strconv.Itoa(t.r.IntN(1000))),
	}
	r.severityNumber = levels[r.severity]
	r.failed = r.severityNumber >= 17
	if t.r.IntN(8) == 0 {
		r.severityNumber = 0 // some libraries send the text only
	}
	if t.r.IntN(2) == 0 {
		s := t.spans[t.r.IntN(len(t.spans))]
		r.trace, r.id = s.trace, s.id
	}
	t.attributes(r)
	t.records = append(t.records, r)
}

// attribute finds an attribute by its current name or by a name that older semantic conventions gave it.
func attribute(m map[string]string, key string) (string, bool) {
	for _, pair := range [][2]string{
		{"http.method", "http.request.method"},
		{"http.status_code", "http.response.status_code"},
		{"db.system", "db.system.name"},
		{"deployment.environment", "deployment.environment.name"},
	} {
		if key != pair[0] && key != pair[1] {
			continue
		}
		for _, k := range []string{key, pair[0], pair[1]} {
			if v, ok := m[k]; ok {
				return v, true
			}
		}
		return "", false
	}
	v, ok := m[key]
	return v, ok
}

func (o *origin) resource() map[string]string {
	m := map[string]string{"service.name": o.service, "service.version": o.version, "tenant": o.tenant}
	if o.namespace != "" {
		m["service.namespace"] = o.namespace
	}
	if o.environment != "" {
		m[o.environmentKey] = o.environment
	}
	return m
}

func contains(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}
