package limits

import "time"

// Requests that are allowed in a period. The period of FooRequests is FooPeriod.
const (
	// RESTRequests is for REST, Connect and gRPC together, for each credential.
	RESTRequests = 600
	RESTPeriod   = time.Minute

	MCPRequests = 120
	MCPPeriod   = 10 * time.Second

	// OAuthRequests is for the endpoints of OAuth clients, for each address.
	OAuthRequests = 120
	OAuthPeriod   = time.Minute

	// ShareLinkRequests is for the public reads of one share link. ShareAddressRequests is for the public reads of one address.
	ShareLinkRequests    = 600
	ShareLinkPeriod      = time.Minute
	ShareAddressRequests = 120
	ShareAddressPeriod   = time.Minute

	// CLILoginRequests is how many command-line logins one address may start.
	CLILoginRequests = 60
	CLILoginPeriod   = time.Minute
)

func rates() []Limit {
	return []Limit{
		rate("RESTRequests", RESTRequests, RESTPeriod, "REST, Connect and gRPC: each credential may make %s. Refused requests (403, 404) count."),
		rate("MCPRequests", MCPRequests, MCPPeriod, "MCP: each credential may make %s."),
		rate("OAuthRequests", OAuthRequests, OAuthPeriod, "OAuth: each address may make %s to register clients and to get tokens."),
		rate("ShareLinkRequests", ShareLinkRequests, ShareLinkPeriod, "Shared dashboards: each link answers %s."),
		rate("ShareAddressRequests", ShareAddressRequests, ShareAddressPeriod, "Shared dashboards: each address may make %s."),
		rate("CLILoginRequests", CLILoginRequests, CLILoginPeriod, "Command-line login: each address may start %s."),
	}
}
