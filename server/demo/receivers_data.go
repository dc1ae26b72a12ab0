package demo

// Databases and brokers, as the Collector's receivers report them.

const contrib = "github.com/open-telemetry/opentelemetry-collector-contrib/receiver/"

const receiverVersion = "0.140.0"

func about(service string, more ...attribute) []attribute {
	return append([]attribute{
		text("service.name", service), text("service.namespace", "shop"), text("deployment.environment.name", production),
	}, more...)
}

func (sh *shop) databases() []*receiver {
	var out []*receiver
	for i, db := range []string{"catalog", "orders", "payments", "accounts", "shipping"} {
		size := []float64{18, 42, 27, 9, 14}[i] * 1e9
		busy := []float64{1, 0.7, 0.5, 0.2, 0.3}[i]
		reads := value(90*busy, 1, 0, text("source", "heap_read"))
		backends := value(24*busy+3, 0.5, 0.15)
		if db == "catalog" {
			reads, backends = reads.during(FaultRelease, 640), backends.during(FaultRelease, 38)
		}
		out = append(out, sh.receiver(
			contrib+"postgresqlreceiver", receiverVersion,
			about("postgresql", text("postgresql.database.name", db), text("service.instance.id", "pg-"+db+".db.shop.example:5432")),
			newInstrument("postgresql.backends", "1", "The number of backends.", upDown, backends),
			newInstrument("postgresql.commits", "1", "The number of commits.", counter, value(45*busy, 1, 0)),
			newInstrument("postgresql.rollbacks", "1", "The number of rollbacks.", counter, value(0.4*busy, 1, 0)),
			newInstrument("postgresql.blocks_read", "1", "The number of blocks read.", counter, reads,
				value(220*busy, 1, 0, text("source", "heap_hit")), value(40*busy, 1, 0, text("source", "idx_read"))),
			newInstrument("postgresql.db_size", "By", "The database disk usage.", upDown, value(size, 0, 0.002)),
			newInstrument("postgresql.deadlocks", "{deadlock}", "The number of deadlocks.", counter, value(0.004*busy, 1, 0)),
			newInstrument("postgresql.replication.data_delay", "By", "The amount of data delayed in replication.", gauge,
				value(42000*busy, 1, 0.8, text("replication_client", "10.0.1.31"))),
		))
	}
	out = append(
		out, sh.receiver(
			contrib+"mongodbreceiver", receiverVersion,
			about("mongodb", text("database", "recommendation"), text("server.address", "mongo-reco.db.shop.example")),
			newInstrument("mongodb.operation.count", "{operations}", "The number of operations executed.", counter,
				value(30, 1, 0, text("operation", "query")), value(12, 1, 0, text("operation", "insert")), value(3, 1, 0,
					text("operation", "update")), value(5, 0, 0, text("operation", "command"))),
			newInstrument("mongodb.connection.count", "{connections}", "The number of connections.", upDown,
				value(34, 0.4, 0.1, text("type", "active")), value(166, 0, 0.02, text("type", "available"))),
			newInstrument("mongodb.document.operation.count", "{documents}", "The number of document operations executed.", upDown,
				value(90000, 0.2, 0.05, text("operation", "insert")), value(21000, 0.2, 0.05, text("operation", "update")), value(1500, 0.2, 0.05,
					text("operation", "delete"))),
			newInstrument("mongodb.cache.operations", "{operations}", "The number of cache operations of the instance.", counter,
				value(180, 1, 0, text("type", "hit")), value(4, 1, 0, text("type", "miss"))),
			newInstrument("mongodb.replication.lag", "ms", "How far the slowest secondary is behind.", gauge, value(35, 0.5, 0.7)),
		),
		sh.receiver(
			contrib+"redisreceiver", receiverVersion,
			about("redis", text("redis.version", "8.2.3"), text("server.address", "redis-shop.db.shop.example")),
			newInstrument("redis.commands.processed", "{command}", "Total number of commands processed by the server.", counter, value(140, 1, 0)),
			newInstrument("redis.memory.used", "By", "Total number of bytes allocated by Redis.", gauge, value(410e6, 0.2, 0.03).rising(360)),
			newInstrument("redis.keyspace.hits", "{hit}", "Number of successful lookups of keys.", counter, value(96, 1, 0)),
			newInstrument("redis.keyspace.misses", "{miss}", "Number of failed lookups of keys.", counter, value(13, 1, 0)),
			newInstrument("redis.clients.connected", "{client}", "Number of client connections.", upDown, value(38, 0.3, 0.08)),
			newInstrument("redis.keys.evicted", "{key}", "Number of evicted keys due to the maxmemory limit.", counter, value(0.08, 1, 0)),
			newInstrument("redis.uptime", "s", "Number of seconds since the server started.", counter, value(1, 0, 0)),
		),
		sh.receiver(
			contrib+"mysqlreceiver", receiverVersion, about("mysql", text("mysql.instance.endpoint", "mysql-inventory.db.shop.example:3306")),
			newInstrument("mysql.commands", "1", "The number of times each type of command has been executed.", counter,
				value(55, 1, 0, text("command", "select")), value(6, 1, 0, text("command", "insert")), value(7, 1, 0,
					text("command", "update")), value(0.6, 1, 0, text("command", "delete"))),
			newInstrument("mysql.threads", "1", "The state of threads.", upDown, value(24, 0.3, 0.1, text("kind", "connected")),
				value(3, 0.8, 0.4, text("kind", "running")), value(9, 0, 0.1, text("kind", "cached"))),
			newInstrument("mysql.buffer_pool.usage", "By", "The number of bytes in the buffer pool.", upDown,
				value(1.6e9, 0.05, 0.01, text("status", "clean")), value(90e6, 0.6, 0.2, text("status", "dirty"))),
			newInstrument("mysql.query.slow.count", "1", "The number of slow queries.", counter, value(0.02, 1, 0).during(FaultLogs, 1.4)),
			newInstrument("mysql.locks", "1", "The number of MySQL locks.", counter, value(6, 1, 0, text("kind", "immediate")),
				value(0.05, 1, 0, text("kind", "waited")).during(FaultLogs, 2)),
			newInstrument("mysql.replica.time_behind_source", "s", "How far the replica is behind.", upDown,
				value(0.6, 0.5, 0.9).during(FaultLogs, 44)),
		),
	)
	return out
}

func (sh *shop) brokers() []*receiver {
	topic := func(base float64, name string) *level {
		return value(base, 1, 0, text("topic", name), whole("partition", 0))
	}
	lag := func(base float64, group, topic string) *level {
		return value(base, 1, 0.8, text("group", group), text("topic", topic), whole("partition", 0)).times(sh.plan.behind(group, topic))
	}
	out := []*receiver{
		sh.receiver(
			contrib+"kafkametricsreceiver", receiverVersion, about("kafka", text("kafka.cluster.alias", "shop")),
			newInstrument("kafka.topic.partitions.messages_in", "{messages}", "The number of messages received.", counter,
				topic(0.4, "orders.placed"), topic(0.1, "accounts.created"), topic(28, "clickstream")),
			newInstrument("kafka.consumer_group.lag", "1", "Current approximate lag of consumer group at partition of topic.", gauge,
				lag(4, "email-worker", "orders.placed"), lag(2, "inventory", "orders.placed").during(FaultLogs, 900), lag(3, "shipping",
					"orders.placed"), lag(260, "recommendation", "clickstream")),
			newInstrument("kafka.brokers", "{brokers}", "Number of brokers in the cluster.", upDown, value(3, 0, 0)),
			newInstrument("kafka.partition.under_replicated", "{partitions}", "The number of under replicated partitions.", upDown,
				value(0.4, 0, 2)),
			newInstrument("kafka.request.time.99p", "ms", "The 99th percentile of the time that a request takes.", gauge,
				value(9, 0.3, 0.4, text("type", "produce")), value(510, 0, 0.02, text("type", "fetchconsumer"))).fractional(),
		),
		sh.receiver(
			"github.com/nats-io/prometheus-nats-exporter", "0.18.0", about("nats", text("server.address", "nats.mq.shop.example")),
			newInstrument("nats.connections", "{connection}", "Client connections.", gauge, value(22, 0.2, 0.1)),
			newInstrument("nats.in.msgs", "{message}", "Messages received.", counter, value(33, 1, 0)),
			newInstrument("nats.out.msgs", "{message}", "Messages sent.", counter, value(71, 1, 0)),
			newInstrument("nats.slow_consumers", "{consumer}", "Consumers that were cut off.", gauge, value(0.5, 0.5, 1.2)),
			newInstrument("nats.subscriptions", "{subscription}", "Subscriptions.", gauge, value(64, 0, 0.03)),
		),
	}
	for i, queue := range []string{"labels", "returns"} {
		busy := []float64{1, 0.15}[i]
		out = append(out, sh.receiver(
			contrib+"rabbitmqreceiver", receiverVersion,
			about("rabbitmq", text("rabbitmq.queue.name", queue), text("rabbitmq.node.name", "rabbit@mq-0"), text("rabbitmq.vhost.name", "/")),
			newInstrument("rabbitmq.message.current", "{messages}", "The total number of messages currently in the queue.", upDown,
				value(14*busy+1, 1, 0.7, text("state", "ready")).times(sh.plan.behind(shipping, queue)),
				value(6*busy+1, 1, 0.6, text("state", "unacknowledged"))),
			newInstrument("rabbitmq.message.published", "{messages}", "The number of messages published to a queue.", counter,
				value(0.5*busy, 1, 0)),
			newInstrument("rabbitmq.message.delivered", "{messages}", "The number of messages delivered to consumers.", counter,
				value(0.5*busy, 1, 0)),
			newInstrument("rabbitmq.consumer.count", "{consumers}", "The number of consumers currently reading from the queue.", upDown,
				value(2, 0, 0)),
		))
	}
	return out
}
