package limits

import "time"

// Bounds of the ingest endpoints and of the durable queue.
const (
	IngestBody         = 20 << 20
	IngestDecompressed = 128 << 20
	// JSONDepth is for objects and arrays of a JSON body, in known and in ignored fields.
	JSONDepth = 1000
	// ProtobufDepth is for messages of a protobuf body, in known and in ignored fields, RecordingDepth for a chunk of a recording, which has
	// two levels for each level of the document.
	ProtobufDepth  = 10_000
	RecordingDepth = 10_000
	// ShownOutcomes is for the requests of an ingest key that are remembered, ShownProblems for the kinds of their problems, and
	// ProblemExamples for the requests of one kind. OutcomeReason and OutcomeAgent are for their texts, in bytes.
	ShownOutcomes   = 100
	ShownProblems   = 8
	ProblemExamples = 10
	OutcomeReason   = 300
	OutcomeAgent    = 120
	// OutcomeSave is the time after which a request with a problem is in that history, OutcomeSaveClean that for one without.
	OutcomeSave      = 5 * time.Second
	OutcomeSaveClean = 30 * time.Second
	// IngestColumns bounds the size of the rows that one request becomes.
	IngestColumns = 256 << 20
	// Recording bounds a chunk of a session's recording after decompression.
	Recording = 1 << 30
	// IngestRequests bounds the requests in progress of one organization. Four groups have this bound each: requests with public
	// keys, which everybody can read, and requests with other keys; in both, requests whose body is being read, and requests whose
	// body is complete.
	IngestRequests = 1000
	IngestTime     = 30 * time.Second
	// IngestIdle is how long a connection stays open without a request.
	IngestIdle = 3 * time.Minute
	// IngestKeyText is the longest text that is looked up as an ingest key, in bytes.
	IngestKeyText = 256
	// LeastSampleParts is the largest number of traces of which a sample keeps one.
	LeastSampleParts = 1_000_000
	// PlanRead is how often a node reads the sums that count against plans.
	PlanRead = 15 * time.Second
	// LargeBody is the size after decompression from which bodies are decoded one at a time. At most LargeBodiesWaiting of them
	// may wait, and at most LargeBodiesOfOrganization with the public keys of one organization, and as many with its other
	// keys.
	LargeBody                 = 8 << 20
	LargeBodiesWaiting        = 16
	LargeBodiesOfOrganization = 4
	// LateInsert is the time since the first attempt at an insert from which a repeat looks for the rows that are stored already. A
	// shard remembers the tokens of its last 10,000 inserts of a table, so it forgets none within this time if it gets fewer than 83
	// inserts a second.
	LateInsert = 2 * time.Minute

	Queue = 16 << 30
	// QueueOfOrganization holds only while it is less than a quarter of the queue.
	QueueOfOrganization = 1 << 30
	// QueueEighths of the queue may be in use before every exporter has to wait.
	QueueEighths = 7
	// QueueWaiting bounds the requests, with their decoded form, that wait for the disk.
	QueueWaiting = 64 << 20

	// An organization whose unread telemetry in the queue is older than LaneAge and larger than LaneBytes is stored beside the others.
	LaneAge   = time.Second
	LaneBytes = 4 << 20
	Lanes     = 8

	// CoresOfInsert is the number of cores for which a node inserts one more block at the same time.
	CoresOfInsert = 8
)

func ingest() []Limit {
	return []Limit{
		size("IngestBody", IngestBody, "An ingest request over HTTP is at most %s as sent.").set("ingest-max-body-bytes"),
		size("IngestDecompressed", IngestDecompressed, "An ingest request is at most %s after decompression.").
			set("ingest-max-decompressed-bytes"),
		count("JSONDepth", JSONDepth, "The JSON of an ingest request is nested at most %s levels deep."),
		count("ProtobufDepth", ProtobufDepth, "The messages of a protobuf body are nested at most %s levels deep."),
		count("RecordingDepth", RecordingDepth, "The JSON of a chunk of a recording is nested at most %s levels deep."),
		count("ShownOutcomes", ShownOutcomes, "The history of an ingest key shows its last %s requests."),
		count("ShownProblems", ShownProblems, "It shows at most %s kinds of problems."),
		count("ProblemExamples", ProblemExamples, "It keeps the last %s requests with each kind of problem."),
		size("OutcomeReason", OutcomeReason, "The reason of a problem in it has at most %s."),
		size("OutcomeAgent", OutcomeAgent, "The name of a sending program in it has at most %s."),
		lasts("OutcomeSave", OutcomeSave, "The history of an ingest key shows a request with a problem after %s."),
		lasts("OutcomeSaveClean", OutcomeSaveClean, "It shows a request without a problem after about %s."),
		size("IngestColumns", IngestColumns, "The rows of an ingest request take at most %s."),
		size("Recording", Recording, "A chunk of a session's recording is at most %s after decompression."),
		count("IngestRequests", IngestRequests, "An organization may have %s ingest requests in progress with its public keys, and as many "+
			"with its other keys."),
		lasts("IngestTime", IngestTime, "An ingest request takes at most %s."),
		lasts("IngestIdle", IngestIdle, "A connection to the ingest port is closed after %s without a request."),
		size("IngestKeyText", IngestKeyText, "A text of more than %s is not an ingest key."),
		count("LeastSampleParts", LeastSampleParts, "A sample keeps at least one of %s traces."),
		lasts("PlanRead", PlanRead, "A node reads the sums that count against plans every %s."),
		size("LargeBody", LargeBody, "Ingest requests of %s and more after decompression are decoded one at a time."),
		count("LargeBodiesWaiting", LargeBodiesWaiting, "At most %s such large requests wait for their turn."),
		count("LargeBodiesOfOrganization", LargeBodiesOfOrganization,
			"At most %s of the large requests that wait are of the public keys of one organization, and as many of its other keys."),
		lasts("LateInsert", LateInsert, "On a cluster, an insert that is repeated after %s looks for the rows that are stored already."),
		size("Queue", Queue, "The durable queue holds %s.").set("queue-max-bytes"),
		size("QueueOfOrganization", QueueOfOrganization,
			"One organization may have %s in the queue, or a quarter of the queue when that is less. Requests with its public key are refused "+
				"from half of that on.").set("queue-max-bytes-per-org"),
		count("QueueEighths", QueueEighths, "When %s eighths of the queue are in use, every exporter waits."),
		size("QueueWaiting", QueueWaiting, "Requests of %s in all, counted with their decoded form, may wait for the disk."),
		lasts("LaneAge", LaneAge, "When telemetry waits in the queue for more than %s, the organization with most of the bytes is stored "+
			"beside the others."),
		size("LaneBytes", LaneBytes, "An organization with less than %s in the queue is never stored beside the others."),
		count("Lanes", Lanes, "At most %s organizations are stored beside the others at the same time."),
		count("CoresOfInsert", CoresOfInsert, "A node inserts one block at a time for each %s cores of its machine, and at least one.").
			set("insert-parallelism"),
	}
}
