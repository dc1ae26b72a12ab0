package rpc

import (
	"context"
	"fmt"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

type admittedKey struct{}

// Admit decides whether the caller in the context may call a method. It checks the result of authentication, then the rate limit,
// then the policy. The context that it returns carries the decision. A door asks before it reads the body; the chain behind the
// loopback then finds the decision, and the call is counted once.
func (c *Chain) Admit(ctx context.Context, m *contract.Method) (context.Context, error) {
	if prior, ok := ctx.Value(admittedKey{}).(*contract.Method); ok && prior == m {
		return ctx, nil
	}
	if r, _ := principal.ResultFrom(ctx); m.AnyOrganization && r.Person != nil && principal.DoorFrom(ctx) != principal.DoorMCP {
		ctx = principal.WithResult(ctx, principal.Result{Principal: r.Person})
	}
	if !m.Public {
		if err := c.admitCaller(ctx, m); err != nil {
			return ctx, err
		}
	}
	return context.WithValue(ctx, admittedKey{}, m), nil
}

func (c *Chain) admitCaller(ctx context.Context, m *contract.Method) error {
	p, err := caller(ctx)
	if r, _ := principal.ResultFrom(ctx); err != nil && r.Refused != nil {
		// A credential that is refused for its organization counts against its rate, as one that is refused for its scope does.
		if err := c.limit(ctx, r.Refused); err != nil {
			return err
		}
		c.denied.record(ctx, r.Refused, m, err)
		return err
	}
	if err != nil {
		return err
	}
	if err := c.limit(ctx, p); err != nil {
		return err
	}
	if agent := principal.OriginFrom(ctx).Agent; agent != "" {
		if _, err := publicid.Decode(publicid.Actor, agent); err != nil {
			return apierr.New(apierr.InvalidRequest, fmt.Sprintf("The header x-svc-agent-id is not the id of an agent: %v.", err),
				apierr.Param("x-svc-agent-id"))
		}
	}
	if err := permit(p, m); err != nil {
		c.denied.record(ctx, p, m, err)
		return err
	}
	return nil
}

// caller returns the authenticated caller if its credential works at the door of the call.
func caller(ctx context.Context) (*principal.Principal, error) {
	r, ok := principal.ResultFrom(ctx)
	switch {
	case ok && r.Err != nil:
		return nil, r.Err
	case !ok || r.Principal == nil:
		return nil, apierr.New(apierr.Unauthorized,
			"No credential was sent. Send an API key or a session token as `Authorization: Bearer <token>`.")
	case principal.DoorFrom(ctx) == principal.DoorMCP:
		return r.Principal, nil
	case r.Principal.Kind == principal.KindMCPKey:
		return nil, apierr.New(apierr.InvalidCredentials,
			"This is an MCP key, which works only on the MCP server. Use an API key of kind `standard` here.")
	case r.Principal.Kind == principal.KindOAuth:
		return nil, apierr.New(apierr.InvalidCredentials, "This is an OAuth token, which works only on the MCP server. Use an API key here.")
	default:
		return r.Principal, nil
	}
}

// limit counts the call against its credential. The MCP door keeps a rate of its own. People who are signed in have no rate: the pages that
// they open send many requests at once.
func (c *Chain) limit(ctx context.Context, p *principal.Principal) error {
	if c.limiter == nil || principal.DoorFrom(ctx) == principal.DoorMCP || p.Kind == principal.KindSession {
		return nil
	}
	ok, retryAfter := c.limiter.Allow(limitKey(p), c.now())
	if ok {
		return nil
	}
	return apierr.New(apierr.RateLimit,
		"This credential made too many requests: "+limits.Number(limits.RESTRequests)+" in "+limits.Seconds(limits.RESTPeriod)+
			" are allowed. Wait, then try again.",
		apierr.RetryAfter(retryAfter))
}

func limitKey(p *principal.Principal) string {
	if p.CredentialID != "" {
		return string(p.Kind) + " " + p.CredentialID
	}
	return string(p.Kind) + " " + string(p.Org) + " " + string(p.User)
}

// permit checks scope, then role.
func permit(p *principal.Principal, m *contract.Method) error {
	if missing := m.MissingScopes(p.Allows); len(missing) > 0 {
		return apierr.New(
			apierr.InsufficientScope,
			fmt.Sprintf("This operation needs the scope `%s`, which the credential does not have.", missing[0]),
		)
	}
	if m.Admin && !p.IsAdmin() {
		return apierr.New(m.RoleError, "Only an administrator of the organization may do this.")
	}
	return nil
}
