package templates

// errorLabel groups errors by their type, else by their message, else by the place where they happened.
const errorLabel = `coalesce(nullIf(SpanAttributes['error.type'], ''), nullIf(EventsAttributes[indexOf(EventsName, 'exception')]['exception.type'], ''),` +
	` nullIf(StatusMessage, ''), SpanName)`

// weightedP95 is in milliseconds. A weight is a whole number: sixteenths of the number of spans that the span stands for.
const weightedP95 = "quantileTDigestWeighted(0.95)(DurationNano, toUInt64(round(SampleRate * 16))) / 1e6"

const (
	hasError = "has_error = true"
	// entry keeps the spans that measure a service: the requests that others make to it.
	entry = "is_entry = true"
)

func (b *board) errorsByType(p layout) {
	b.table(p, "Errors by Type", sql("table",
		"SELECT "+errorLabel+" AS error_label, round(sum(SampleRate)) AS count, uniq(ServiceName) AS affected_services_count FROM spans"+
			" WHERE $__orgFilter AND $__timeFilter(Timestamp) AND HasError"+b.sqlService()+
			" GROUP BY error_label ORDER BY count DESC, error_label LIMIT 20"),
		column("error_label", "Error", ""), column("count", "Count", "number"), column("affected_services_count", "Services", "number"))
}

func (b *board) affectedServices(p layout) {
	b.sqlNumber(p, "Affected Services", "number",
		"SELECT uniq(ServiceName) AS value FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp) AND HasError"+b.sqlService())
}

func application() []*Template {
	tracing := []string{"Tracing"}
	return []*Template{
		{
			Slug: "service-health", Name: "Service Health", Description: "Throughput, errors and latency of services.", Category: "application",
			Tags: []string{"service", "latency", "errors"}, Requirements: tracing, Parameters: serviceName(),
			widgets: func(b *board) {
				f := b.service()
				b.number(layout{0, 0, 3, 2}, "Throughput", "number", "sum", spans("count", where(f, entry)))
				b.number(layout{3, 0, 3, 2}, "Error Rate", "percent", "avg", spans("error_rate", f))
				b.number(layout{6, 0, 3, 2}, "P50 Latency", "duration_ms", "", spans("p50_duration", where(f, entry)))
				b.number(layout{9, 0, 3, 2}, "P95 Latency", "duration_ms", "", spans("p95_duration", where(f, entry)))
				b.area(layout{0, 2, 6, 4}, "Throughput Over Time", "number", spans("count", f, "service.name"))
				b.area(layout{6, 2, 6, 4}, "Error Rate Over Time", "percent", spans("error_rate", f, "service.name"))
				b.line(layout{0, 6, 12, 4}, "P95 Latency Over Time", "duration_ms", spans("p95_duration", f, "service.name"))
			},
		},
		{
			Slug: "error-tracking", Name: "Error Tracking", Description: "How many errors there are, of which types, and where.",
			Category: "application", Tags: []string{"errors"}, Requirements: tracing, Parameters: serviceName(),
			widgets: func(b *board) {
				b.area(layout{0, 0, 12, 4}, "Error Rate Over Time", "percent", spans("error_rate", b.service(), "service.name"))
				b.errorsByType(layout{0, 4, 12, 5})
				b.traces(layout{0, 9, 12, 5}, "Recent Error Traces", where(b.service(), hasError))
			},
		},
		{
			Slug: "platform-overview", Name: "Platform Overview", Description: "All services at a glance.", Category: "application",
			Tags: []string{"overview"}, Requirements: tracing,
			widgets: func(b *board) {
				b.number(layout{0, 0, 3, 2}, "Total Traces", "number", "sum", spans("count", "root_only = true"))
				b.number(layout{3, 0, 3, 2}, "Total Errors", "number", "sum", spans("count", hasError))
				b.number(layout{6, 0, 3, 2}, "Error Rate", "percent", "avg", spans("error_rate", ""))
				b.affectedServices(layout{9, 0, 3, 2})
				b.table(layout{0, 2, 12, 5}, "Service Overview", sql(
					"table",
					"SELECT ServiceName AS service, round(sum(SampleRate)) AS throughput, "+weightedP95+
						" AS p95, round(sumIf(SampleRate, HasError)) AS errors"+
						" FROM spans WHERE $__orgFilter AND $__timeFilter(Timestamp) AND IsEntry GROUP BY service ORDER BY throughput DESC, service LIMIT 50",
				),
					column("service", "Service", ""), column("throughput", "Throughput", "number"), column("p95", "P95",
						"duration_ms"), column("errors", "Errors", "number"))
				b.area(layout{0, 7, 6, 4}, "Throughput by Service", "number", spans("count", "", "service.name"))
				b.area(layout{6, 7, 6, 4}, "Error Rate by Service", "percent", spans("error_rate", "", "service.name"))
				b.traces(layout{0, 11, 12, 5}, "Recent Error Traces", hasError)
			},
		},
		{
			Slug: "http-endpoints", Name: "HTTP Endpoints", Description: "The busiest and the slowest endpoints.", Category: "application",
			Tags: []string{"http", "latency"}, Requirements: []string{"HTTP instrumentation"}, Parameters: serviceName(),
			widgets: func(b *board) {
				f := b.service()
				b.table(layout{0, 0, 6, 5}, "Top Endpoints by Throughput", query("breakdown", spans("count", f, "span.name")),
					column("name", "Endpoint", ""), column("value", "Requests", "number"))
				b.table(layout{6, 0, 6, 5}, "Slowest Endpoints (P95)", query("breakdown", spans("p95_duration", f, "span.name")),
					column("name", "Endpoint", ""), column("value", "P95", "duration_ms"))
				rates := spans("error_rate", f, "span.name")
				rates.SeriesLimit = new("20") // a reader cannot distinguish more series than that
				b.area(layout{0, 5, 12, 4}, "Error Rate by Endpoint", "percent", rates)
				b.traces(layout{0, 9, 12, 5}, "Recent Traces", f)
			},
		},
		{
			Slug: "top-errors", Name: "Top Errors", Description: "The most frequent errors and the services that have them.",
			Category: "application", Tags: []string{"errors"}, Requirements: tracing, Parameters: serviceName(),
			widgets: func(b *board) {
				f := b.service()
				b.number(layout{0, 0, 4, 2}, "Total Errors", "number", "sum", spans("count", where(f, hasError)))
				b.number(layout{4, 0, 4, 2}, "Error Rate", "percent", "avg", spans("error_rate", f))
				b.affectedServices(layout{8, 0, 4, 2})
				b.errorsByType(layout{0, 2, 12, 5})
				b.area(layout{0, 7, 12, 4}, "Error Rate Over Time", "percent", spans("error_rate", f, "service.name"))
				b.traces(layout{0, 11, 12, 5}, "Recent Error Traces", where(f, hasError))
			},
		},
		{
			Slug: "metric-overview", Name: "Metric Overview", Description: "One metric: its values, and which services send it.",
			Category: "application",
			Tags:     []string{"metrics"}, Requirements: []string{"Metrics"}, Parameters: append([]Parameter{
				{Key: "metric_name", Label: "Metric", Description: "Name of the metric.", Required: true, Placeholder: "http.server.request.duration"},
				{
					Key: "metric_type", Label: "Type", Description: "Type of the metric.", Required: true, Placeholder: "histogram",
					Values: valueTypes(),
				},
			}, serviceName()...),
			widgets: func(b *board) {
				name, kind, f := b.values["metric_name"], b.values["metric_type"], b.service()
				title := name
				if title == "" {
					title = "Metric"
				}
				if kind == "" {
					kind = gauge
				}
				counted := "Data Points"
				if observes(kind) {
					counted = "Observations" // a point of a histogram has many
				}
				b.number(layout{0, 0, 4, 2}, title+" (avg)", unitOfData, "avg", metric(name, kind, "avg", f))
				b.number(layout{4, 0, 4, 2}, title+" (max)", unitOfData, "max", metric(name, kind, "max", f))
				b.number(layout{8, 0, 4, 2}, counted, "number", "sum", metric(name, kind, "count", f))
				b.line(layout{0, 2, 12, 4}, title+" Over Time", unitOfData, metric(name, kind, "avg", f, "service.name"))
				average := column("value", "Average", unitOfData)
				average.Align = new("right")
				b.table(layout{0, 6, 12, 4}, title+" By Service", query("breakdown", metric(name, kind, "avg", f, "service.name")),
					column("name", "Service", ""), average)
			},
		},
		{Slug: "blank", Name: "Untitled Dashboard", Category: "application"},
	}
}
