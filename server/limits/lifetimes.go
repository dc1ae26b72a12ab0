package limits

import "time"

// Lifetimes of credentials, and of the links and codes that lead to one.
const (
	// SessionLifetime is the longest time that a sign-in lasts. It ends earlier when it is unused for SessionIdle.
	SessionLifetime = 30 * Day
	SessionIdle     = 7 * Day
	InvitationLink  = 7 * Day
	// CLILogin is how long the codes of a command-line login work. CLIKey is the lifetime of the API key that the login creates.
	CLILogin = 10 * time.Minute
	CLIKey   = 90 * Day
	// CLILoginPoll is the least time between two questions of a command line whether its login is confirmed. After a question that comes too
	// early, the command line waits CLILoginSlowDown longer each time: RFC 8628, section 3.5.
	CLILoginPoll     = 5 * time.Second
	CLILoginSlowDown = 5 * time.Second
	// CLILoginKept is how long the server remembers a refused login after its codes have expired.
	CLILoginKept = time.Hour
	// APIKeyWeek, APIKeyMonth, APIKeyQuarter and APIKeyYear are the lifetimes that the web application offers for an API key.
	APIKeyWeek    = 7 * Day
	APIKeyMonth   = 30 * Day
	APIKeyQuarter = 90 * Day
	APIKeyYear    = 365 * Day
	// CredentialCopy is how long a server takes an API key, a session or an OAuth token from its memory, IngestKeyCopy that for an ingest key
	// and a policy. IngestKeyOutage is that for an ingest key while the database does not answer. Losing telemetry is worse than taking it
	// from a key that was revoked elsewhere during the outage.
	CredentialCopy  = 10 * time.Second
	IngestKeyCopy   = 30 * time.Second
	IngestKeyOutage = 24 * time.Hour
	// ChangesSilent is how long a server does not notice that PostgreSQL, which tells it of changes by others, has gone silently.
	ChangesSilent = 4 * time.Second
	// OAuthCode, OAuthAccess, OAuthRefresh and OAuthGrant are for authorization codes, access tokens, refresh tokens that are unused,
	// and the authorization of a client.
	OAuthCode    = 10 * time.Minute
	OAuthAccess  = time.Hour
	OAuthRefresh = 30 * Day
	OAuthGrant   = 90 * Day
	// A client that registered itself is deleted when it has had no grant for OAuthClientUntried, or was unused for OAuthClientUnused.
	OAuthClientUntried = 24 * time.Hour
	OAuthClientUnused  = 180 * Day
	// OAuthGrantKept is how long an ended grant is kept, so that the use of its codes and tokens is still recognized.
	OAuthGrantKept = 7 * Day
	// OAuthConsent is how long a person may read the page of consent before the registration of its client can give way to another.
	OAuthConsent = time.Hour
	// FormLifetime is the lifetime of the cookie that forms are bound to.
	FormLifetime = 24 * time.Hour
	// FederatedSignIn is how long a person may take at the identity provider.
	FederatedSignIn = 10 * time.Minute

	// MinPasswordLength is in characters, MaxPasswordBytes in bytes.
	MinPasswordLength = 10
	MaxPasswordBytes  = 1024
)

func lifetimes() []Limit {
	return []Limit{
		lasts("SessionLifetime", SessionLifetime, "A sign-in lasts at most %s."),
		lasts("SessionIdle", SessionIdle, "A sign-in ends when it is unused for %s."),
		lasts("InvitationLink", InvitationLink, "The link of an invitation works for %s."),
		lasts("CLILogin", CLILogin, "The code of a command-line login works for %s."),
		lasts("CLIKey", CLIKey, "The API key of a command-line login works for %s."),
		lasts("CLILoginPoll", CLILoginPoll, "A command line asks at most once in %s whether its login is confirmed."),
		lasts("CLILoginSlowDown", CLILoginSlowDown, "One that asks earlier gets an error, and waits %s longer between requests from then on."),
		lasts("CLILoginKept", CLILoginKept, "For %s after its code has expired, a command line learns that a person refused the login."),
		lasts("APIKeyWeek", APIKeyWeek, "The web application offers API keys that expire after %s. The API takes any time."),
		lasts("APIKeyMonth", APIKeyMonth, "It offers API keys that expire after %s."),
		lasts("APIKeyQuarter", APIKeyQuarter, "It offers API keys that expire after %s."),
		lasts("APIKeyYear", APIKeyYear, "It offers API keys that expire after %s."),
		lasts("CredentialCopy", CredentialCopy, "A server that cannot learn of changes by other servers accepts a revoked API key, session or "+
			"OAuth token for at most %s."),
		lasts("IngestKeyCopy", IngestKeyCopy, "Such a server accepts a revoked ingest key for at most %s, and applies a changed policy by then."),
		lasts("ChangesSilent", ChangesSilent,
			"A server notices within %s that its connection to PostgreSQL, which tells it of changes by others, is dead."),
		lasts("IngestKeyOutage", IngestKeyOutage,
			"While the database does not answer, ingest accepts a key that it confirmed within the last %s."),
		lasts("OAuthCode", OAuthCode, "An OAuth authorization code works for %s."),
		lasts("OAuthAccess", OAuthAccess, "An OAuth access token works for %s."),
		lasts("OAuthRefresh", OAuthRefresh, "An OAuth refresh token works for %s after it was issued."),
		lasts("OAuthGrant", OAuthGrant, "The authorization of an OAuth client ends after %s."),
		lasts("OAuthClientUntried", OAuthClientUntried, "An OAuth client that never got a grant is deleted %s after its registration."),
		lasts("OAuthClientUnused", OAuthClientUnused, "An OAuth client is deleted when it was unused for %s."),
		lasts("OAuthGrantKept", OAuthGrantKept, "The tokens of an ended OAuth grant are recognized for %s, to detect their misuse."),
		lasts("OAuthConsent", OAuthConsent, "When an installation has no room for a further OAuth client, a new one replaces one without a "+
			"grant whose registration is more than %s old. A person has that time to read the page of consent."),
		lasts("FormLifetime", FormLifetime, "A form of a page can be sent for at most %s. After that, a person opens the page again."),
		lasts("FederatedSignIn", FederatedSignIn, "A sign-in at an identity provider takes at most %s."),
		characters("MinPasswordLength", MinPasswordLength, "A new password has at least %s."),
		size("MaxPasswordBytes", MaxPasswordBytes, "A password has at most %s."),
	}
}
