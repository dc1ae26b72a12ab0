package demo

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// places are the places at which services fail, by names.
var places = sync.OnceValue(func() map[string]site {
	return map[string]site{
		"run_turn":          {"run_turn", "support-agent/agent/loop.py", `"role": "user"`},
		"run_tool":          {"run_tool", "support-agent/agent/loop.py", "return tool("},
		"run_turn 2":        {"run_turn", "support-agent/agent/loop.py", "run_tool(answer.tool)"},
		"find_similar":      {"find_similar", "recommendation/similar.py", "_collection.find("},
		"SearchIndex.query": {"async SearchIndex.query", "search/src/query.js", "await this.client.search("},
		"shop.catalog.ProductRepository.find": {
			"shop.catalog.ProductRepository.find",
			"catalog/src/main/java/shop/catalog/ProductRepository.java", "ResultSet rows = statement",
		},
		"Cart.total":                {"Cart.total", "cart/src/cart.js", "price.minorUnits"},
		"Cart.add":                  {"Cart.add", "cart/src/cart.js", "this.total("},
		"addItem":                   {"async addItem", "cart/src/routes/items.js", "cart.add("},
		"CartStore.put":             {"async CartStore.put", "cart/src/store.js", "await this.redis.hset("},
		"addItem 2":                 {"async addItem", "cart/src/routes/items.js", "await store.put("},
		"parcelway.(*Client).Rates": {"shop/shipping/parcelway.(*Client).Rates", "shipping/parcelway/client.go", "parcelway answers"},
		"shop.payments.PayfastClient.post": {
			"shop.payments.PayfastClient.post", "payments/src/main/java/shop/payments/PayfastClient.java",
			"timeout: no answer",
		},
		"shop.payments.PayfastClient.charge": {
			"shop.payments.PayfastClient.charge", "payments/src/main/java/shop/payments/PayfastClient.java",
			"return post(",
		},
		"Mailgrid.send":  {"async Mailgrid.send", "email-worker/src/mailgrid.js", "throw new MailgridError("},
		"lookup_order":   {"lookup_order", "support-agent/agent/tools.py", "raise OrderNotFound("},
		"track_shipment": {"track_shipment", "support-agent/agent/tools.py", "carrier.track("},
		"search_help":    {"search_help", "support-agent/agent/tools.py", "raise SearchUnavailable("},
		"issue_refund":   {"issue_refund", "support-agent/agent/tools.py", "raise RefundWindowExpired("},
	}
})

// stack writes the trace of an exception in a service, in the format of its language. The names are those of places in the service's own
// code, the failing one first; below them are the functions through which every request runs.
func stack(s *service, kind, message string, names ...string) string {
	var own []site
	for _, name := range names {
		own = append(own, places()[name])
	}
	return written(s, kind, message, append(own, entry(s)...))
}

func written(s *service, kind, message string, places []site) string {
	switch s.language {
	case "java":
		return javaStack(kind+": "+message, places)
	case "go":
		return goStack(places)
	case "python":
		return pythonStack(kind+": "+message, places)
	default:
		return nodeStack(kind+": "+message, places)
	}
}

// entry are the calls by which a request reaches the code of a service.
func entry(s *service) []site {
	switch s.language {
	case "java":
		class := "shop." + s.name + "." + strings.ToUpper(s.name[:1]) + s.name[1:] + "Server"
		file := s.name + "/src/main/java/" + strings.ReplaceAll(class, ".", "/") + ".java"
		guard := "platform/java/src/main/java/shop/platform/Guard.java"
		return []site{
			{class + ".route", file, "        return "},
			{"shop.platform.Guard.attempt", guard, "work.call()"},
			{"shop.platform.Guard.timed", guard, "return attempt(work)"},
			{"shop.platform.Guard.run", guard, "return timed(work)"},
			{class + ".handle", file, "Guard.run("},
			{class + ".serve", file, "request.reply("},
		}
	case "go":
		guard := "platform/go/platform.go"
		return []site{
			{"main.(*server).route", s.name + "/server.go", "\treturn "},
			{"shop/platform/go.Handler.handle.func1", guard, "Run(r.Context()"},
			{"shop/platform/go.attempt", guard, "return work(ctx)"},
			{"shop/platform/go.Run", guard, "return attempt("},
			{"shop/platform/go.Handler.handle", guard, "Run(r.Context()"},
			{"shop/platform/go.Handler.ServeHTTP", guard, "\th.handle(w, r)"},
		}
	case "python":
		guard := "platform/python/platform_shop/guard.py"
		return []site{
			{"route", s.name + "/server.py", "    return "},
			{"attempt", guard, "return work()"},
			{"run", guard, "return Guard.attempt("},
			{"handle", guard, "return Guard.run("},
			{"serve", guard, "request.reply("},
		}
	default:
		guard := "platform/node/platform.js"
		return []site{
			{"async route", s.name + "/src/server.js", "await answer("},
			{"async Guard.attempt", guard, "await work()"},
			{"async Guard.run", guard, "await Guard.attempt("},
			{"async traced", guard, "await Guard.run("},
			{"async handle", guard, "await traced("},
			{"async serve", guard, "connection.reply("},
		}
	}
}

// shared is a place in the code that the services share.
func shared(s *service, function string) site {
	class, method, _ := strings.Cut(function, ".")
	code := map[string]string{
		"Memory.grow": "new byte[size]", "Upstream.pick": "no healthy upstream", "Experiment.run": "the request has no plan",
		"Cache.read": "cannot decode the entry", "Handler.prepare": "the field totals is missing", "Connection.handshake": "has expired",
		"Connection.read": "was reset",
	}[function]
	switch s.language {
	case "java":
		return site{"shop.platform." + function, "platform/java/src/main/java/shop/platform/Platform.java", code}
	case "go":
		name := map[string]string{
			"Memory": "Grow", "Upstream": "Pick", "Experiment": "Experiment", "Cache": "ReadCache",
			"Handler": "Prepare",
		}[class]
		if class == "Connection" {
			name = map[string]string{"handshake": "Handshake", "read": "ReadConnection"}[method]
		}
		if class == "Memory" {
			code = "make([]byte, size)"
		}
		return site{"shop/platform/go." + name, "platform/go/platform.go", code}
	case "python":
		switch function {
		case "Memory.grow":
			code = "bytearray(size)"
		case "Experiment.run":
			method = "run_plan"
		case "Cache.read":
			method = "read_entry"
		}
		return site{method, "platform/python/platform_shop/guard.py", code}
	default:
		if class == "Memory" {
			code = "Buffer.alloc(size)"
		}
		return site{function, "platform/node/platform.js", code}
	}
}

func javaStack(head string, places []site) string {
	var b strings.Builder
	b.WriteString(head)
	for _, p := range places {
		line, _, _ := p.line()
		fmt.Fprintf(&b, "\n\tat %s(%s:%d)", p.function, p.file[strings.LastIndexByte(p.file, '/')+1:], line)
	}
	b.WriteString("\n\tat io.grpc.stub.ServerCalls$UnaryServerCallHandler$UnaryServerCallListener.onHalfClose(ServerCalls.java:182)" +
		"\n\tat java.base/java.util.concurrent.ThreadPoolExecutor.runWorker(ThreadPoolExecutor.java:1144)")
	return b.String()
}

// home is the folder in which an image has the repository.
const home = "/app/"

func nodeStack(head string, places []site) string {
	var b strings.Builder
	b.WriteString(head)
	for _, p := range places {
		line, _, column := p.line()
		fmt.Fprintf(&b, "\n    at %s (%s%s:%d:%d)", p.function, home, p.file, line, column)
	}
	b.WriteString("\n    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)")
	return b.String()
}

func goStack(places []site) string {
	var b strings.Builder
	b.WriteString("goroutine 91 [running]:")
	for _, p := range places {
		line, _, _ := p.line()
		fmt.Fprintf(&b, "\n%s(0xc0003c4000)\n\t%s%s:%d +0x1d8", p.function, home, p.file, line)
	}
	return b.String()
}

// pythonStack has the failing call last, as Python prints it.
func pythonStack(tail string, places []site) string {
	var b strings.Builder
	b.WriteString("Traceback (most recent call last):\n")
	for _, p := range slices.Backward(places) {
		line, text, _ := p.line()
		fmt.Fprintf(&b, "  File \"%s%s\", line %d, in %s\n    %s\n", home, p.file, line, p.function, text)
	}
	return b.String() + tail
}
