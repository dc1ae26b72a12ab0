// Package integrations connects accounts of other services to organizations and keeps them in order: the login at the provider, the state
// of each account, and its synchronization. A package below it speaks with one provider and implements the interfaces here.
//
// A delivery of a provider is a hint. It says which account to read again; nothing of it is stored as a fact. So deliveries that are
// lost, repeated, reordered or forged by somebody with the secret lead to the same state.
package integrations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

// Classes of providers.
const (
	ClassSource = "source"
	ClassChat   = "chat"
	ClassCDN    = "cdn"
	// ClassHosting is that of platforms which build and run applications.
	ClassHosting = "hosting"
	// ClassDatabase is the class of database platforms.
	ClassDatabase = "database"
)

// Provider is a service whose accounts can be connected. It is safe for concurrent use.
type Provider interface {
	// ID is the short name, `github`. Name is the name for people.
	ID() string
	Name() string
	Class() string
	// Tools are the tools of the MCP server that read from the provider.
	Tools() []string
	// BaseURL is the provider's server, to which its accounts belong.
	BaseURL() string
	// SameAccount reports whether two settings are those of one account: a new installation of the app has a new external id.
	SameAccount(before, now json.RawMessage) bool
	// Reconnected returns the settings of an account that was connected before and is connected again.
	Reconnected(before, now json.RawMessage) (json.RawMessage, error)
	// Sync reads a connected account.
	Sync(ctx context.Context, c Connection) (Synced, error)
}

// LoginProvider is a provider whose accounts are connected by a login.
type LoginProvider interface {
	Provider
	// AuthorizeURL is where a person proves at the provider who they are (RFC 6749 section 4.1.1, with the code challenge of RFC 7636).
	AuthorizeURL(state, challenge, redirectURI string) string
	// Accounts exchanges the code of a callback and lists the accounts that the person may connect.
	Accounts(ctx context.Context, c Callback) ([]Account, error)
}

// TokenProvider is a provider whose accounts are connected with a token that an administrator gives.
type TokenProvider interface {
	Provider
	// Check asks the provider for the account of a token. The account has the token as its credentials. A team names one of several accounts
	// that the token sees; without it, there must be one only. The problem is Unauthorized if the provider refuses the token, and Invalid
	// or NotFound if the team is missing or wrong.
	Check(ctx context.Context, token, team string) (Account, error)
}

// Verifier is a provider that sends deliveries.
type Verifier interface {
	// Verify checks the signature of a delivery. It returns ErrForged if the signature is wrong.
	Verify(header http.Header, body []byte) (Delivery, error)
}

// Connection is a connected account with its opened credentials. They are nil for a provider that needs none.
type Connection struct {
	store.IntegrationConnection

	Credentials []byte
}

// Installer is a provider whose accounts get our app before a person can connect them.
type Installer interface {
	// InstallURL is where a person gives our app access to an account.
	InstallURL(state string) string
}

// HTTPSReturner is a provider that may send browsers back to https only, and not to http on the person's machine.
type HTTPSReturner interface {
	ReturnsToHTTPS() bool
}

// Revoker is a provider at which we can give our access back.
type Revoker interface {
	Revoke(ctx context.Context, c Connection) error
}

// Refresher is a provider whose tokens end and are renewed (RFC 6749 section 6).
type Refresher interface {
	// Refresh returns new credentials, or nil while those of the account are young. Only the worker of the account calls it, and stores the
	// answer before anything else, because the old token may be void from then on.
	Refresh(ctx context.Context, c Connection) ([]byte, error)
}

// Identifier is a provider whose persons members can link with their accounts here.
type Identifier interface {
	// IdentityURL is where a person proves who they are (OpenID Connect Core 1.0 section 3.1.2.1).
	IdentityURL(state, redirectURI string) string
	// Identity exchanges the code of a callback.
	Identity(ctx context.Context, c Callback) (Identity, error)
}

// Identity is a person of a provider.
type Identity struct {
	// Account is the external id of the account (the workspace) in which the person has the id.
	Account, UserID, DisplayName string
}

// ChatProvider is a provider of the class chat.
type ChatProvider interface {
	Provider
	// Channel describes one channel.
	Channel(ctx context.Context, c Connection, id string) (store.ChatChannel, error)
	// Post sends a message and returns its reference, which begins with the channel's id and a colon; see chat.Poster. A message in a thread
	// is an answer to the thread's first message. A problem NotFound: the channel, or the thread, is not there. A problem with Picture:
	// nothing was sent, and the message without its picture may be.
	Post(ctx context.Context, c Connection, channel, thread string, m chat.Message) (reference string, err error)
	// Change replaces a message that Post has sent. A problem NotFound: it is no longer there. One with Picture is as for Post.
	Change(ctx context.Context, c Connection, reference string, m chat.Message) error
}

// SourceProvider is a provider of the class source.
type SourceProvider interface {
	Provider
	// Host reads the repositories of an account. Callers get a host from Engine.SourceHost.
	Host(c Connection, renew Renew) (source.Host, error)
}

// Renew returns an account with newer credentials than those it is given, which the provider no longer takes. The error is a problem.
type Renew func(ctx context.Context, c Connection) (Connection, error)

// Hooker is a provider whose deliveries come to the secret addresses of accounts; see Engine.HookURL.
type Hooker interface {
	// Hook reads a delivery about an account. It returns ErrForged if it is signed, but not with the secret; see Engine.HookSecret.
	Hook(secret string, header http.Header, body []byte) (Delivery, error)
}

// Callback has the parameters that the provider sent with the browser.
type Callback struct {
	Code string
	// Verifier is the PKCE code verifier; empty if the code comes from the installation of the app, which takes no challenge.
	Verifier    string
	RedirectURI string
	// Account is the account that the person has just given access to by an installation; empty if any may be meant.
	Account string
}

// Account is an account that a person may connect.
type Account struct {
	ExternalID string `json:"external_id"`
	Name       string `json:"name"`
	// Kind is a word for people, for example organization.
	Kind string `json:"kind"`
	// Note says how far the person's rights reach.
	Note     string          `json:"note"`
	Settings json.RawMessage `json:"settings"`
	// Chosen says that the person has chosen this account on the provider's own page, so it is connected without another question.
	Chosen bool `json:"chosen"`
	// Credentials give access to the account; nil for a provider that needs none.
	Credentials []byte `json:"credentials,omitempty"`
}

// Synced is an account as the provider described it. Repositories, Channels and Databases are complete lists; nil for providers
// without them.
type Synced struct {
	Name         string
	Settings     json.RawMessage
	Repositories []store.SourceRepository
	Channels     []store.ChatChannel
	Hosting      *store.HostingList
	Databases    []store.PlatformDatabase
	// Events are changes at a database platform; those that are known already are left out.
	Events []store.PlatformEvent
	// Target is the scrape target that the account owns; it is made if there is none.
	Target *store.ScrapeTarget
	// Every is the time to the next synchronization; limits.IntegrationSync if it is 0.
	Every time.Duration
}

// Delivery is a delivery with a good signature.
type Delivery struct {
	ID, Kind string
	// Account is the external id of the account that the delivery is about; empty if it is about none. Sync says that the account has to be
	// read again.
	Account string
	Sync    bool
	// Pause is the least time between two readings of the account after deliveries; 0 if each of them is worth one.
	Pause time.Duration
	// Repository names a repository to look at again; PullRequest is the number of a pull request to read again, 0 if it is about none.
	Repository  string
	PullRequest int64
	// Answer is the body of our answer; the provider checks by it that the address is ours. It has the type text/plain, or that of AnswerType.
	Answer, AnswerType string
}

// ErrForged reports a delivery without a good signature.
var ErrForged = errors.New("the signature of the delivery is not good")

// Kind is the kind of a Problem.
type Kind int

// Kinds of problems.
const (
	// Upstream: the provider failed, or did not answer in time. The same request may succeed later.
	Upstream Kind = iota
	// RateLimited: the account has no quota left for a while.
	RateLimited
	// Unauthorized: the provider refused our credentials.
	Unauthorized
	// Suspended: the owner of the account has suspended us.
	Suspended
	// Gone: the account no longer knows us.
	Gone
	// Forbidden: a permission is missing.
	Forbidden
	// NotFound: the thing that was asked for does not exist, or we may not see it.
	NotFound
	// Invalid: the provider does not take the request.
	Invalid
)

// Problem is the failure of a request to a provider.
type Problem struct {
	Kind Kind
	// Text is for people. It holds no secret, and of the text of the provider at most an error code of plain letters.
	Text       string
	RetryAfter time.Duration
	// Picture says that a chat service refuses the picture of a message, or cannot fetch it. The kind is Invalid then.
	Picture bool
	cause   error
}

// NewProblem makes a problem. The cause is for logs only.
func NewProblem(kind Kind, cause error, format string, args ...any) *Problem {
	return &Problem{Kind: kind, Text: fmt.Sprintf(format, args...), cause: cause}
}

func (p *Problem) Error() string {
	if p.cause != nil {
		return p.Text + ": " + p.cause.Error()
	}
	return p.Text
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.cause }

// IsKind reports whether an error is a problem of a kind.
func IsKind(err error, kind Kind) bool {
	var p *Problem
	return errors.As(err, &p) && p.Kind == kind
}

// Setup is a provider of this server: one that the operator has set up, or the names of the settings that set it up.
type Setup struct {
	ID, Name, Class string
	// Provider is nil if the operator has not set it up.
	Provider Provider
	// Settings are the settings that an operator gives.
	Settings []string
	Tools    []string
}
