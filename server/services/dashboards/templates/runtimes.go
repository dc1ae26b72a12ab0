package templates

func runtimes() []*Template {
	const byService = "service.name"
	return []*Template{
		{
			Slug: "jvm-runtime", Name: "JVM Runtime", Description: "Memory, garbage collection, threads and classes of Java services.",
			Category: "application", Tags: []string{"jvm", "java", "runtime"}, Requirements: []string{"JVM instrumentation"},
			Requirement:    metricsFrom("JVM metrics", "OpenTelemetry Java agent", "Run the service with the OpenTelemetry Java agent."),
			MetricPrefixes: []string{"jvm."}, Parameters: serviceName(),
			widgets: func(b *board) {
				f := b.service()
				b.line(layout{0, 0, 6, 4}, "Heap Used", "bytes", metric("jvm.memory.used", upDown, "avg", f, byService))
				b.line(layout{6, 0, 6, 4}, "Heap Committed", "bytes", metric("jvm.memory.committed", upDown, "avg", f, byService))
				b.area(layout{0, 4, 6, 4}, "GC Pause (Avg)", "duration_s", metric("jvm.gc.duration", histogram, "avg", f, byService))
				b.line(layout{6, 4, 6, 4}, "Threads", "number", metric("jvm.thread.count", upDown, "avg", f, byService))
				b.table(layout{0, 8, 12, 4}, "Classes Loaded by Service", query("breakdown", metric("jvm.class.count", upDown, "avg", f, byService)),
					column("name", "Service", ""), column("value", "Classes", "number"))
			},
		},
		{
			// The semantic conventions renamed these metrics, so each chart queries the new and the old name.
			Slug: "nodejs-runtime", Name: "Node.js Runtime", Description: "Event loop, heap and garbage collection of Node.js services.",
			Category: "application", Tags: []string{"nodejs", "javascript", "runtime"}, Requirements: []string{"Node.js instrumentation"},
			Requirement: metricsFrom("Node.js metrics", "@opentelemetry/instrumentation-runtime-node",
				"Add the runtime instrumentation to the Node.js SDK."),
			MetricPrefixes: []string{"nodejs.", "v8js.", "process.runtime.nodejs."}, Parameters: serviceName(),
			widgets: func(b *board) {
				f := b.service()
				b.area(layout{0, 0, 6, 4}, "Event Loop Lag", "duration_s", metric("nodejs.eventloop.delay.p99", gauge, "max", f, byService),
					metric("process.runtime.nodejs.eventloop.lag", histogram, "avg", f, byService))
				b.line(layout{6, 0, 6, 4}, "Heap Used", "bytes", metric("v8js.memory.heap.used", gauge, "avg", f, byService),
					metric("process.runtime.nodejs.memory.heap.used", gauge, "avg", f, byService))
				b.area(layout{0, 4, 6, 4}, "GC Count", "number", metric("v8js.gc.duration", histogram, "count", f, byService),
					metric("process.runtime.nodejs.gc.count", counter, "rate", f, byService))
				b.line(layout{6, 4, 6, 4}, "Active Handles", "number", metric("process.runtime.nodejs.handles", gauge, "avg", f, byService))
			},
		},
		{
			Slug: "grpc-service", Name: "gRPC Service", Description: "Requests, errors and latency of gRPC methods.", Category: "application",
			Tags: []string{"grpc", "rpc", "latency"}, Requirements: []string{"gRPC instrumentation"}, Parameters: serviceName(),
			widgets: func(b *board) {
				f := where(b.service(), `attr.rpc.system = "grpc"`)
				b.area(layout{0, 0, 6, 4}, "Requests by Status Code", "number", spans("count", f, "status.code"))
				b.area(layout{6, 0, 6, 4}, "Error Rate", "percent", spans("error_rate", f, byService))
				b.line(layout{0, 4, 6, 4}, "P50 Latency", "duration_ms", spans("p50_duration", f, byService))
				b.line(layout{6, 4, 6, 4}, "P95 Latency", "duration_ms", spans("p95_duration", f, byService))
				b.table(layout{0, 8, 12, 5}, "Top gRPC Methods", query("breakdown", spans("count", f, "span.name")),
					column("name", "Method", ""), column("value", "Requests", "number"))
			},
		},
	}
}
