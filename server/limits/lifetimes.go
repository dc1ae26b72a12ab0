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
		lasts("OAuthCode", OAuthCode, "An OAuth authorization code works for %s."),
		lasts("OAuthAccess", OAuthAccess, "An OAuth access token works for %s."),
		lasts("OAuthRefresh", OAuthRefresh, "An OAuth refresh token works for %s after it was issued."),
		lasts("OAuthGrant", OAuthGrant, "The authorization of an OAuth client ends after %s."),
		lasts("OAuthClientUntried", OAuthClientUntried, "An OAuth client that never got a grant is deleted %s after its registration."),
		lasts("OAuthClientUnused", OAuthClientUnused, "An OAuth client is deleted when it was unused for %s."),
		lasts("OAuthGrantKept", OAuthGrantKept, "The tokens of an ended OAuth grant are recognized for %s, to detect their misuse."),
		lasts("FederatedSignIn", FederatedSignIn, "A sign-in at an identity provider takes at most %s."),
		characters("MinPasswordLength", MinPasswordLength, "A new password has at least %s."),
		size("MaxPasswordBytes", MaxPasswordBytes, "A password has at most %s."),
	}
}
