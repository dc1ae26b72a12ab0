package demo

import (
	"fmt"
	"time"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
)

const (
	levelDebug = logspb.SeverityNumber_SEVERITY_NUMBER_DEBUG
	levelInfo  = logspb.SeverityNumber_SEVERITY_NUMBER_INFO
	levelWarn  = logspb.SeverityNumber_SEVERITY_NUMBER_WARN
	levelError = logspb.SeverityNumber_SEVERITY_NUMBER_ERROR
	levelFatal = logspb.SeverityNumber_SEVERITY_NUMBER_FATAL
)

func levelName(n logspb.SeverityNumber) string {
	return map[logspb.SeverityNumber]string{
		levelDebug: "DEBUG", levelInfo: "INFO", levelWarn: "WARN", levelError: "ERROR", levelFatal: "FATAL",
	}[n]
}

func newRecord(at int64, level logspb.SeverityNumber, body string, attributes []attribute) *logspb.LogRecord {
	return &logspb.LogRecord{
		TimeUnixNano: uint64(at), ObservedTimeUnixNano: uint64(at) + uint64(40*time.Microsecond), SeverityNumber: level,
		SeverityText: levelName(level), Body: textValue(body), Attributes: attributes,
	}
}

// log writes a record under the open span.
func (t *trace) log(level logspb.SeverityNumber, body string, attributes ...attribute) {
	record := newRecord(t.now, level, body, attributes)
	record.TraceId, record.SpanId, record.Flags = t.id, t.at.SpanId, 1
	t.unit.logs = append(t.unit.logs, recordOf{t.from, record})
}

// background is a record without a request.
type background struct {
	service   string
	perMinute float64
	level     logspb.SeverityNumber
	body      func(r random) string
}

func backgrounds() []background {
	return []background{
		{edge, 6, levelInfo, func(r random) string {
			return fmt.Sprintf("health check of %s passed in %d ms", pick(r, []string{catalog, cart, checkout, search}), 1+r.IntN(9))
		}},
		{edge, 0.3, levelWarn, func(r random) string {
			return fmt.Sprintf("client 203.0.113.%d closed the connection before the answer was sent", r.IntN(255))
		}},
		{catalog, 2, levelInfo, func(r random) string {
			return fmt.Sprintf("GC pause young: %d.%d ms, heap %d MB after", 2+r.IntN(20), r.IntN(10), 300+r.IntN(200))
		}},
		{catalog, 1, levelDebug, func(r random) string {
			return fmt.Sprintf("HikariPool-1 - stats (total=20, active=%d, idle=%d, waiting=0)", r.IntN(12), 8+r.IntN(4))
		}},
		{search, 1, levelInfo, func(r random) string {
			return fmt.Sprintf("index products refreshed: %d documents in %d ms", 3000+r.IntN(200), 40+r.IntN(300))
		}},
		{cart, 1, levelInfo, func(r random) string {
			return fmt.Sprintf("expired %d carts older than 30 days", r.IntN(40))
		}},
		{checkout, 1, levelInfo, func(r random) string {
			return fmt.Sprintf("outbox relay: %d events published, %d pending", r.IntN(30), r.IntN(3))
		}},
		{payments, 0.1, levelWarn, func(r random) string {
			return fmt.Sprintf("certificate of api.payfast.example expires in %d days", 21+r.IntN(2))
		}},
		{inventory, 1, levelInfo, func(r random) string {
			return fmt.Sprintf("heartbeat of warehouse gateway wh-%d received", 1+r.IntN(3))
		}},
		{shipping, 0.5, levelWarn, func(r random) string {
			return fmt.Sprintf("rate table of carrier %s is %d hours old", pick(r, []string{"parcelway", "northpost"}), 12+r.IntN(30))
		}},
		{email, 1, levelInfo, func(r random) string {
			return fmt.Sprintf("consumer email-worker joined generation %d with %d partitions", 40+r.IntN(5), 6)
		}},
		{recommendation, 1, levelInfo, func(r random) string {
			return fmt.Sprintf("loaded %d similarities into memory in %d.%d s", 11000+r.IntN(900), r.IntN(3), r.IntN(10))
		}},
		{recommendation, 0.02, levelFatal, func(random) string { return "worker process exited: out of memory, restarting" }},
		{agent, 0.5, levelInfo, func(r random) string {
			return fmt.Sprintf("model budget: %d of 2000000 tokens used this hour", 90000+r.IntN(400000))
		}},
	}
}

// backgroundLogs creates the records of a minute that belong to no trace.
func (g *slot) backgroundLogs() {
	r := newRandom(g.seed, "background logs", g.minute)
	for _, b := range backgrounds() {
		s := g.services[b.service]
		for range r.arrivals(b.perMinute) {
			at := g.start + r.Int64N(nanosPerMinute)
			from := g.instance(s, production, r.IntN(g.replicas(s, production)), at)
			g.units = append(g.units, &Unit{
				due: at, logs: []recordOf{{from, newRecord(at, b.level, b.body(r), []attribute{text("log.logger", "shop."+b.service)})}},
			})
		}
	}
}

const floodPerMinute = 600

// flood is the planted flood of a new pattern.
func (g *slot) flood() {
	r := newRandom(g.seed, "flood", g.minute)
	s := g.services[inventory]
	for range floodPerMinute {
		at := g.start + r.Int64N(nanosPerMinute)
		if !g.faults.on(FaultLogs, at) {
			continue
		}
		p := pick(r, g.products)
		booked := r.IntN(900)
		body := fmt.Sprintf(floodPattern(at), p.id, booked-1-r.IntN(20), booked, 1500+r.IntN(60000))
		from := g.instance(s, production, r.IntN(s.replicas), at)
		g.units = append(g.units, &Unit{
			due: at, logs: []recordOf{
				{from, newRecord(at, levelWarn, body, []attribute{text("log.logger", "shop.inventory.Ledger"), text("shop.product.id", p.id)})},
			},
		})
	}
}
