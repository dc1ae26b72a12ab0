package limits

import "time"

// Bodies and pages of the API.
const (
	// RESTBody is for a body of REST or MCP, after decompression too.
	RESTBody = 4 << 20
	// GRPCMessage is for a message over gRPC, Connect and gRPC-Web, of OTLP and of the API.
	GRPCMessage = 64 << 20

	// OAuthBody is for a request of an OAuth client. OAuthDocument is for the metadata of a client, in a registration and in the document
	// at its client_id.
	OAuthBody     = 32 << 10
	OAuthDocument = 5 << 10

	// HeaderBytes bounds the header of a request.
	HeaderBytes = 64 << 10
	// HeaderTime bounds the time for the header of a request, and APIBodyTime that for the body of a request to the API. The latter
	// grows by a second with each 64 KiB that arrive. APIAnswerTime bounds the time in which the caller must read each part of an
	// answer.
	HeaderTime    = 10 * time.Second
	APIBodyTime   = 20 * time.Second
	APIAnswerTime = 20 * time.Second
	// ConnectionIdle is how long a connection of the API stays open without a request. StreamsOfConnection and StreamsOfExporter are how many
	// requests one connection over HTTP/2 may have at once, to the API and to the port of OTLP over gRPC.
	ConnectionIdle      = 2 * time.Minute
	StreamsOfConnection = 100
	StreamsOfExporter   = 1000
	// Connections bounds the open connections of a port, ConnectionsOfAddress those of one address to the API port. While
	// ConnectionsCrowded percent of a port's connections are open, one address may have ConnectionsShare percent of them. Below that, many
	// exporters behind one address may have more.
	Connections          = 20_000
	ConnectionsOfAddress = 1000
	ConnectionsCrowded   = 75
	ConnectionsShare     = 50
	// AnswerRows bounds the size of the records in a page of logs, AnswerTrace that of the spans of a trace.
	AnswerRows  = 4 << 20
	AnswerTrace = 16 << 20
	// ReadResult bounds the result of any other read.
	ReadResult = 64 << 20

	// IdempotencyKey is the length of an Idempotency-Key, which is ASCII.
	IdempotencyKey = 255
	// RequestID is the length of an X-Request-Id that a caller gives, which is ASCII.
	RequestID = 128

	// Problems is how many problems of a body an error lists.
	Problems = 50
	// RequestDepth is for messages in the body of a request to the API.
	RequestDepth = 64
	// FormBody is for a form of a page.
	FormBody = 64 << 10
	// DatabaseAnswer is for a connection to PostgreSQL and for a statement of a request. It leaves time for the answer to the caller.
	DatabaseAnswer = 4 * time.Second
	// OAuthClients is how many registered clients are kept.
	OAuthClients = 100_000

	DefaultPage = 20
	LargestPage = 100

	// ReadTime and ReadMemory are for one read of the warehouse.
	ReadTime   = 30 * time.Second
	ReadMemory = 1 << 30
	// WaitingReads is how many further reads of an organization wait for their turn.
	WaitingReads = 200
	// ReadsOfOrganization bounds the reads of telemetry that one organization may run at once, SQL included. With the embedded
	// engine, a read counts until the engine has ended it, even if its caller has left.
	ReadsOfOrganization = 6
	// ChartReadsOfOrganization bounds those of them that are for the series and groups of the query language.
	ChartReadsOfOrganization = 4
	// ReadEnd is how long a cancelled read may go on in the embedded engine. After that, the engine restarts, and the organization begins
	// no reads for ReadPause, or no SQL for SQLPause.
	ReadEnd   = 5 * time.Second
	ReadPause = time.Minute
)

func requests() []Limit {
	return []Limit{
		size("RESTBody", RESTBody, "A body of a REST or MCP request, and a message over gRPC or Connect to a method that needs no credential, "+
			"is at most %s, also after decompression.").set("rest-max-body-bytes"),
		size("GRPCMessage", GRPCMessage, "A message over gRPC, of OTLP or of the API, or over Connect is at most %s; of the API also after "+
			"decompression.").set("grpc-max-message-bytes"),
		size("OAuthBody", OAuthBody, "A body of an OAuth request is at most %s."),
		size("OAuthDocument", OAuthDocument, "The metadata of an OAuth client takes at most %s."),
		size("HeaderBytes", HeaderBytes, "The header of a request has at most %s."),
		lasts("HeaderTime", HeaderTime, "The header of a request arrives within %s."),
		lasts("APIBodyTime", APIBodyTime, "The body of a request to the API arrives within %s, and 1 second more for each 64 KiB."),
		lasts("APIAnswerTime", APIAnswerTime, "A caller of the API takes each 256 KiB of an answer within %s."),
		lasts("ConnectionIdle", ConnectionIdle, "A connection to the API is closed after %s without a request."),
		count("StreamsOfConnection", StreamsOfConnection, "One connection over HTTP/2 to the API port has at most %s requests at once."),
		count("StreamsOfExporter", StreamsOfExporter, "One connection to the port of OTLP over gRPC has at most %s requests at once."),
		count("Connections", Connections, "A port has at most %s open connections, or a quarter of the files that the process may open."),
		count("ConnectionsOfAddress", ConnectionsOfAddress, "One address has at most %s open connections to the API port."),
		count("ConnectionsCrowded", ConnectionsCrowded, "A port is crowded while %s percent of its connections are open. When an address or a "+
			"port has as many connections as it may have, the one that is longest without a request gives way to a new one. When all of them "+
			"have requests in progress, the new one is closed."),
		count("ConnectionsShare", ConnectionsShare, "While a port is crowded, an address that has %s percent of the connections that the port may "+
			"have, or more, gets a new one only in place of one of its own. It keeps those that it has."),
		size("AnswerRows", AnswerRows, "A page of log records ends early when its records take %s. A single record may be larger."),
		size("AnswerTrace", AnswerTrace, "A trace is cut when its spans take %s."),
		size("ReadResult", ReadResult, "The result of a read of telemetry is at most %s."),
		characters("IdempotencyKey", IdempotencyKey, "An `Idempotency-Key` has at most %s."),
		characters("RequestID", RequestID, "An `X-Request-Id` has at most %s. The server replaces a longer one."),
		count("Problems", Problems, "An error lists at most %s problems of a body, and of a dashboard."),
		count("RequestDepth", RequestDepth, "The objects and arrays of a request to the API are nested at most %s levels deep."),
		size("FormBody", FormBody, "A form of a page is at most %s."),
		lasts("DatabaseAnswer", DatabaseAnswer, "A request gets 503 when PostgreSQL does not answer one of its statements within %s."),
		count("OAuthClients", OAuthClients, "An installation keeps at most %s registered OAuth clients."),
		count("DefaultPage", DefaultPage, "A page of a list has %s items when a request does not say how many."),
		count("LargestPage", LargestPage, "A page of a list has at most %s items."),
		lasts("ReadTime", ReadTime, "A read of telemetry takes at most %s."),
		size("ReadMemory", ReadMemory, "A read of telemetry takes at most %s of the engine's memory."),
		count("ReadsOfOrganization", ReadsOfOrganization, "An organization has at most %s reads of telemetry at once, SQL included."),
		count("ChartReadsOfOrganization", ChartReadsOfOrganization, "At most %s of them are for charts and breakdowns."),
		count("WaitingReads", WaitingReads, "At most %s further reads of an organization wait for their turn."),
		lasts("ReadEnd", ReadEnd, "A cancelled read that goes on for %s makes the embedded engine restart."),
		lasts("ReadPause", ReadPause, "After such a read, the organization begins no reads for %s."),
	}
}
