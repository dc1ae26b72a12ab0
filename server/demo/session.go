package demo

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"time"
)

// recordedShare is the share of sessions with a recording.
const recordedShare = 0.15

// session is a visit in a browser: the telemetry of its SDK, and the traces that it causes.
type session struct {
	g    *slot
	r    random
	v    *visitor
	id   string
	tape *tape // nil when the session is not recorded

	start, now, last     int64
	seq, pages, clicks   int
	errors               int
	traces               []string
	entry, address, exit string
	chunks               int
	step                 *Unit // the SDK's telemetry for the current step
}

const origin = "https://shop.example"

// In this shop, a session ends when its visitor was inactive for this time.
const maxSession = 9 * time.Minute

// session makes one visit. Of 100 visits about 75 look at a product, 30 put it into the cart, 17 begin the checkout and 13 order.
func (g *slot) session(r random, at int64) {
	v := g.visitor(r, false)
	s := &session{g: g, r: r, v: v, id: r.uuid(), start: at, now: at, last: at}
	if r.chance(recordedShare) {
		s.tape = &tape{}
	}
	s.visit()
	s.finish()
}

func (s *session) visit() {
	s.page("/", "Welcome", func(t *trace) *failure { return t.listProducts() })
	s.meta(1)
	if s.v.id == "" && s.r.chance(0.22) {
		s.page("/signup", "Create an account", nil)
		s.input("#email")
		s.input("#password")
		if f := s.click("button#sign-up", "Create account", "/api/signup", func(t *trace) *failure { return t.signUp() }); f == nil {
			s.v.id = "u-" + s.r.digits(6)
			s.custom("signed up", map[string]string{"plan": "free"})
		}
	}
	if s.r.chance(0.2) {
		s.page("/search", "Search", func(t *trace) *failure { return t.searchProducts() })
	}
	if !s.r.chance(0.75) {
		return
	}
	var p product
	for range 1 + s.r.IntN(3) {
		p = pick(s.r, s.g.products)
		s.page("/products/"+p.id, p.name, func(t *trace) *failure { return t.viewProduct(p) })
		s.custom("product viewed", map[string]string{"product_id": p.id, "category": p.category, "price": fmt.Sprintf("%.2f", p.price)})
	}
	if !s.r.chance(0.4) {
		return
	}
	if f := s.click("button.add-to-cart", "Add to cart", "/api/cart/items", func(t *trace) *failure { return t.addToCart(p) }); f != nil {
		s.fail(f)
		if s.click("button.add-to-cart", "Add to cart", "/api/cart/items", func(t *trace) *failure { return t.addToCart(p) }) != nil {
			return
		}
	}
	s.custom("added to cart", map[string]string{"product_id": p.id, "category": p.category})
	s.page("/cart", "Your cart", func(t *trace) *failure { return t.showCart() })
	if !s.r.chance(0.58) {
		return
	}
	s.page("/checkout", "Checkout", nil)
	s.custom("checkout started", map[string]string{"items": "1"})
	s.input("#card-number")
	if !s.r.chance(0.8) {
		return
	}
	if f := s.click("button#pay", "Pay now", "/api/checkout", func(t *trace) *failure { return t.placeOrder() }); f != nil {
		s.fail(f)
		return
	}
	s.page("/thanks", "Thank you", nil)
	s.custom("order placed", map[string]string{"total": fmt.Sprintf("%.2f", p.price), "category": p.category})
}

// begin opens the next telemetry unit of the SDK.
func (s *session) begin() {
	if s.step == nil {
		s.step = &Unit{}
	}
}

// flush sends the gathered telemetry with its recording.
func (s *session) flush() {
	if s.step == nil {
		return
	}
	if s.tape != nil {
		if events, checkpoint := s.tape.cut(); len(events) > 0 {
			s.step.chunks = append(s.step.chunks, chunk{s.id, s.chunks, checkpoint, events, time.Duration(s.now - s.last)})
			s.chunks++
		}
	}
	s.last = s.now
	s.step.due = s.now
	s.g.units = append(s.g.units, s.step)
	s.step = nil
}

func (s *session) pause(a, b time.Duration) {
	s.now += int64(s.r.between(a, b))
	s.now = min(s.now, s.start+int64(maxSession))
}

// event adds a line to the timeline.
func (s *session) event(kind string, fields map[string]any) {
	s.begin()
	fields["session_id"], fields["timestamp"], fields["seq"], fields["type"] = s.id, stamp(s.now), s.seq, kind
	fields["visitor_id"], fields["user_id"], fields["group_id"] = s.v.key, s.v.id, s.v.group
	if fields["url"] == nil {
		fields["url"] = s.address
	}
	s.seq++
	s.step.timeline = append(s.step.timeline, line(fields))
}

func line(fields any) []byte {
	text, _ := json.Marshal(fields) // texts and numbers cannot fail to encode
	return text
}

// page goes to a page, which may send a request to the server.
func (s *session) page(path, title string, load func(*trace) *failure) {
	s.flush()
	if s.pages > 0 {
		s.pause(3*time.Second, 35*time.Second)
	}
	s.address, s.exit = origin+path, path
	if s.pages == 0 {
		s.entry = path
		if s.v.source != "" {
			s.address += "?utm_source=" + url.QueryEscape(s.v.source)
		}
	}
	s.pages++
	s.event("navigation", map[string]any{"message": title})
	if s.tape != nil {
		s.tape.page(s.now, s.address, title)
	}
	if load != nil {
		s.request("navigate "+routeOf(path), "GET", "/api"+path, load)
	}
	if s.tape != nil {
		s.tape.look(s.r, s.now)
	}
}

func routeOf(path string) string {
	if len(path) > len("/products/") && path[:len("/products/")] == "/products/" {
		return "/products/{id}"
	}
	return path
}

// request is a request of the page to the server.
func (s *session) request(name, method, path string, do func(*trace) *failure) *failure {
	t := s.g.begin(s.r, s.now, production, s.v)
	t.session = s.id
	sc := t.open(s.g.services[web], internal, name, text("url.full", s.address), text("browser.platform", s.v.os),
		text("user_agent.original", s.v.agent))
	t.work(8 * ms)
	f := do(t)
	t.work(12 * ms)
	if f != nil && !f.expected {
		t.shut(sc, &failure{message: fmt.Sprintf("%s %s: %d", method, path, f.http), recorded: true})
	} else {
		t.shut(sc, nil)
	}
	took := t.now - s.now
	t.end()
	id := hex.EncodeToString(t.id)
	s.traces = append(s.traces, id)
	status := 200
	if f != nil {
		status = f.http
	}
	s.now = min(t.now, s.start+int64(maxSession))
	s.event("network", map[string]any{
		"net_method": method, "net_url": origin + path, "net_status": status, "net_duration_ms": took / int64(ms), "trace_id": id,
	})
	return f
}

// click presses an element that sends a request to the server.
func (s *session) click(selector, label, path string, do func(*trace) *failure) *failure {
	s.pause(2*time.Second, 20*time.Second)
	s.clicks++
	s.event("click", map[string]any{"target_selector": selector, "target_text": label})
	if s.tape != nil {
		s.tape.click(s.now)
	}
	f := s.request("click "+label, "POST", path, do)
	if s.tape != nil {
		message := "Done."
		if f != nil {
			message = "That did not work."
		}
		s.tape.say(s.now, message)
	}
	return f
}

func (s *session) input(selector string) {
	s.pause(2*time.Second, 8*time.Second)
	s.event("input", map[string]any{"target_selector": selector})
	if s.tape != nil {
		s.tape.input(s.now, 6+s.r.IntN(10))
	}
}

func (s *session) custom(name string, properties map[string]string) {
	s.event("custom", map[string]any{"message": name, "attributes": properties})
}

// fail shows the message of a failed request on the page and logs it.
func (s *session) fail(f *failure) {
	s.errors++
	s.now += int64(20 * ms)
	s.event("console", map[string]any{"level": "error", "message": "request failed: " + f.message})
	s.event("error", map[string]any{
		"message": fmt.Sprintf("ApiError: the server answers %d", f.http),
		"error_stack": fmt.Sprintf("ApiError: the server answers %d\n    at request (%s/assets/app.js:1:48211)\n    at async onClick "+
			"(%s/assets/app.js:1:51002)", f.http, origin, origin),
	})
}

// meta adds a row about the session: version 1 at its beginning, version 2 at its end.
func (s *session) meta(version int) {
	v := s.v
	row := map[string]any{
		"session_id": s.id, "start_time": stamp(s.start), "version": version, "status": "active", "user_id": v.id, "visitor_id": v.key,
		"visitor_is_new": bit(v.isNew),
		"url_initial":    origin + s.entry, "host": "shop.example", "entry_path": s.entry, "exit_path": s.exit, "user_agent": v.agent,
		"browser_name": v.browser, "os_name": v.os,
		"device_type": v.device, "country": v.country, "language": v.language, "service_name": web, "referrer": v.referrer,
		"utm_source": v.source, "utm_medium": v.medium,
		"utm_campaign": v.campaign, "page_views": s.pages, "click_count": s.clicks, "error_count": s.errors, "trace_ids": s.traces,
		"last_activity_at": stamp(s.now),
		"duration_ms":      (s.now - s.start) / int64(ms), "resource_attributes": map[string]string{
			"service.version":        s.g.services[web].version,
			"deployment.environment": production,
		},
	}
	if v.id != "" {
		row["user_name"] = v.name
	}
	if v.group != "" {
		row["group_id"], row["group_name"] = v.group, v.group+" GmbH"
	}
	if version == 2 {
		row["status"], row["end_time"] = "ended", stamp(s.now)
	}
	u := &Unit{due: s.now, sessions: [][]byte{line(row)}}
	s.g.units = append(s.g.units, u)
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *session) finish() {
	s.pause(time.Second, 12*time.Second)
	s.flush()
	s.meta(2)
}

// mobileEvents makes the product events that the backend of the mobile application reports about an action.
func (g *slot) mobileEvents(r random, v *visitor, at int64) {
	name, attributes := "$screen", map[string]string{"screen": pick(r, []string{"home", "product", "cart", "orders"})}
	switch x := r.Float64(); {
	case x < 0.30:
		p := pick(r, g.products)
		name, attributes = "product viewed", map[string]string{"product_id": p.id, "category": p.category}
	case x < 0.40:
		name, attributes = "added to cart", map[string]string{"category": pick(r, g.products).category}
	case x < 0.44:
		name, attributes = "order placed", map[string]string{"total": fmt.Sprintf("%.2f", 15+r.Float64()*200)}
	}
	row := map[string]any{
		"name": name, "timestamp": stamp(at), "source": "mobile", "visitor_id": v.key, "user_id": v.id, "group_id": v.group,
		"service_name": "shop-app", "attributes": attributes,
	}
	g.units = append(g.units, &Unit{due: at, products: [][]byte{line(row)}})
}
