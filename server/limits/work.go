package limits

import "time"

// Background work.
const (
	// WorkLease is how long a node keeps a shard without a renewal. It renews every WorkBeat, and stops by itself WorkHolds after the start
	// of its last renewal.
	WorkLease = 15 * time.Second
	WorkBeat  = 4 * time.Second
	WorkHolds = 10 * time.Second
	// WorkStops is how long work that is under way may go on after a stop began.
	WorkStops = 10 * time.Second
	// WorkNodeGone is when the row of a node without a sign of life is removed.
	WorkNodeGone = 10 * time.Minute
	// WorkRearm is the longest sleep of a loop, so that it notices a step of the clock.
	WorkRearm = 30 * time.Second
	// WorkClockStep is the smallest difference between the wall clock and the monotonic clock that counts as a step.
	WorkClockStep = 5 * time.Second
	// TransactionIdle is how long a transaction on PostgreSQL may wait for its process. It is shorter than a lease, so a process that
	// was frozen in a transaction does not keep its shards.
	TransactionIdle = 10 * time.Second
	// IngestMarkEvery is how often an ingest node says how far its telemetry is stored. A mark that is older than IngestMarkSilent does
	// not count.
	IngestMarkEvery  = 5 * time.Second
	IngestMarkSilent = 2 * time.Minute
	// WorkReads bounds the reads of telemetry of background work, WorkReadsOfOrganization those about one organization. People have others.
	WorkReads               = 4
	WorkReadsOfOrganization = 2
	// CallHourSettled is the time after the end of an hour in which most of its spans arrive. Then its calls between services are counted.
	CallHourSettled = 10 * time.Minute
	// HeartbeatEvery is the time between two requests to the monitor outside, HeartbeatTimeout bounds one.
	HeartbeatEvery   = time.Minute
	HeartbeatTimeout = 10 * time.Second
	// DeliveryRetention is how long the records of messages are kept. DeliverySweep of them are removed at once.
	DeliveryRetention = 90 * Day
	DeliverySweep     = 1000
)

func work() []Limit {
	return []Limit{
		lasts("CallHourSettled", CallHourSettled, "The calls between services of an hour are counted for the service map %s after its end."),
		lasts("WorkLease", WorkLease, "Another node takes over the background work of a node that gave no sign of life for %s."),
		lasts("WorkBeat", WorkBeat, "A node renews its leases every %s."),
		lasts("WorkHolds", WorkHolds, "A node that cannot renew its leases stops their work after %s."),
		lasts("WorkStops", WorkStops, "Work that is under way may go on for %s after a stop began."),
		lasts("WorkNodeGone", WorkNodeGone, "`svc doctor` shows a node for %s after its last sign of life."),
		lasts("WorkRearm", WorkRearm, "Background work notices a step of the clock within %s."),
		lasts("TransactionIdle", TransactionIdle, "PostgreSQL ends a transaction whose process is silent for %s."),
		lasts("IngestMarkEvery", IngestMarkEvery, "An ingest node says every %s how far its telemetry is stored."),
		lasts("IngestMarkSilent", IngestMarkSilent, "Alerts do not wait for an ingest node that said nothing for %s."),
		count("WorkReads", WorkReads, "Background work has at most %s reads of telemetry at once, beside those of people."),
		count("WorkReadsOfOrganization", WorkReadsOfOrganization, "%s of them may be about one organization."),
		lasts("HeartbeatEvery", HeartbeatEvery, "The heartbeat URL is requested every %s."),
		lasts("HeartbeatTimeout", HeartbeatTimeout, "Such a request takes at most %s."),
		lasts("DeliveryRetention", DeliveryRetention, "The records of messages are kept for %s."),
		count("DeliverySweep", DeliverySweep, "At most %s old records of messages are removed at once."),
		lasts("WorkClockStep", WorkClockStep, "A step of the clock by at least %s is logged and counted."),
	}
}
