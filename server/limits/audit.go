package limits

// The audit of a setup.
const (
	// SetupServices is for each list of services that the audit reads, the busiest first.
	SetupServices = 500
	// SetupKeys is for attribute keys, and for uses of renamed ones. SetupPeers is for called addresses, and for queues.
	SetupKeys  = 5000
	SetupPeers = 1000
	// SetupPeerNames is how many names one address has, and how many services use one address or queue.
	SetupPeerNames = 20
	// SetupFindings is for metrics with many series, for counters that begin again, and for attribute keys with personal data.
	SetupFindings = 100
	// SetupFailingTargets is how many failing scrape targets are counted.
	SetupFailingTargets = 1000
	// SetupRows is the number of spans or log records a day up to which the whole day is read. SetupLinkedSpans is about how many spans the
	// check of parents joins. SetupValueSpans is how many spans are searched for personal data.
	SetupRows        = 2_000_000
	SetupLinkedSpans = 300_000
	SetupValueSpans  = 50_000
	// SetupSeries is for the series of a metric in an hour, SetupSpanNames for the span names of a service, and SetupCounterStarts for how
	// often a series of a counter begins in an hour. A check fails above them.
	SetupSeries        = 5000
	SetupSpanNames     = 500
	SetupCounterStarts = 10
	// SetupNaming is how many recommendations about an organization's own names are given.
	SetupNaming = 10
)

func audit() []Limit {
	return []Limit{
		count("SetupServices", SetupServices, "The audit of a setup looks at the %s busiest services."),
		count("SetupKeys", SetupKeys,
			"It looks at the %[1]s most used attribute keys, and at %[1]s pairs of a service and an old attribute key."),
		count("SetupPeers", SetupPeers, "It looks at the %[1]s most called addresses and at the %[1]s busiest queues."),
		count("SetupPeerNames", SetupPeerNames,
			"It reads at most %[1]s names of an address, and at most %[1]s services that use an address or a queue."),
		count("SetupFindings", SetupFindings,
			"It reads at most %[1]s metrics with too many series, %[1]s counters that begin again, and %[1]s attribute keys with personal data."),
		count("SetupFailingTargets", SetupFailingTargets, "It counts at most %s failing scrape targets."),
		count("SetupRows", SetupRows,
			"It reads all spans and log records of a day that has at most %s of each, and a part of a busier day."),
		count("SetupLinkedSpans", SetupLinkedSpans, "It joins about %s spans with their parents."),
		count("SetupValueSpans", SetupValueSpans, "It searches %s spans for personal data."),
		count("SetupSeries", SetupSeries, "It reports a metric that has more than %s series in an hour."),
		count("SetupSpanNames", SetupSpanNames, "It reports a service that has more than %s span names."),
		count("SetupCounterStarts", SetupCounterStarts, "It reports a counter of which a series begins more than %s times in an hour."),
		count("SetupNaming", SetupNaming, "It gives at most %s recommendations about an organization's own attribute names."),
	}
}
