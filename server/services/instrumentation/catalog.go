package instrumentation

import (
	"slices"

	"github.com/svc-observability/svc/server/query/reads"
)

// checks lists all checks in the order of the answer.
func checks() []check {
	return slices.Concat(setupChecks(), ingestChecks(), attributeChecks(), traceChecks(), logChecks())
}

// setupChecks are those of alerting and scraping.
func setupChecks() []check {
	return []check{
		{
			"CFG-ALERT-01",
			alerting,
			"An enabled alert destination exists",
			critical,
			"Create a destination (POST /v2/alerts/destinations), or enable one: without it, nobody learns of an alert.",
			false,
			hasDestination,
		},
		{
			"CFG-ALERT-02",
			alerting,
			"An enabled alert rule exists",
			warn,
			"Create a rule, for instance on the error rate of each service (POST /v2/alerts/rules, or the tool create_alert_rule).",
			false,
			hasRule,
		},
		{
			"CFG-ALERT-03",
			alerting,
			"Every enabled alert rule has an enabled destination",
			critical,
			"Give the rule a destination that is enabled: its incidents open, and no message goes out.",
			false,
			rulesTell,
		},
		{
			"CFG-ALERT-04",
			alerting,
			"The last test of every alert destination passed",
			warn,
			"Correct the settings that the error names, then send a test message (POST /v2/alerts/destinations/{id}/test).",
			false,
			destinationsWork,
		},
		{
			"CFG-ALERT-05",
			alerting,
			"Alert rules are evaluated in time",
			critical,
			"The operator of this server can fix that: a process with the role `worker` must run, and `svc doctor` says more. Until then no alert " +
				"opens or resolves.",
			false,
			evaluatedInTime,
		},
		{
			"CFG-SCR-01",
			ingestion,
			"Scrape targets answer",
			warn,
			"The note has the last failure. Correct the address or the credentials of the target, or disable it; a probe (POST " +
				"/v2/scrape_targets/{id}/probe) shows at once whether it works.",
			false,
			targetsAnswer,
		},
		{
			"CFG-INT-01",
			connected,
			"Connected accounts can be read",
			critical,
			"An administrator of the organization opens /settings/integrations and connects the account again. While the note says that the " +
				"provider fails, wait: the server tries again by itself.",
			false,
			accountsAnswer,
		},
		{
			"CFG-MAP-01",
			attributes,
			"Attribute mappings find their attribute",
			info,
			"Correct the source key, or delete the mapping when no service sends the old name any more.",
			true,
			mappingsFind,
		},
	}
}

// ingestChecks are those of the way from the sender to the store.
func ingestChecks() []check {
	return []check{
		{
			"ING-01",
			ingestion,
			"Traces, logs or metrics arrive",
			critical,
			"Point the OTLP exporter at the ingest address with an ingest key, then run `svc send-test` to see at which step data stops.",
			true,
			arrives,
		},
		{
			"ING-02",
			ingestion,
			"Requests of every ingest key are accepted",
			critical,
			"Read the tag and the reason of the refusals: a 401 needs the current key in `x-svc-ingest-key`, a 403 needs the signal allowed for " +
				"the key, a 400 or 415 names the fault in the body.",
			false,
			accepted,
		},
		{
			"ING-03",
			ingestion,
			"No items of accepted requests are rejected",
			warn,
			"The reason names the wrong field of the items. Exporters do not send rejected items again, so correct the sender.",
			false,
			rejected,
		},
		{
			"ING-04",
			ingestion,
			"Clocks of senders agree with the server",
			warn,
			"Run NTP or chrony on the hosts of these services, and give spans and log records the time at which they happened, in UTC nanoseconds.",
			true,
			clocks,
		},
	}
}

// attributeChecks are those of attributes and metrics.
func attributeChecks() []check {
	return []check{
		{
			"RES-01",
			attributes,
			"Every service has its own name",
			critical,
			"Set OTEL_SERVICE_NAME, or service.name in the resource of the SDK, in the deployment of each process.",
			true,
			named,
		},
		{
			"RES-02",
			attributes,
			"Spans carry service.version",
			warn,
			"Set OTEL_RESOURCE_ATTRIBUTES=service.version=$VERSION in the deployment: releases and regressions by version need it.",
			true,
			lacking("service.version", func(r reads.SetupServiceRow) uint64 { return r.NoVersion }),
		},
		{
			"RES-03",
			attributes,
			"Spans carry deployment.environment.name",
			warn,
			"Set OTEL_RESOURCE_ATTRIBUTES=deployment.environment.name=production in the deployment, or write it with a custom ingest key in the " +
				"mode `if_missing`.",
			true,
			lacking("deployment.environment.name", func(r reads.SetupServiceRow) uint64 { return r.NoEnvironment }),
		},
		{
			"RES-04",
			attributes,
			"Spans carry vcs.repository.url.full",
			warn,
			"Add vcs.repository.url.full=https://… to OTEL_RESOURCE_ATTRIBUTES when the image is built: errors then lead to the source.",
			true,
			lacking("vcs.repository.url.full", func(r reads.SetupServiceRow) uint64 { return r.NoRepository }),
		},
		{
			"RES-05",
			attributes,
			"Spans carry vcs.ref.head.revision",
			warn,
			"Add vcs.ref.head.revision=$GIT_COMMIT to OTEL_RESOURCE_ATTRIBUTES when the image is built.",
			true,
			lacking("vcs.ref.head.revision", func(r reads.SetupServiceRow) uint64 { return r.NoRevision }),
		},
		{
			"RES-06",
			attributes,
			"No invented names beside standard resource attributes",
			warn,
			"Rename the key to the standard one in OTEL_RESOURCE_ATTRIBUTES: filters, releases and environments read only the standard name.",
			true,
			invented,
		},
		{
			"RES-07",
			attributes,
			"Replicas carry service.instance.id",
			info,
			"Set service.instance.id to a value that is unique for each replica, such as the pod name or a UUID at the start: without it, their " +
				"metrics mix.",
			true,
			replicas,
		},
		{
			"RES-08",
			attributes,
			"Resources carry process.runtime.name and cloud.provider",
			info,
			"Enable the process and cloud resource detectors of the SDK (OTEL_NODE_RESOURCE_DETECTORS, OTEL_EXPERIMENTAL_RESOURCE_DETECTORS, …).",
			true,
			runtimes,
		},
		{
			"REN-01",
			attributes,
			"No deprecated attribute names",
			warn,
			"Update the instrumentation libraries, or create an attribute mapping with operation `move` from the old key to the new one.",
			true,
			renamed(kindRename),
		},
		{
			"REN-DUAL",
			attributes,
			"No service sends an attribute under two names",
			warn,
			"Where spans carry both names, turn the old one off in the SDK (OTEL_SEMCONV_STABILITY_OPT_IN without `/dup`): a mapping does not " +
				"change such spans. Where different libraries send one name each, update the library with the old name.",
			true,
			renamed(kindDouble),
		},
		{
			"NAME-01",
			attributes,
			"Attribute names are dotted lower case",
			info,
			"Rename the key in the code to `<area>.<name>` in snake case, as in `shop.order_id`.",
			true,
			renamed(kindNaming),
		},
		{
			"NAME-03",
			attributes,
			"No attributes with the reserved prefix svc_",
			warn,
			"Rename the attribute: names that begin with `svc_` belong to this server, and pages hide them.",
			true,
			reserved,
		},
		{
			"PII-01",
			attributes,
			"No personal data or secrets in attributes",
			critical,
			"Remove the attribute in the code, or delete or hash it in a Collector with the `attributes` or `redaction` processor before it " +
				"leaves your network.",
			true,
			personal,
		},
		{
			"MET-01",
			attributes,
			"Metrics have few series",
			warn,
			"Drop attributes such as user, request or session ids from the metric with a View of the SDK; keep them on spans.",
			true,
			series,
		},
		{
			"MET-02",
			attributes,
			"Services count business events",
			info,
			"Add counters and histograms for the events of the business, such as orders and their amounts.",
			true,
			businessMetrics,
		},
		{
			"MET-03",
			attributes,
			"Instruments are created once",
			info,
			"Create the MeterProvider and the instruments once in each process, at module scope, and not for each request; give replicas a " +
				"service.instance.id.",
			true,
			instruments,
		},
	}
}
