package demo

import "time"

// Hosts, Kubernetes and runtimes.

func (sh *shop) allReceivers() []*receiver {
	out := append(sh.databases(), sh.brokers()...)
	for n := range nodes {
		out = append(out, sh.host(n), sh.node(production, n))
	}
	out = append(out, sh.node(staging, 0))
	for _, environment := range []string{production, staging} {
		out = append(out, sh.namespace(environment, "shop"), sh.namespace(environment, "kube-system"))
		for _, s := range sh.order {
			if s.name == web {
				continue
			}
			out = append(out, sh.deployment(s, environment))
			for replica := range sh.replicas(s, environment) {
				out = append(out, sh.pod(s, environment, replica))
			}
		}
	}
	for _, s := range sh.order {
		for replica := range sh.replicas(s, production) {
			out = append(out, sh.runtime(s, replica)...)
		}
	}
	return out
}

func (sh *shop) host(n int) *receiver {
	name := nodeName(production, n)
	state := func(base, lean, wobble float64, state string) *level {
		return value(base, lean, wobble, text("state", state))
	}
	io := func(base float64, direction, device string) *level {
		return value(base, 1, 0, text("direction", direction), text("device", device))
	}
	const memory = 16e9
	hot := 1 + 0.2*float64(n)
	return sh.receiver(
		contrib+"hostmetricsreceiver", receiverVersion, append(
			about("host-agent"), text("host.name", name), text("host.arch", "amd64"), text("os.type", "linux"), text("cloud.provider", "aws"),
			text("cloud.region", sh.nodeRegion(n)),
			text("k8s.cluster.name", clusterName(production)), text("k8s.node.name", name),
		),
		newInstrument("system.cpu.utilization", "1", "Share of time in each state.", gauge, state(0.22*hot, 0.9, 0.15, "user"),
			state(0.07*hot, 0.9, 0.2, "system"), state(0.01, 0.5, 0.9, "wait"), state(0.70-0.29*(hot-1), -0.4, 0.03, "idle")).fractional(),
		newInstrument("system.cpu.time", "s", "Time in each state.", counter, state(0.9*hot, 1, 0, "user"), state(0.3*hot, 1, 0, "system"),
			state(2.8-1.2*(hot-1), 0, 0, "idle")).fractional(),
		newInstrument("system.memory.usage", "By", "Bytes of memory in use.", upDown, state(0.52*memory, 0.1, 0.02, "used"),
			state(0.18*memory, 0, 0.03, "free"), state(0.26*memory, 0, 0.02, "cached"), state(0.04*memory, 0, 0.02, "buffered")),
		newInstrument("system.memory.utilization", "1", "Share of memory in use.", gauge, state(0.52, 0.1, 0.02, "used"),
			state(0.18, 0, 0.03, "free"), state(0.26, 0, 0.02, "cached"), state(0.04, 0, 0.02, "buffered")).fractional(),
		newInstrument("system.disk.io", "By", "Bytes read and written.", counter, io(90e3, "read", "nvme0n1"), io(640e3, "write", "nvme0n1")),
		newInstrument("system.network.io", "By", "Bytes received and sent.", counter, io(1.9e6*hot, "receive", "eth0"),
			io(2.4e6*hot, "transmit", "eth0")),
		newInstrument("system.cpu.load_average.1m", "{thread}", "Average load over 1 minute.", gauge, value(1.3*hot, 0.9, 0.3)).fractional(),
		newInstrument("system.cpu.load_average.5m", "{thread}", "Average load over 5 minutes.", gauge, value(1.25*hot, 0.9, 0.15)).fractional(),
		newInstrument("system.cpu.load_average.15m", "{thread}", "Average load over 15 minutes.", gauge, value(1.2*hot, 0.9, 0.08)).fractional(),
		newInstrument(
			"system.filesystem.utilization", "1", "Share of the filesystem in use.", gauge,
			value(0.46+0.05*float64(n), 0, 0.004, text("mountpoint", "/"), text("device", "/dev/nvme0n1p1"), text("state", "used"),
				text("type", "ext4")).rising(2880),
			value(0.31, 0, 0.004, text("mountpoint", "/var/lib/containerd"), text("device", "/dev/nvme1n1"), text("state", "used"),
				text("type", "xfs")),
		).fractional(),
	)
}

func (sh *shop) cluster(environment string, more ...attribute) []attribute {
	return append([]attribute{
		text("service.name", "kubernetes"), text("deployment.environment.name", environment), text("k8s.cluster.name", clusterName(environment)),
	}, more...)
}

func (sh *shop) node(environment string, n int) *receiver {
	name := nodeName(environment, n)
	return sh.receiver(
		contrib+"k8sclusterreceiver", receiverVersion,
		sh.cluster(environment, text("k8s.node.name", name), text("k8s.kubelet.version", "v1.34.2")),
		newInstrument("k8s.node.condition_ready", "{condition}", "Whether the node is ready: 1 true, 0 false, -1 unknown.", gauge,
			value(1, 0, 0)),
		newInstrument("k8s.node.cpu.usage", "{cpu}", "Total CPU usage of all cores.", gauge, value(1.3, 0.9, 0.1)).fractional(),
		newInstrument("k8s.node.memory.usage", "By", "Node memory usage.", gauge, value(9.1e9, 0.1, 0.03)),
		newInstrument("k8s.node.uptime", "s", "The time since the node started.", counter, value(1, 0, 0)),
	)
}

func (sh *shop) namespace(environment, name string) *receiver {
	return sh.receiver(
		contrib+"k8sclusterreceiver", receiverVersion, sh.cluster(environment, text("k8s.namespace.name", name)),
		newInstrument("k8s.namespace.phase", "1", "The phase of the namespace: 1 active, 0 terminating.", gauge, value(1, 0, 0)),
	)
}

func (sh *shop) deployment(s *service, environment string) *receiver {
	n := float64(sh.replicas(s, environment))
	return sh.receiver(
		contrib+"k8sclusterreceiver", receiverVersion,
		sh.cluster(environment, text("k8s.namespace.name", "shop"), text("k8s.deployment.name", s.name)),
		newInstrument("k8s.deployment.desired", "{pod}", "Number of desired pods.", gauge, value(n, 0, 0)),
		newInstrument("k8s.deployment.available", "{pod}", "Number of available pods.", gauge, value(n, 0, 0)),
	)
}

// pod reports the metrics that the kubelet and the cluster have about a replica.
func (sh *shop) pod(s *service, environment string, replica int) *receiver {
	busy, memory := 0.18, 240e6
	if s.language == "java" {
		busy, memory = 0.35, 720e6
	}
	if environment == staging {
		busy /= 8
	}
	cpu := value(busy, 0.9, 0.2)
	if s.name == catalog && environment == production {
		cpu = cpu.during(FaultRelease, 0.6)
	}
	memoryUsed, memoryShare := value(memory, 0.1, 0.04).rising(240), value(0.55, 0.1, 0.04)
	cpuShare := value(busy, 0.9, 0.2)
	if environment == production {
		memoryUsed.times(sh.plan.memory(s.name))
		memoryShare.times(sh.plan.memoryShare(s.name))
		cpu, cpuShare = cpu.times(sh.plan.busy(s.name)), cpuShare.times(sh.plan.busy(s.name))
	}
	restarts := value(0, 0, 0)
	if s.name == recommendation && environment == production {
		restarts = value(6, 0, 0).rising(int64(day / time.Minute)) // the replica runs out of memory from time to time
	}
	io := func(base float64, direction string) *level {
		return value(base, 1, 0, text("direction", direction), text("interface", "eth0"))
	}
	return sh.replicaReceiver(
		s, environment, replica, contrib+"kubeletstatsreceiver",
		newInstrument("k8s.pod.phase", "1", "The phase of the pod: 1 pending, 2 running, 3 succeeded, 4 failed, 5 unknown.", gauge,
			value(2, 0, 0)),
		newInstrument("k8s.container.restarts", "{restart}", "How many times the container has restarted.", gauge, restarts),
		newInstrument("k8s.pod.cpu.usage", "{cpu}", "Total CPU usage.", gauge, cpu).fractional(),
		newInstrument("k8s.pod.memory.usage", "By", "Pod memory usage.", gauge, memoryUsed),
		newInstrument("k8s.pod.cpu_limit_utilization", "1", "CPU usage as a ratio of the limit.", gauge, cpuShare).fractional(),
		newInstrument("k8s.pod.memory_limit_utilization", "1", "Memory usage as a ratio of the limit.", gauge, memoryShare).fractional(),
		newInstrument("k8s.pod.network.io", "By", "Network IO of the pod.", counter, io(38e3, "receive"), io(52e3, "transmit")),
	)
}

// runtime reports the metrics of a language's runtime.
func (sh *shop) runtime(s *service, replica int) []*receiver {
	of := func(scope string, instruments ...*instrument) []*receiver {
		return []*receiver{sh.replicaReceiver(s, production, replica, scope, instruments...)}
	}
	switch s.language {
	case "java":
		pool := func(base float64, kind, name string) *level {
			return value(base, 0.1, 0.1, text("jvm.memory.type", kind), text("jvm.memory.pool.name", name))
		}
		return of(
			"io.opentelemetry.runtime-telemetry-java8",
			newInstrument("jvm.memory.used", "By", "Measure of memory used.", upDown,
				pool(180e6, "heap", "G1 Old Gen").rising(90).times(sh.plan.memory(s.name)),
				pool(96e6, "heap", "G1 Eden Space").rising(7), pool(88e6, "non_heap", "Metaspace")),
			newInstrument("jvm.memory.committed", "By", "Measure of memory committed.", upDown, pool(420e6, "heap", "G1 Old Gen"),
				pool(220e6, "heap", "G1 Eden Space"), pool(96e6, "non_heap", "Metaspace")),
			newInstrument("jvm.gc.duration", "s", "Duration of JVM garbage collection actions.", histogram,
				value(0.011, 0.3, 0.2, text("jvm.gc.name", "G1 Young Generation"), text("jvm.gc.action", "end of minor GC"))),
			newInstrument("jvm.thread.count", "{thread}", "Number of executing platform threads.", upDown,
				value(48, 0.2, 0.05, truth("jvm.thread.daemon", true)), value(9, 0, 0.05, truth("jvm.thread.daemon", false))),
			newInstrument("jvm.class.count", "{class}", "Number of classes currently loaded.", upDown,
				value(14200+float64(hash(s.name)%2000), 0, 0.001)),
			newInstrument("jvm.cpu.recent_utilization", "1", "Recent CPU utilization for the process.", gauge, value(0.24, 0.9, 0.25)).fractional(),
		)
	case "nodejs":
		space := func(base float64, name string) *level {
			return value(base, 0.1, 0.1, text("v8js.heap.space.name", name)).rising(20)
		}
		if s.legacy {
			// An older instrumentation with older metric names.
			return of(
				"opentelemetry-node-metrics",
				newInstrument("process.runtime.nodejs.eventloop.lag", "s", "Event loop lag.", histogram, value(0.004, 0.5, 0.3)),
				newInstrument("process.runtime.nodejs.memory.heap.used", "By", "Heap in use.", gauge, value(74e6, 0.1, 0.1).rising(20)),
				newInstrument("process.runtime.nodejs.gc.count", "{gc}", "Garbage collections.", counter,
					value(0.4, 0.8, 0, text("type", "minor")), value(0.02, 0.8, 0, text("type", "major"))),
				newInstrument("process.runtime.nodejs.handles", "{handle}", "Active handles.", gauge, value(41, 0.2, 0.1)),
			)
		}
		return of(
			"@opentelemetry/instrumentation-runtime-node",
			newInstrument("nodejs.eventloop.delay.p99", "s", "Event loop 99 percentile delay.", gauge, value(0.014, 0.7, 0.4)).fractional(),
			newInstrument("nodejs.eventloop.utilization", "1", "Event loop utilization.", gauge, value(0.21, 0.9, 0.2)).fractional(),
			newInstrument("v8js.memory.heap.used", "By", "Heap memory in use.", gauge, space(52e6, "old_space").times(sh.plan.memory(s.name)),
				space(14e6, "new_space")),
			newInstrument("v8js.gc.duration", "s", "Garbage collection duration.", histogram, value(0.003, 0.4, 0.3, text("v8js.gc.type", "minor"))),
		)
	case "go":
		return of(
			"go.opentelemetry.io/contrib/instrumentation/runtime",
			newInstrument("go.goroutine.count", "{goroutine}", "Count of live goroutines.", upDown, value(120, 0.5, 0.1)),
			newInstrument("go.memory.used", "By", "Memory used by the Go runtime.", upDown,
				value(64e6, 0.1, 0.1).rising(3).times(sh.plan.memory(s.name))),
			// Scraped in the Prometheus format, which has summaries.
			newInstrument("go_gc_duration_seconds", "s", "A summary of the pause duration of garbage collection cycles.", summary,
				value(0.00009, 0.2, 0.3)),
		)
	default:
		return nil
	}
}
