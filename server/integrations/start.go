package integrations

import (
	"context"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/wording"
)

// Start starts to connect an account for a caller of the API. It returns where the browser goes, and until when. The error is one of the
// contract, or one of the store.
func (e *Engine) Start(ctx context.Context, caller *principal.Principal, setup Setup, returnTo string) (string, time.Time, error) {
	p, path, err := e.startable(caller, setup, returnTo)
	if err != nil {
		return "", time.Time{}, err
	}
	by := Starter{}
	if caller.Kind == principal.KindSession {
		by = Starter{User: caller.User, Session: caller.CredentialID}
	}
	return e.Begin(ctx, caller.Org, p, by, path)
}

// StartIdentity starts to link the identity of a caller who is signed in. It returns where the browser goes. Its errors are those of Start.
func (e *Engine) StartIdentity(ctx context.Context, caller *principal.Principal, setup Setup, returnTo string) (string, error) {
	p, path, err := e.startable(caller, setup, returnTo)
	if err != nil {
		return "", err
	}
	if _, ok := p.(Identifier); !ok {
		return "", apierr.New(apierr.IntegrationsValidation, "Identities of "+setup.Name+" cannot be linked.", apierr.Param("connector"))
	}
	return e.BeginIdentity(ctx, caller.Org, p, Starter{User: caller.User, Session: caller.CredentialID}, path)
}

// startable checks that a login can begin and end here. Only administrators learn which settings an operator has to give.
func (e *Engine) startable(caller *principal.Principal, setup Setup, returnTo string) (Provider, string, error) {
	if setup.Provider == nil {
		message := setup.Name + " is not set up on this server."
		if caller.IsAdmin() {
			message += " Its operator gives the settings " + wording.List(setup.Settings) + "."
		}
		return nil, "", apierr.New(apierr.IntegrationsConfiguration, message)
	}
	if e.cfg.AddressProblem != "" {
		return nil, "", apierr.New(apierr.CallbackHostUnavailable, e.cfg.AddressProblem)
	}
	if n, ok := setup.Provider.(HTTPSReturner); ok && n.ReturnsToHTTPS() && !strings.HasPrefix(e.cfg.BaseURL, "https://") {
		return nil, "", apierr.New(apierr.CallbackHostUnavailable,
			setup.Name+" sends browsers back to https only, and the address of this server is "+
				e.cfg.BaseURL+". Its operator sets public-url.")
	}
	path, err := ReturnPath(returnTo)
	if err != nil {
		return nil, "", apierr.New(apierr.IntegrationsValidation, "`return_to` "+err.Error()+".", apierr.Param("return_to"),
			apierr.Violations(apierr.Violation{Field: "return_to", Message: err.Error()}))
	}
	return setup.Provider, path, nil
}

// Reachable reports whether a provider can send browsers and deliveries to this server.
func (e *Engine) Reachable() bool { return e.cfg.AddressProblem == "" }
