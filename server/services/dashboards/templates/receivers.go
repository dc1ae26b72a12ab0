package templates

import "strings"

// chart is one chart of a template that shows the metrics of a receiver.
type chart struct {
	title, unit string
	// stacked draws areas instead of lines.
	stacked                   bool
	metric, kind, aggregation string
	by                        string
	// filter is an extra clause of this chart.
	filter string
	wide   bool
}

// charts lays charts out in two columns.
func charts(list []chart, filter func(*board) string) func(*board) {
	return func(b *board) {
		column, row := 0.0, 0.0
		for _, c := range list {
			var groups []string
			if c.by != "" {
				groups = strings.Split(c.by, ",")
			}
			p := layout{column, row, 6, 4}
			if c.wide {
				p[2] = 12
			}
			if column += p[2]; column >= 12 {
				column, row = 0, row+4
			}
			draw := b.line
			if c.stacked {
				draw = b.area
			}
			draw(p, c.title, c.unit, metric(c.metric, c.kind, c.aggregation, where(filter(b), c.filter), groups...))
		}
	}
}

func (b *board) resource(key, parameter string) string {
	return equals("resource."+key, b.values[parameter])
}

func databases() []*Template {
	service := (*board).service
	receiver := func(slug, name, description, system, prefix, collector string, list []chart) *Template {
		return &Template{
			Slug: slug, Name: name, Description: description, Category: "database", Tags: []string{"database", system},
			Requirements:   []string{collector},
			Requirement:    metricsFrom(name+" metrics", collector, "Add the "+collector+" to a Collector that exports to this server."),
			MetricPrefixes: []string{prefix}, Parameters: serviceName(), widgets: charts(list, service),
		}
	}
	const database = "resource.postgresql.database.name"
	return []*Template{
		receiver("postgres-overview", "PostgreSQL", "Connections, commits, reads, size, deadlocks and replication.", "postgresql",
			"postgresql.", "postgresqlreceiver", []chart{
				{title: "Active Connections", unit: "number", metric: "postgresql.backends", kind: upDown, aggregation: "avg", by: database},
				{title: "Commits/sec", unit: "number", stacked: true, metric: "postgresql.commits", kind: counter, aggregation: "rate", by: database},
				{
					title:       "Disk Blocks Read/sec",
					unit:        "number",
					stacked:     true,
					metric:      "postgresql.blocks_read",
					kind:        counter,
					aggregation: "rate",
					by:          database,
				},
				{title: "Database Size", unit: "bytes", metric: "postgresql.db_size", kind: upDown, aggregation: "avg", by: database},
				{
					title:       "Deadlocks/sec",
					unit:        "number",
					stacked:     true,
					metric:      "postgresql.deadlocks",
					kind:        counter,
					aggregation: "rate",
					by:          database,
				},
				{
					title:       "Replication Lag",
					unit:        "bytes",
					metric:      "postgresql.replication.data_delay",
					kind:        gauge,
					aggregation: "avg",
					by:          "attr.replication_client",
				},
			}),
		receiver("mongodb-overview", "MongoDB", "Operations, connections, documents, cache and replication.", "mongodb", "mongodb.",
			"mongodbreceiver", []chart{
				{
					title:       "Operations by Type",
					unit:        "number",
					stacked:     true,
					metric:      "mongodb.operation.count",
					kind:        counter,
					aggregation: "rate",
					by:          "attr.operation",
				},
				{title: "Active Connections", unit: "number", metric: "mongodb.connection.count", kind: upDown, aggregation: "avg", by: "attr.type"},
				{
					title:       "Document Operations",
					unit:        "number",
					stacked:     true,
					metric:      "mongodb.document.operation.count",
					kind:        upDown,
					aggregation: "avg",
					by:          "attr.operation",
				},
				{
					title:       "Cache Hits/Misses",
					unit:        "number",
					stacked:     true,
					metric:      "mongodb.cache.operations",
					kind:        counter,
					aggregation: "rate",
					by:          "attr.type",
				},
				{title: "Replica Lag", unit: "duration_ms", metric: "mongodb.replication.lag", kind: gauge, aggregation: "avg", wide: true},
			}),
		receiver("redis-overview", "Redis", "Commands, memory, keys and clients.", "redis", "redis.", "redisreceiver", []chart{
			{title: "Commands/sec", unit: "number", stacked: true, metric: "redis.commands.processed", kind: counter, aggregation: "rate"},
			{title: "Memory Used", unit: "bytes", metric: "redis.memory.used", kind: gauge, aggregation: "avg"},
			{title: "Keyspace Hits/sec", unit: "number", stacked: true, metric: "redis.keyspace.hits", kind: counter, aggregation: "rate"},
			{title: "Keyspace Misses/sec", unit: "number", stacked: true, metric: "redis.keyspace.misses", kind: counter, aggregation: "rate"},
			{title: "Connected Clients", unit: "number", metric: "redis.clients.connected", kind: upDown, aggregation: "avg"},
			{title: "Evictions/sec", unit: "number", stacked: true, metric: "redis.keys.evicted", kind: counter, aggregation: "rate"},
		}),
		receiver("mysql-overview", "MySQL", "Commands, threads, buffer pool, slow queries, locks and replication.", "mysql", "mysql.",
			"mysqlreceiver", []chart{
				{
					title:       "Queries by Command",
					unit:        "number",
					stacked:     true,
					metric:      "mysql.commands",
					kind:        counter,
					aggregation: "rate",
					by:          "attr.command",
				},
				{title: "Threads", unit: "number", metric: "mysql.threads", kind: upDown, aggregation: "avg", by: "attr.kind"},
				{title: "Buffer Pool Usage", unit: "bytes", metric: "mysql.buffer_pool.usage", kind: upDown, aggregation: "avg", by: "attr.status"},
				{title: "Slow Queries/sec", unit: "number", stacked: true, metric: "mysql.query.slow.count", kind: counter, aggregation: "rate"},
				{title: "Table Locks/sec", unit: "number", stacked: true, metric: "mysql.locks", kind: counter, aggregation: "rate", by: "attr.kind"},
				{title: "Replica Lag", unit: "duration_s", metric: "mysql.replica.time_behind_source", kind: upDown, aggregation: "avg"},
			}),
	}
}

func infrastructure() []*Template {
	const pod = "resource.k8s.pod.name"
	return []*Template{
		{
			Slug: "host-metrics", Name: "Host Metrics", Description: "Processor, memory, disks and network of hosts.", Category: "infrastructure",
			Tags: []string{"host", "system"}, Requirements: []string{"hostmetricsreceiver"},
			Requirement:    metricsFrom("Host metrics", "hostmetricsreceiver", "Add the hostmetricsreceiver to a Collector on each host."),
			MetricPrefixes: []string{"system."},
			Parameters: []Parameter{
				{Key: "host_name", Label: "Host", Description: "Show this host only; all hosts when left out.", Placeholder: "web-1"},
			},
			widgets: charts([]chart{
				{
					title:       "CPU by State",
					unit:        "percent",
					stacked:     true,
					metric:      "system.cpu.utilization",
					kind:        gauge,
					aggregation: "avg",
					by:          "attr.state",
				},
				{
					title:       "Memory by State",
					unit:        "bytes",
					stacked:     true,
					metric:      "system.memory.usage",
					kind:        upDown,
					aggregation: "avg",
					by:          "attr.state",
				},
				{title: "Disk I/O", unit: "bytes", stacked: true, metric: "system.disk.io", kind: counter, aggregation: "rate", by: "attr.direction"},
				{
					title:       "Network I/O",
					unit:        "bytes",
					stacked:     true,
					metric:      "system.network.io",
					kind:        counter,
					aggregation: "rate",
					by:          "attr.direction",
				},
				{
					title:       "Load Average (1m)",
					unit:        "number",
					metric:      "system.cpu.load_average.1m",
					kind:        gauge,
					aggregation: "avg",
					by:          "resource.host.name",
				},
				{
					title:       "Filesystem Utilization",
					unit:        "percent",
					metric:      "system.filesystem.utilization",
					kind:        gauge,
					aggregation: "avg",
					by:          "attr.mountpoint",
				},
			}, func(b *board) string { return b.resource("host.name", "host_name") }),
		},
		{
			Slug: "kubernetes-cluster", Name: "Kubernetes Cluster", Description: "Nodes, pods, deployments and namespaces of a cluster.",
			Category: "infrastructure", Tags: []string{"kubernetes", "cluster"}, Requirements: []string{"k8sclusterreceiver"},
			Requirement:    metricsFrom("Cluster metrics", "k8sclusterreceiver", "Run one Collector with the k8sclusterreceiver in the cluster."),
			MetricPrefixes: []string{"k8s.node.", "k8s.pod.", "k8s.deployment.", "k8s.namespace."},
			Parameters: []Parameter{
				{Key: "cluster_name", Label: "Cluster", Description: "Show this cluster only; all clusters when left out.", Placeholder: "production"},
			},
			widgets: charts([]chart{
				{
					title:       "Node Ready Status",
					unit:        "number",
					metric:      "k8s.node.condition_ready",
					kind:        gauge,
					aggregation: "min",
					by:          "resource.k8s.node.name",
				},
				{
					title:       "Pod Phase by Namespace",
					unit:        "number",
					stacked:     true,
					metric:      "k8s.pod.phase",
					kind:        gauge,
					aggregation: "avg",
					by:          "resource.k8s.namespace.name",
				},
				{
					title:       "Deployment Availability",
					unit:        "number",
					metric:      "k8s.deployment.available",
					kind:        gauge,
					aggregation: "avg",
					by:          "resource.k8s.deployment.name",
				},
				{
					title:       "Namespace Phase",
					unit:        "number",
					stacked:     true,
					metric:      "k8s.namespace.phase",
					kind:        gauge,
					aggregation: "avg",
					by:          "resource.k8s.namespace.name",
				},
			}, func(b *board) string { return b.resource("k8s.cluster.name", "cluster_name") }),
		},
		{
			Slug: "kubernetes-pod", Name: "Kubernetes Pods", Description: "Processor, memory, restarts and network of pods.",
			Category: "infrastructure", Tags: []string{"kubernetes", "pod"},
			Requirements:   []string{"kubeletstatsreceiver", "k8sclusterreceiver"},
			Requirement:    metricsFrom("Pod metrics", "kubeletstatsreceiver", "Run a Collector with the kubeletstatsreceiver on each node."),
			MetricPrefixes: []string{"k8s.pod.", "k8s.container."},
			Parameters: []Parameter{
				{Key: "namespace", Label: "Namespace", Description: "Show this namespace only; all namespaces when left out.", Placeholder: "default"},
			},
			widgets: charts([]chart{
				{title: "CPU Cores", unit: "number", metric: "k8s.pod.cpu.usage", kind: gauge, aggregation: "avg", by: pod},
				{title: "Memory", unit: "bytes", metric: "k8s.pod.memory.usage", kind: gauge, aggregation: "avg", by: pod},
				{title: "Restarts", unit: "number", stacked: true, metric: "k8s.container.restarts", kind: gauge, aggregation: "max", by: pod},
				{
					title:       "Network I/O",
					unit:        "bytes",
					stacked:     true,
					metric:      "k8s.pod.network.io",
					kind:        counter,
					aggregation: "rate",
					by:          "attr.direction",
				},
			}, func(b *board) string { return b.resource("k8s.namespace.name", "namespace") }),
		},
	}
}

func messaging() []*Template {
	receiver := func(slug, name, description, system, prefix, collector string, list []chart) *Template {
		return &Template{
			Slug: slug, Name: name, Description: description, Category: "messaging", Tags: []string{"messaging", system},
			Requirements: []string{collector},
			Requirement: metricsFrom(name+" metrics", collector,
				"Let a Collector that exports to this server collect the metrics: "+collector+"."),
			MetricPrefixes: []string{prefix}, Parameters: serviceName(), widgets: charts(list, (*board).service),
		}
	}
	const queue = "resource.rabbitmq.queue.name"
	return []*Template{
		receiver("kafka-overview", "Kafka", "Messages, consumer lag, brokers, partitions and requests.", "kafka", "kafka.",
			"kafkametricsreceiver", []chart{
				{
					title:       "Messages In by Topic",
					unit:        "number",
					stacked:     true,
					metric:      "kafka.topic.partitions.messages_in",
					kind:        counter,
					aggregation: "rate",
					by:          "attr.topic",
				},
				{title: "Consumer Lag", unit: "number", metric: "kafka.consumer_group.lag", kind: gauge, aggregation: "max", by: "attr.group"},
				{title: "Active Brokers", unit: "number", metric: "kafka.brokers", kind: upDown, aggregation: "max"},
				{
					title:       "Under-Replicated Partitions",
					unit:        "number",
					stacked:     true,
					metric:      "kafka.partition.under_replicated",
					kind:        upDown,
					aggregation: "max",
				},
				{
					title:       "Request Latency P99",
					unit:        "duration_ms",
					metric:      "kafka.request.time.99p",
					kind:        gauge,
					aggregation: "avg",
					by:          "attr.type",
					wide:        true,
				},
			}),
		receiver("nats-overview", "NATS", "Connections, messages, slow consumers and subscriptions.", "nats", "nats.",
			"Prometheus exporter for NATS", []chart{
				{title: "Connections", unit: "number", metric: "nats.connections", kind: gauge, aggregation: "avg"},
				{title: "Messages In/sec", unit: "number", stacked: true, metric: "nats.in.msgs", kind: counter, aggregation: "rate"},
				{title: "Messages Out/sec", unit: "number", stacked: true, metric: "nats.out.msgs", kind: counter, aggregation: "rate"},
				{title: "Slow Consumers", unit: "number", metric: "nats.slow_consumers", kind: gauge, aggregation: "max"},
				{title: "Subscriptions", unit: "number", metric: "nats.subscriptions", kind: gauge, aggregation: "avg", wide: true},
			}),
		receiver("rabbitmq-overview", "RabbitMQ", "Depth of queues, messages published and delivered, and consumers.", "rabbitmq",
			"rabbitmq.", "rabbitmqreceiver", []chart{
				{
					title:       "Queue Depth",
					unit:        "number",
					metric:      "rabbitmq.message.current",
					kind:        upDown,
					aggregation: "avg",
					by:          queue,
					filter:      `attr.state = "ready"`,
				},
				{
					title:       "Publish Rate",
					unit:        "number",
					stacked:     true,
					metric:      "rabbitmq.message.published",
					kind:        counter,
					aggregation: "rate",
					by:          queue,
				},
				{
					title:       "Deliver Rate",
					unit:        "number",
					stacked:     true,
					metric:      "rabbitmq.message.delivered",
					kind:        counter,
					aggregation: "rate",
					by:          queue,
				},
				{title: "Consumers", unit: "number", metric: "rabbitmq.consumer.count", kind: upDown, aggregation: "avg", by: queue},
				{
					title:       "Unacknowledged",
					unit:        "number",
					stacked:     true,
					metric:      "rabbitmq.message.current",
					kind:        upDown,
					aggregation: "avg",
					by:          queue,
					filter:      `attr.state = "unacknowledged"`,
					wide:        true,
				},
			}),
	}
}
