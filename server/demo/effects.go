package demo

import (
	"fmt"
	"strings"
	"time"
)

// cacheKind is the exception of a cache entry that cannot be decoded.
const cacheKind = "CacheDecodeException"

// serve does the work of an entry span of a service, with the effects of the active faults.
func (t *trace) serve(s *service, path string, body func() *failure) *failure {
	if t.g.plan == nil || t.environment != production {
		return body()
	}
	flag, variant := flagOf(s.name), "off"
	var failed *failure
	for _, p := range t.g.plan.at(t.now) {
		if p.service != s.name || failed != nil {
			continue
		}
		hit := p.hits(t, path)
		if p.kind == KindFlag && hit {
			variant = "on"
		}
		if hit {
			failed = p.spoil(t, s)
		}
	}
	if flag != "" {
		t.add(text("feature_flag."+flag, variant))
	}
	if v := t.visitor; v != nil && v.customer != "" && s.name == edge {
		t.add(text("shop.customer.id", v.customer))
	}
	if failed != nil {
		t.log(levelError, failed.message, text("exception.type", failed.kind), text("exception.message", failed.message),
			text("exception.stacktrace", failed.stack))
		return failed
	}
	return body()
}

// hits tells whether a fault affects the request that begins now, in its service.
func (p *planted) hits(t *trace, path string) bool {
	switch p.kind {
	case KindLeak:
		return p.grown(t.now) > leakFelt
	case KindPod:
		return t.replicas[p.service] == p.replica
	case KindRegion:
		return t.region == p.region && (!p.fails || t.r.chance(p.size))
	case KindFlag, KindCache:
		if p.kind == KindCache && !strings.Contains(path, p.key) {
			return false
		}
		return t.r.chance(p.size)
	case KindRelease:
		return !p.fails || t.r.chance(p.size)
	case KindQueue:
		return t.at.Kind == consumer && strings.HasSuffix(t.at.Name, " "+p.dependency)
	case KindCustomer, KindLogLevel:
		return true
	}
	return false
}

// spoil makes a request slow or lets it fail, as its fault demands. It returns the failure, if there is one.
func (p *planted) spoil(t *trace, s *service) *failure {
	wait := func(times float64) {
		t.now += int64(t.r.near(time.Duration(times*float64(typical(s.name))), 0.3))
	}
	switch p.kind {
	case KindLeak:
		over := (p.grown(t.now) - leakFelt) / (1 - leakFelt)
		wait(1 + 8*over)
		if over > 0.8 && t.r.chance(0.15) {
			return broken(s, "OutOfMemoryError", "not enough memory to serve the request", "Memory.grow", 503, 14)
		}
	case KindPod:
		wait(p.size)
	case KindQueue:
		wait(p.size)
	case KindCustomer:
		wait(p.size / 4)
	case KindRegion:
		if p.fails {
			return broken(s, "UpstreamUnavailable", "no healthy upstream in "+p.region, "Upstream.pick", 503, 14)
		}
		wait(p.size)
	case KindFlag:
		if p.fails && t.r.chance(0.9) {
			return broken(s, "IllegalStateError", p.flag+": the request has no plan", "Experiment.run", 500, 13)
		}
		wait(6)
	case KindCache:
		return broken(s, cacheKind, "cannot decode the entry for "+p.key, "Cache.read", 500, 13)
	case KindRelease:
		if p.fails {
			return broken(s, "NullReferenceError", "the field totals is missing", "Handler.prepare", 500, 13)
		}
		wait(p.size)
	case KindLogLevel:
		for i := range int(p.size / 2) {
			t.log(levelDebug, fmt.Sprintf("step %d: state %d, %d entries, %d bytes", i, t.r.IntN(9), t.r.IntN(400), t.r.IntN(90000)),
				text("log.logger", "shop."+s.name+".trace"))
		}
	}
	return nil
}

// broken is a failure in the code that the services share.
func broken(s *service, kind, message, function string, http, grpc int) *failure {
	return &failure{
		kind: kind, message: message, stack: written(s, kind, message, append([]site{shared(s, function)}, entry(s)...)),
		http: http, grpc: grpc,
	}
}

// troubled returns the fault of the running service's calls to a dependency. It is nil without one.
func (t *trace) troubled(dependency string) *planted {
	if t.g.plan == nil || t.environment != production {
		return nil
	}
	for _, p := range t.g.plan.at(t.now) {
		switch p.kind {
		case KindRetries, KindCertificate, KindQuery:
			if p.service == t.running.name && p.dependency == dependency {
				return p
			}
		}
	}
	return nil
}

// call makes the calls that the fault makes of one. once makes one call with a median and a cause of failure.
func (p *planted) call(
	t *trace, table string, median time.Duration, fail func() *failure, once func(time.Duration, func() *failure) *failure,
) *failure {
	switch p.kind {
	case KindQuery:
		if table == p.table {
			median += time.Duration(float64(median) * p.size * p.grown(t.now))
		}
		return once(median, fail)
	case KindCertificate:
		return once(4*ms, func() *failure {
			f := broken(t.running, "TLSError", "certificate of "+p.dependency+" has expired", "Connection.handshake", 502, 14)
			f.unanswered = true
			return f
		})
	}
	var last *failure
	for range StormAttempts {
		last = once(2*median, func() *failure {
			if !t.r.chance(p.size) {
				return nil
			}
			f := broken(t.running, "ConnectionReset", "connection to "+p.dependency+" was reset", "Connection.read", 503, 14)
			f.unanswered = true
			return f
		})
		if last == nil {
			return nil
		}
		t.now += int64(t.r.near(5*ms, 0.3))
	}
	return last
}

// held is the time for which messages of a topic or queue wait before the slow consumer takes them.
func (t *trace) held(to, destination string) time.Duration {
	if t.g.plan == nil || t.environment != production {
		return 0
	}
	for _, p := range t.g.plan.at(t.now) {
		if p.kind == KindQueue && p.service == to && p.dependency == destination {
			return time.Duration(p.grown(t.now) * float64(6*time.Minute))
		}
	}
	return 0
}

// rush makes the requests of a customer who sends more than usual.
func (g *slot) rush() {
	for _, p := range g.plan.at(g.start + nanosPerMinute/2) {
		if p.kind != KindCustomer {
			continue
		}
		perMinute := g.rate * 60 * traffic(g.start) * sharePartners / float64(len(customers())) * (p.size - 1) * 2
		g.each("rush", perMinute, func(g *slot, r random, at int64) {
			if p.on(at) {
				g.order(r, at, p.customer, p.service)
			}
		})
	}
}

// order is a request of a customer's machine to one of the services.
func (g *slot) order(r random, at int64, customer, service string) {
	t := g.begin(r, at, production, &visitor{agent: customer + "-feed/2.3 (+https://" + customer + ".example/bot)", customer: customer})
	switch service {
	case search:
		t.searchProducts()
	case catalog:
		t.listProducts()
	default:
		t.partnerStock()
	}
	t.end()
}

// Factors of metrics.

// memory is how many times more memory than usual a service needs.
func (p *plan) memory(service string) func(int64) float64 {
	return p.factor(func(f *planted, nano int64) float64 {
		if f.kind == KindLeak && f.service == service {
			return 1 + (f.size-1)*f.grown(nano)
		}
		return 1
	})
}

// memoryShare is memory for a share of the limit: it ends just below the limit.
func (p *plan) memoryShare(service string) func(int64) float64 {
	return p.factor(func(f *planted, nano int64) float64 {
		if f.kind == KindLeak && f.service == service {
			return 1 + 0.7*f.grown(nano)
		}
		return 1
	})
}

// busy is how many times more processor time than usual a service needs.
func (p *plan) busy(service string) func(int64) float64 {
	return p.factor(func(f *planted, _ int64) float64 {
		if f.kind == KindCustomer && (f.service == service || f.entry == service) {
			return 1.8
		}
		return 1
	})
}

// behind is how many times more messages than usual wait for a consumer.
func (p *plan) behind(service, destination string) func(int64) float64 {
	return p.factor(func(f *planted, nano int64) float64 {
		if f.kind == KindQueue && f.service == service && f.dependency == destination {
			return 1 + 40*f.size*f.grown(nano)
		}
		return 1
	})
}

func (p *plan) factor(of func(*planted, int64) float64) func(int64) float64 {
	if p == nil {
		return nil
	}
	return func(nano int64) float64 {
		v := 1.0
		for _, f := range p.at(nano) {
			v *= of(f, nano)
		}
		return v
	}
}
