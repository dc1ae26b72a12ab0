package limits

import "time"

// Requests that are allowed in a period. The period of FooRequests is FooPeriod.
const (
	// RESTRequests is for REST, Connect and gRPC together, for each key.
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

	// An address, or an account, may try so many passwords, or codes of a command-line login, at once. After each interval it may make one
	// more.
	SignInAddressAttempts = 30
	SignInAddressInterval = 3 * time.Second
	SignInAccountAttempts = 10
	SignInAccountInterval = 10 * time.Second

	// DeniedCalls is how many entries of its audit log an organization gets in DeniedCallsTime for calls that were denied although their
	// credential is good.
	DeniedCalls     = 100
	DeniedCallsTime = 10 * time.Minute
)

func rates() []Limit {
	return []Limit{
		rate("RESTRequests", RESTRequests, RESTPeriod, "REST, Connect and gRPC: each key may make %s. Refused requests (403, 404) count. "+
			"People who are signed in have no limit."),
		rate("MCPRequests", MCPRequests, MCPPeriod, "MCP: each credential may make %s."),
		rate("OAuthRequests", OAuthRequests, OAuthPeriod, "OAuth: each address may make %s to register clients and to get tokens."),
		rate("ShareLinkRequests", ShareLinkRequests, ShareLinkPeriod, "Shared dashboards: each link answers %s."),
		rate("ShareAddressRequests", ShareAddressRequests, ShareAddressPeriod, "Shared dashboards: each address may make %s."),
		rate("CLILoginRequests", CLILoginRequests, CLILoginPeriod, "Command-line login: each address may start %s."),
		count("SignInAddressAttempts", SignInAddressAttempts, "Passwords and login codes: each address may make %s attempts at once."),
		lasts("SignInAddressInterval", SignInAddressInterval, "Passwords and login codes: each address may make one more attempt after %s."),
		count("SignInAccountAttempts", SignInAccountAttempts, "Passwords and login codes: an account allows %s attempts at once."),
		lasts("SignInAccountInterval", SignInAccountInterval, "Passwords and login codes: an account allows one more attempt after %s."),
		count("DeniedCalls", DeniedCalls, "Denied calls: the audit log of an organization gets at most %s entries about them in one period."),
		lasts("DeniedCallsTime", DeniedCallsTime, "Denied calls: such a period lasts %s. Equal denials of one credential share an entry in it."),
	}
}
