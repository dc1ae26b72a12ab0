// Package principal describes the caller: the organization, the user, and the rights of the credential. It does no I/O.
package principal

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// OrgID names an organization, `org_…`. Every organization-scoped read or write takes one, right after the context.
type OrgID string

// UserID names a user, `user_…`.
type UserID string

// Kind is the kind of credential of a request.
type Kind string

// Kinds of credential.
const (
	KindAPIKey  Kind = "api_key"
	KindMCPKey  Kind = "mcp_key"
	KindSession Kind = "session"
	KindOAuth   Kind = "oauth"
)

// Role is the right of a caller to administer the organization.
type Role string

// Roles. An API key acts as root, within its scopes.
const (
	RoleRoot   Role = "root"
	RoleAdmin  Role = "org:admin"
	RoleMember Role = "org:member"
)

// Principal is an authenticated caller.
type Principal struct {
	Org  OrgID
	User UserID
	// Email is the user's address, empty when unknown.
	Email string
	Kind  Kind
	// Name is the label of the key, or the user's name; for people to read.
	Name string
	// CredentialID names the credential for limits and the audit log: `key_…` for API keys. It is never a secret.
	CredentialID string
	// Agent is the id of the program that acts for the user, `actor_…`; empty when a person or a key acts.
	Agent string
	Role  Role
	// Scopes is nil for full access.
	Scopes []string
}

// IsAdmin reports whether the caller administers the organization.
func (p *Principal) IsAdmin() bool { return p.Role == RoleAdmin || p.Role == RoleRoot }

// Allows reports whether the scopes cover reading, or writing, a family. Write implies read, and `*` covers everything.
func (p *Principal) Allows(family string, write bool) bool {
	if p.Scopes == nil || p.Kind == KindSession {
		return true
	}
	for _, s := range p.Scopes {
		f, access, _ := strings.Cut(s, ":")
		if s == "*" || f == family && (access == "write" || access == "read" && !write) {
			return true
		}
	}
	return false
}

// HasScope reports whether the exact scope was granted by name.
func (p *Principal) HasScope(scope string) bool { return slices.Contains(p.Scopes, scope) }

// Door is the way on which a call came in.
type Door string

// Doors. A call that REST or MCP passes on over the loopback keeps its own door.
const (
	DoorConnect Door = "connect"
	DoorREST    Door = "rest"
	DoorMCP     Door = "mcp"
)

// Result is the outcome of authentication. Exactly one of Principal and Err is set.
type Result struct {
	Principal *Principal
	Err       error
	// Refused is the owner of a good credential that asks for another organization. It serves rate limits and the audit log of its
	// own organization, and may call nothing.
	Refused *Principal
	// Person is a person with a good session who has not chosen one of several organizations, or belongs to none. It has no organization
	// and may call only methods that concern the person (any_organization in the contract).
	Person *Principal
}

type (
	resultKey struct{}
	doorKey   struct{}
)

// WithResult attaches the outcome of authentication.
func WithResult(ctx context.Context, r Result) context.Context {
	return context.WithValue(ctx, resultKey{}, r)
}

// ResultFrom returns the outcome of authentication; ok is false when there was no authentication.
func ResultFrom(ctx context.Context) (r Result, ok bool) {
	r, ok = ctx.Value(resultKey{}).(Result)
	return r, ok
}

// From returns the caller. A service may rely on it: the rpc chain refuses anonymous calls of methods that are not public.
func From(ctx context.Context) (*Principal, bool) {
	r, ok := ResultFrom(ctx)
	return r.Principal, ok && r.Principal != nil
}

// Caller is From for a method that is not public. A missing caller is a defect.
func Caller(ctx context.Context) (*Principal, error) {
	p, ok := From(ctx)
	if !ok {
		return nil, errors.New("the call has no principal")
	}
	return p, nil
}

// WithDoor attaches the door of a call.
func WithDoor(ctx context.Context, d Door) context.Context {
	return context.WithValue(ctx, doorKey{}, d)
}

// DoorFrom returns the door of a call, DoorConnect when none is attached.
func DoorFrom(ctx context.Context) Door {
	if d, ok := ctx.Value(doorKey{}).(Door); ok {
		return d
	}
	return DoorConnect
}
