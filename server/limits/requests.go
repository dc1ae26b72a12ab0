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

	DefaultPage = 20
	LargestPage = 100

	// ReadTime and ReadMemory are for one read of the warehouse.
	ReadTime   = 30 * time.Second
	ReadMemory = 1 << 30
	// ReadsOfOrganization bounds the reads of telemetry of one organization, SQL included. With the embedded engine, a read counts until
	// the engine has ended it, even if its caller has left.
	ReadsOfOrganization = 6
	// ReadEnd is how long a cancelled read may go on in the embedded engine. After that, the engine restarts, and the organization begins
	// no reads for ReadPause, or no SQL for SQLPause.
	ReadEnd   = 8 * time.Second
	ReadPause = time.Minute
)

func requests() []Limit {
	return []Limit{
		size("RESTBody", RESTBody, "A body of a REST or MCP request, and a message over gRPC or Connect to a method that needs no credential, is at most %s, also after decompression.").set("rest-max-body-bytes"),
		size("GRPCMessage", GRPCMessage, "A message over gRPC, of OTLP or of the API, or over Connect is at most %s; of the API also after decompression.").set("grpc-max-message-bytes"),
		size("OAuthBody", OAuthBody, "A body of an OAuth request is at most %s."),
		size("OAuthDocument", OAuthDocument, "The metadata of an OAuth client takes at most %s."),
		count("DefaultPage", DefaultPage, "A page of a list has %s items when a request does not say how many."),
		count("LargestPage", LargestPage, "A page of a list has at most %s items."),
		lasts("ReadTime", ReadTime, "A read of telemetry takes at most %s."),
		size("ReadMemory", ReadMemory, "A read of telemetry takes at most %s of the engine's memory."),
		count("ReadsOfOrganization", ReadsOfOrganization, "An organization has at most %s reads of telemetry at once, SQL included."),
		lasts("ReadEnd", ReadEnd, "A cancelled read that goes on for %s makes the embedded engine restart."),
		lasts("ReadPause", ReadPause, "After such a read, the organization begins no reads for %s."),
	}
}
