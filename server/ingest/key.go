package ingest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

const (
	keyHeader = "x-svc-ingest-key"
	bearer    = "Bearer "
)

// ErrMalformedKey is wrapped in errors of Keys about a text that cannot be an ingest key of any region.
var ErrMalformedKey = errors.New("not an ingest key")

// presentedKey returns the secret from one of the two headers that may hold it. A bearer token wins; the word Bearer is case-insensitive.
func presentedKey(authorization, header string) string {
	scheme, token, ok := strings.Cut(strings.TrimSpace(authorization), " ")
	if ok && strings.EqualFold(scheme, "bearer") {
		if token = strings.TrimSpace(token); token != "" {
			return token
		}
	}
	return strings.TrimSpace(header)
}

// authenticate resolves the secret in the headers. discard is true for the test key, whose Key is empty. The key of a refusal names its
// owner if the owner is known.
func (g *Gateway) authenticate(ctx context.Context, h http.Header) (key Key, discard bool, _ *apierr.Error) {
	authorization := h.Get("Authorization")
	secret := presentedKey(authorization, h.Get(keyHeader))
	if secret == "" && strings.HasPrefix(strings.TrimSpace(authorization), "svc_") {
		return Key{}, false, apierr.New(
			apierr.IngestUnauthorized,
			"The Authorization header holds a key without the word `Bearer ` before it. Send `Authorization: Bearer <INGEST_KEY>`.",
		)
	}
	if secret == TestKey {
		return Key{}, true, nil
	}
	if reason := malformedKey(secret); reason != "" {
		return Key{}, false, apierr.New(apierr.IngestUnauthorized, reason)
	}
	key, err := g.keys.AuthenticateIngest(ctx, secret)
	if err == nil {
		return key, false, nil
	}
	return key, false, g.notAuthenticated(ctx, key.Org, err)
}

// notAuthenticated returns the answer to an error of Keys or Connectors. The organization is set only for a known credential.
func (g *Gateway) notAuthenticated(ctx context.Context, org principal.OrgID, err error) *apierr.Error {
	var known *apierr.Error
	switch {
	case errors.As(err, &known):
		if known.Tag == apierr.IngestUnauthorized && known.Message != "" {
			// This is a copy, because the lookup may return the same error many times. Its text becomes a whole sentence here.
			here := *known
			here.Message = sentence(strings.ToUpper(here.Message[:1]) + here.Message[1:])
			if g.region != "" && org == "" && !errors.Is(err, ErrMalformedKey) {
				here.Message += " This is the region " + g.region + ", where keys of other regions are not known."
			}
			known = &here
		}
		return known
	case ctx.Err() != nil:
		return g.interrupted(ctx)
	default:
		return apierr.New(apierr.IngestServiceUnavailable,
			"The credential could not be looked up just now. Nothing was stored; send the request again.", apierr.Cause(err))
	}
}

func malformedKey(secret string) string {
	switch {
	case secret == "":
		return "No ingest key was sent. Send one as `Authorization: Bearer <INGEST_KEY>` or in the header `x-svc-ingest-key`."
	case len(secret) > len(bearer) && strings.EqualFold(secret[:len(bearer)], bearer):
		return "The word Bearer is too many: the header `x-svc-ingest-key` takes the key alone, and in `Authorization: Bearer <INGEST_KEY>` " +
			"the word stands once."
	case strings.HasPrefix(secret, auth.PrefixAPIKey):
		return "This is an API key, which cannot send telemetry. Use an ingest key: it begins with " + auth.IngestKeyPrefixes + "."
	case len(secret) > limits.IngestKeyText,
		!strings.HasPrefix(secret, auth.PrefixPublicKey) && !strings.HasPrefix(secret, auth.PrefixPrivateKey) &&
			!strings.HasPrefix(secret, auth.PrefixCustomKey):
		return "This is not an ingest key: one begins with " + auth.IngestKeyPrefixes + "."
	default:
		return ""
	}
}

// allow refuses a signal that the key may not send.
func (k *Key) allow(signal fmt.Stringer) *apierr.Error {
	if k.Signals == nil || slices.Contains(k.Signals, signal.String()) {
		return nil
	}
	allowed := "It may send nothing."
	if len(k.Signals) > 0 {
		allowed = "It may send: " + strings.Join(k.Signals, ", ") + "."
	}
	return apierr.New(apierr.IngestSignalNotAllowed, "This ingest key may not send "+signal.String()+". "+allowed)
}
