package integrations

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// HookToken is the secret part of the address at which deliveries about an account arrive, for providers whose signatures this server
// cannot check. It follows from the account, so it needs no storage.
func (e *Engine) HookToken(c store.IntegrationConnection) string {
	mac := e.cfg.Hash("webhook address " + c.ID.String())
	sum := sha256.Sum256([]byte(mac))
	return string(c.Org) + "." + c.ID.String() + "." + base64.RawURLEncoding.EncodeToString(sum[:])
}

// HookURL is the address with the token.
func (e *Engine) HookURL(c store.IntegrationConnection) string {
	return strings.TrimRight(e.cfg.BaseURL, "/") + "/integrations/" + c.Provider + "/webhook/" + e.HookToken(c)
}

// HookSecret is the key with which a provider signs deliveries to that address, in the form of Standard Webhooks. It follows from the
// account as well.
func (e *Engine) HookSecret(c store.IntegrationConnection) string {
	sum := sha256.Sum256([]byte(e.cfg.Hash("webhook secret " + c.ID.String())))
	return "whsec_" + base64.StdEncoding.EncodeToString(sum[:])
}

// ErrUnhooked reports that an address was ours, and that its account is gone.
var ErrUnhooked = errors.New("the account of the webhook is no longer connected")

// Hooked finds the account of a token. It returns ErrForged if the token is not one of ours. It returns ErrUnhooked if its account is gone.
func (e *Engine) Hooked(ctx context.Context, provider, token string) (store.IntegrationConnection, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return store.IntegrationConnection{}, ErrForged
	}
	id, err := uuid.Parse(parts[1])
	if err != nil {
		return store.IntegrationConnection{}, ErrForged
	}
	// The token is judged before anything is read, so a guess costs no query.
	of := store.IntegrationConnection{Org: principal.OrgID(parts[0]), ID: id}
	if !hmac.Equal([]byte(e.HookToken(of)), []byte(token)) {
		return store.IntegrationConnection{}, ErrForged
	}
	c, err := e.cfg.Store.GetIntegrationConnection(ctx, of.Org, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.IntegrationConnection{}, ErrUnhooked
	case err == nil && c.Provider != provider:
		return store.IntegrationConnection{}, ErrForged
	}
	return c, err
}
