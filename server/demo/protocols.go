package demo

import (
	"fmt"
	"strings"
	"time"
)

const network = 450 * time.Microsecond

func internalHost(name string) string { return name + ".shop.svc.cluster.local" }

// call is an HTTP request from the open service to another service of the shop.
type call struct {
	to            string
	method, route string
	// path is the requested path. If it is empty, the path is route.
	path string
}

func (t *trace) http(c call, body func() *failure) *failure {
	to, from := t.g.services[c.to], t.running
	path := c.path
	if path == "" {
		path = c.route
	}
	var caller scope
	if from != nil {
		host := internalHost(c.to)
		if from.name == web {
			host = "shop.example"
		}
		caller = t.open(
			from, client, c.method, text("http.request.method", c.method), text("url.full", "http://"+host+path), text("server.address", host),
			whole("server.port", 8080), text("peer.service", c.to),
		)
		t.work(network)
	}
	began := t.now
	callee := t.open(to, server, c.method+" "+c.route, t.serverAttributes(to, c.method, c.route, path)...)
	f := t.serve(to, path, body)
	status := 200
	if c.method == "POST" {
		status = 201
	}
	if f != nil {
		status = f.http
	}
	if to.legacy {
		t.add(whole("http.status_code", status))
	} else {
		t.add(whole("http.response.status_code", status))
	}
	attributes := []attribute{text("http.request.method", c.method), text("http.route", c.route), whole("http.response.status_code", status)}
	if status >= 500 {
		t.add(text("error.type", fmt.Sprint(status)))
		attributes = append(attributes, text("error.type", fmt.Sprint(status)))
	}
	if to.name == edge {
		level := levelInfo
		if status >= 500 {
			level = levelError
		}
		t.log(level, fmt.Sprintf("%s %s %d %d ms", c.method, path, status, (t.now-began)/int64(ms)), text("http.route", c.route),
			whole("http.response.status_code", status))
	}
	t.observe("http.server.request.duration", seconds(t.now-began), attributes...)
	if status >= 500 {
		t.shut(callee, f)
	} else {
		t.shut(callee, nil)
	}
	if from != nil {
		t.work(network)
		t.add(whole("http.response.status_code", status))
		if status >= 400 {
			t.add(text("error.type", fmt.Sprint(status)))
			t.shut(caller, &failure{message: "", recorded: true})
		} else {
			t.shut(caller, nil)
		}
	}
	return f
}

func (t *trace) serverAttributes(to *service, method, route, path string) []attribute {
	var a []attribute
	if to.legacy {
		a = []attribute{text("http.method", method), text("http.route", route), text("http.target", path), text("http.scheme", "http")}
	} else {
		a = []attribute{
			text("http.request.method", method), text("http.route", route), text("url.path", path), text("url.scheme", "http"),
			text("network.protocol.version", "1.1"), text("server.address", internalHost(to.name)),
		}
	}
	if v := t.visitor; v != nil && to.name == edge {
		a = append(a, text("user_agent.original", v.agent))
		if v.id != "" {
			a = append(a, text("user.id", v.id))
		}
	}
	return a
}

func seconds(nanos int64) float64 { return float64(nanos) / 1e9 }

// external calls a program that sends no telemetry.
func (t *trace) external(method, address, path string, median time.Duration, fail func() *failure, attributes ...attribute) *failure {
	once := func(median time.Duration, fail func() *failure) *failure {
		return t.externalOnce(method, address, path, median, fail, attributes...)
	}
	if p := t.troubled(address); p != nil {
		return p.call(t, "", median, fail, once)
	}
	return once(median, fail)
}

func (t *trace) externalOnce(
	method, address, path string, median time.Duration, fail func() *failure, attributes ...attribute,
) *failure {
	s := t.running
	var a []attribute
	url := "https://" + address + path
	if s.legacy {
		a = append(a, text("http.method", method), text("http.url", url), text("net.peer.name", address), text("server.address", address))
	} else {
		a = append(a, text("http.request.method", method), text("url.full", url), text("server.address", address), whole("server.port", 443))
	}
	a = append(append(a, text("peer.service", address)), attributes...)
	sc := t.open(s, client, method, a...)
	began := t.now
	f := fail()
	status := 200
	switch {
	case f == nil:
		t.work(median)
	case f.http > 0 && f.kind != timeoutKind && !f.unanswered:
		t.work(median)
		status = f.http
	default:
		status = 0 // no answer arrived
	}
	key := "http.response.status_code"
	if s.legacy {
		key = "http.status_code"
	}
	if status > 0 {
		t.add(whole(key, status))
	}
	observed := []attribute{text("http.request.method", method), text("server.address", address)}
	if f != nil {
		kind := f.kind
		if status > 0 {
			kind = fmt.Sprint(status)
		}
		t.add(text("error.type", kind))
		observed = append(observed, text("error.type", kind))
	}
	t.observe("http.client.request.duration", seconds(t.now-began), observed...)
	t.shut(sc, f)
	return f
}

const timeoutKind = "java.net.SocketTimeoutException"

// grpc calls a method of another service, given as service/Method.
func (t *trace) grpc(to, method string, body func() *failure) *failure {
	name, short, _ := strings.Cut(method, "/")
	attributes := func() []attribute {
		return []attribute{
			text("rpc.system", "grpc"), text("rpc.service", name), text("rpc.method", short), text("server.address", internalHost(to)),
		}
	}
	var caller scope
	from := t.running
	if from != nil {
		caller = t.open(from, client, method, append(attributes(), whole("server.port", 9090), text("peer.service", to))...)
		t.work(network)
	}
	began := t.now
	callee := t.open(t.g.services[to], server, method, attributes()...)
	f := t.serve(t.g.services[to], "", body)
	code := 0
	if f != nil {
		code = f.grpc
	}
	t.add(whole("rpc.grpc.status_code", code))
	t.observe("rpc.server.duration", seconds(t.now-began)*1e3, text("rpc.service", name), text("rpc.method", short),
		whole("rpc.grpc.status_code", code))
	// An error that the caller could have avoided is not an error of the server (OpenTelemetry semantic conventions for gRPC).
	if f != nil && !f.expected {
		t.shut(callee, f)
	} else {
		t.shut(callee, nil)
	}
	if from != nil {
		t.work(network)
		t.add(whole("rpc.grpc.status_code", code))
		if code != 0 {
			t.shut(caller, &failure{message: f.message, recorded: true})
		} else {
			t.shut(caller, nil)
		}
	}
	return f
}

// database describes a statement on a database.
type database struct {
	system, namespace, host, operation, table, statement string
}

// query runs a statement on a database.
func (t *trace) query(d database, median time.Duration, fail func() *failure) *failure {
	if p := t.troubled(d.namespace); p != nil {
		return p.call(t, d.table, median, fail, func(median time.Duration, fail func() *failure) *failure { return t.queryOnce(d, median, fail) })
	}
	return t.queryOnce(d, median, fail)
}

func (t *trace) queryOnce(d database, median time.Duration, fail func() *failure) *failure {
	s := t.running
	var a []attribute
	summary := strings.TrimSpace(d.operation + " " + d.table)
	if s.legacy {
		a = []attribute{
			text("db.system", d.system), text("db.name", d.namespace), text("db.operation", d.operation), text("db.statement", d.statement),
			text("net.peer.name", d.host), text("server.address", d.host),
		}
	} else {
		a = []attribute{
			text("db.system.name", d.system), text("db.namespace", d.namespace), text("db.operation.name", d.operation),
			text("db.query.text", d.statement), text("db.query.summary", summary), text("server.address", d.host),
		}
	}
	if d.table != "" {
		a = append(a, text("db.collection.name", d.table))
	}
	sc := t.open(s, client, summary, a...)
	began := t.now
	t.work(median)
	var f *failure
	if fail != nil {
		f = fail()
	}
	observed := []attribute{text("db.system.name", d.system), text("db.operation.name", d.operation)}
	if f != nil {
		t.add(text("error.type", f.kind))
		observed = append(observed, text("error.type", f.kind))
	}
	t.observe("db.client.operation.duration", seconds(t.now-began), observed...)
	t.shut(sc, f)
	return f
}

func postgres(namespace, operation, table, statement string) database {
	return database{"postgresql", namespace, "pg-" + namespace + ".db.shop.example", operation, table, statement}
}

func mysql(operation, table, statement string) database {
	return database{"mysql", "inventory", "mysql-inventory.db.shop.example", operation, table, statement}
}

func redis(operation, statement string) database {
	return database{"redis", "0", "redis-shop.db.shop.example", operation, "", statement}
}

func mongodb(operation, collection, statement string) database {
	return database{"mongodb", "recommendation", "mongo-reco.db.shop.example", operation, collection, statement}
}

func opensearch(statement string) database {
	return database{"opensearch", "products", "opensearch.db.shop.example", "search", "products", statement}
}

// publish sends a message to a topic or queue. Each consumer function is the work of a consumer, which begins later.
func (t *trace) publish(system, destination string, consumers ...func()) {
	sc := t.open(
		t.running, producer, "publish "+destination, text("messaging.system", system), text("messaging.destination.name", destination),
		text("messaging.operation.type", "send"), text("messaging.operation.name", "publish"), text("messaging.message.id", t.r.uuid()),
		text("server.address", system+".mq.shop.example"),
	)
	t.work(3 * time.Millisecond)
	for _, consume := range consumers {
		t.later(t.r.near(120*time.Millisecond, 0.8), consume)
	}
	t.shut(sc, nil)
}

// consume processes a message.
func (t *trace) consume(to, system, destination, group string, body func() *failure) {
	t.wait(t.held(to, destination))
	began := t.now
	attributes := []attribute{
		text("messaging.system", system), text("messaging.destination.name", destination), text("messaging.operation.type", "process"),
		text("messaging.operation.name", "process"), text("messaging.consumer.group.name", group),
	}
	if system == "kafka" {
		attributes = append(attributes, text("messaging.destination.partition.id", fmt.Sprint(t.r.IntN(6))),
			whole("messaging.kafka.offset", t.now/int64(time.Second)))
	}
	sc := t.open(t.g.services[to], consumer, "process "+destination, attributes...)
	if t.link != nil {
		sc.span.Links, t.link = append(sc.span.Links, t.link), nil
	}
	f := t.serve(t.g.services[to], "", body)
	if f != nil && !f.expected {
		t.add(text("error.type", f.kind))
	} else {
		f = nil
	}
	t.observe("messaging.process.duration", seconds(t.now-began), text("messaging.system", system),
		text("messaging.destination.name", destination))
	t.shut(sc, f)
}
