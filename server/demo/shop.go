package demo

import (
	"slices"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// shop is the state that all minutes share. It is not safe for concurrent use.
type shop struct {
	seed      uint64
	rate      float64
	faults    faultClock
	services  map[string]*service
	order     []*service
	instances map[instance]*resource
	products  []product
	receivers []*receiver
	// observed holds the counts of the services about their work, by minute.
	observed map[int64]*observations
	measures map[string]measure
	// plan has the faults of Config.Plant. It is nil if the timetable holds.
	plan *plan
	// repository and releases are those of Config.
	repository string
	releases   []Release
}

type product struct {
	id, name, category string
	price              float64
}

func newShop(cfg Config) *shop {
	rate := cfg.Rate
	if rate <= 0 {
		rate = DefaultRate
	}
	sh := &shop{
		seed: cfg.Seed, rate: rate, faults: newFaultClock(cfg), services: map[string]*service{}, order: services(),
		instances: map[instance]*resource{}, observed: map[int64]*observations{}, measures: measures(),
		repository: cfg.Repository, releases: cfg.Releases,
	}
	for _, s := range sh.order {
		sh.services[s.name] = s
	}
	sh.plan = newPlan(sh, cfg)
	sh.products = products()
	sh.receivers = sh.allReceivers()
	return sh
}

func products() []product {
	things := map[string][]string{
		"kitchen":  {"Moka Pot", "Chef's Knife", "Cast Iron Pan", "Enamel Mug", "Pepper Mill", "Bread Box", "Whisk", "Tea Kettle"},
		"outdoor":  {"Trail Tent", "Headlamp", "Dry Bag", "Camp Stove", "Sleeping Mat", "Rope Set", "Field Flask", "Map Case"},
		"office":   {"Desk Lamp", "Notebook A5", "Fountain Pen", "Monitor Arm", "Felt Tray", "Paper Clips", "Standing Mat", "Cable Box"},
		"textiles": {"Wool Blanket", "Linen Towel", "Rain Jacket", "Merino Socks", "Canvas Tote", "Scarf", "Work Apron", "Sun Hat"},
	}
	var out []product
	categories := []string{"kitchen", "outdoor", "office", "textiles"}
	for _, category := range categories {
		for _, name := range things[category] {
			h := hash(name)
			out = append(out, product{id: "p-" + fiveDigits(h), name: name, category: category, price: float64(5+h%195) + 0.9})
		}
	}
	return out
}

// fiveDigits derives a number of five digits from another number.
func fiveDigits(h uint64) string {
	b := make([]byte, 0, 5)
	for range 5 {
		b = append(b, byte('0'+h%10))
		h /= 10
	}
	return string(b)
}

// Shares of user actions.
const (
	shareSessions = 0.35 // in browsers with session telemetry
	shareMobile   = 0.43
	sharePartners = 0.12
	shareStaging  = 0.07
	shareAgent    = 0.03

	// actionsPerSession and turnsPerTalk are approximate averages.
	actionsPerSession = 6.5
	turnsPerTalk      = 2.4
)

// slot is one minute that is being made.
type slot struct {
	*shop
	minute int64
	start  int64
	units  []*Unit
}

// makeMinute returns the units that begin in a minute, in no particular order.
func (sh *shop) makeMinute(minute int64) []*Unit {
	g := &slot{shop: sh, minute: minute, start: minute * nanosPerMinute}
	perMinute := sh.rate * 60 * traffic(g.start)
	g.each("sessions", perMinute*shareSessions/actionsPerSession, (*slot).session)
	g.each("mobile", perMinute*shareMobile, (*slot).mobile)
	g.each("partners", perMinute*sharePartners, (*slot).partner)
	g.each("staging", perMinute*shareStaging, (*slot).rehearsal)
	g.each("talks", perMinute*shareAgent/turnsPerTalk, (*slot).talk)
	g.rush()
	g.jobs()
	g.backgroundLogs()
	g.flood()
	g.metrics()
	return g.units
}

// each calls a function for each event of this minute, with the time of the event.
func (g *slot) each(purpose string, mean float64, do func(g *slot, r random, at int64)) {
	r := newRandom(g.seed, purpose, g.minute)
	moments := make([]int64, r.arrivals(mean))
	for i := range moments {
		moments[i] = g.start + r.Int64N(nanosPerMinute)
	}
	slices.Sort(moments)
	for i, at := range moments {
		do(g, newRandom(g.seed^hash(purpose), "one", g.minute<<20+int64(i)), at)
	}
}

// mobile is an action in the mobile application. The application sends no spans itself; its backend reports product events.
func (g *slot) mobile(r random, at int64) {
	u := g.visitor(r, true)
	t := g.begin(r, at, production, u)
	if r.chance(0.45) {
		t.sampleHead()
	}
	switch x := r.Float64(); {
	case t.state != "" && x < 0.55:
		t.listProducts()
	case t.state != "":
		t.searchProducts()
	case x < 0.50:
		t.viewProduct(pick(r, g.products))
	case x < 0.68:
		t.addToCart(pick(r, g.products))
	case x < 0.78:
		t.showCart()
	case x < 0.86:
		t.placeOrder()
	case x < 0.90:
		t.signUp()
	default:
		t.orderStatus()
	}
	t.end()
	g.mobileEvents(r, u, at)
}

// partner is a partner's machine that requests stock and prices.
func (g *slot) partner(r random, at int64) {
	if g.plan != nil {
		g.order(r, at, pick(r, customers()), inventory)
		return
	}
	t := g.begin(r, at, production, &visitor{agent: "acme-feed/2.3 (+https://partner.example/bot)"})
	t.partnerStock()
	t.end()
}

// rehearsal is a test that runs against staging, at the same rate all day.
func (g *slot) rehearsal(r random, at int64) {
	t := g.begin(r, at, staging, &visitor{id: "u-test", agent: "smoke-test/1.0"})
	switch r.IntN(5) {
	case 0:
		t.listProducts()
	case 1:
		t.viewProduct(pick(r, g.products))
	case 2:
		t.addToCart(pick(r, g.products))
	case 3:
		t.placeOrder()
	default:
		t.searchProducts()
	}
	t.end()
}

// Minutes between two runs of the scheduled jobs.
const (
	StockEvery    = 5
	TrainingEvery = 15
)

// jobs runs the scheduled jobs.
func (g *slot) jobs() {
	r := newRandom(g.seed, "jobs", g.minute)
	if g.minute%StockEvery == 2 {
		t := g.begin(r, g.start+int64(r.between(0, time.Second)), production, nil)
		t.reconcileStock()
		t.end()
	}
	if g.minute%TrainingEvery == 7 {
		t := g.begin(r, g.start+int64(r.between(0, time.Second)), production, nil)
		t.retrain()
		t.end()
	}
	// One in ten consumed batches of clicks is kept, with its sampling rate.
	for range r.arrivals(g.rate * 3 * traffic(g.start)) {
		t := g.begin(r, g.start+r.Int64N(nanosPerMinute), production, nil)
		t.sampleRate = 10
		t.consumeClicks()
		t.end()
	}
}

const (
	internal = tracepb.Span_SPAN_KIND_INTERNAL
	server   = tracepb.Span_SPAN_KIND_SERVER
	client   = tracepb.Span_SPAN_KIND_CLIENT
	producer = tracepb.Span_SPAN_KIND_PRODUCER
	consumer = tracepb.Span_SPAN_KIND_CONSUMER
)
