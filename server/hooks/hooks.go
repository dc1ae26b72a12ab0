// Package hooks is the door for deliveries of providers: POST /integrations/{provider}/webhook. A delivery whose signature is good makes
// the accounts that it is about due for synchronization; see package integrations.
package hooks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/store"
)

// Path is the pattern of the door. SecretPath is that of the door of providers whose signatures this server cannot check: the address has a
// secret token.
const (
	Path       = "POST /integrations/{provider}/webhook"
	SecretPath = Path + "/{token}"
)

// Store receives deliveries.
type Store interface {
	ReceiveWebhook(ctx context.Context, in store.NewWebhookDelivery) (connections int, err error)
}

// Config configures the door. All fields are required.
type Config struct {
	Store  Store
	Engine *integrations.Engine
	Logger *slog.Logger
	Now    func() time.Time
}

// Handler answers 202 to a delivery with a good signature, also to one that was received before; 200 to one that asks for an answer; 401 to
// one without a good signature; 410 to one whose account was disconnected; 413 to one that is too large; 429 to an address that sent too
// many bad signatures; 503 if the delivery cannot be stored.
func Handler(cfg Config) http.Handler {
	return &handler{cfg, ratelimit.NewLocalBuckets(maxAddresses, cfg.Now)}
}

// maxAddresses is the number of addresses whose bad signatures the server counts.
const maxAddresses = 10_000

type handler struct {
	cfg Config
	// forgeries holds the bad signatures that each address has left. Good deliveries take none, so any number of them may be under way.
	forgeries *ratelimit.LocalBuckets
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	setup, _ := h.cfg.Engine.Provider(r.PathValue("provider"))
	verifier, ok := setup.Provider.(integrations.Verifier)
	if !ok {
		http.Error(w, "no such provider", http.StatusNotFound)
		return
	}
	attempt := []ratelimit.Bucket{{
		Key: principal.OriginFrom(r.Context()).IP, Burst: limits.WebhookForgeries,
		Interval: limits.WebhookForgeriesPeriod / limits.WebhookForgeries,
	}}
	if h.forgeries.Wait(attempt) > 0 {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many bad signatures", http.StatusTooManyRequests)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limits.WebhookBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		http.Error(w, "the delivery is too large", http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "the delivery could not be read", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	var d integrations.Delivery
	if token := r.PathValue("token"); token != "" {
		var c store.IntegrationConnection
		c, err = h.cfg.Engine.Hooked(ctx, setup.ID, token)
		d = integrations.Delivery{Sync: true, Kind: "hint"}
		if hooker, ok := setup.Provider.(integrations.Hooker); ok && err == nil {
			d, err = hooker.Hook(h.cfg.Engine.HookSecret(c), r.Header, body)
		}
		d.Account = c.ExternalID
	} else {
		d, err = verifier.Verify(r.Header, body)
	}
	if errors.Is(err, integrations.ErrUnhooked) {
		// A webhook that outlived its account is not an attack: it must not count against others behind the same address.
		http.Error(w, "the account is no longer connected; delete this webhook", http.StatusGone)
		return
	}
	if err != nil && !errors.Is(err, integrations.ErrForged) {
		h.later(w, r, setup.ID, d.ID, err)
		return
	}
	if err != nil {
		h.forgeries.Take(attempt)
		http.Error(w, "the signature is not good", http.StatusUnauthorized)
		return
	}
	if d.Answer != "" {
		w.Header().Set("Content-Type", cmp.Or(d.AnswerType, "text/plain; charset=utf-8"))
		_, _ = io.WriteString(w, d.Answer)
		return
	}
	if d.ID == "" {
		// A delivery without an id is the same as another one of this hour with the same bytes.
		sum := sha256.Sum256(body)
		d.ID = h.cfg.Now().UTC().Format("2006-01-02T15") + " " + hex.EncodeToString(sum[:])
	}
	_, err = h.cfg.Store.ReceiveWebhook(ctx, store.NewWebhookDelivery{
		Provider: setup.ID, BaseURL: setup.Provider.BaseURL(), DeliveryID: d.ID, Kind: d.Kind, Account: d.Account,
		Sync: d.Sync, Repository: d.Repository, PullRequest: d.PullRequest, Pause: d.Pause,
	})
	if err != nil && !errors.Is(err, store.ErrConflict) {
		h.later(w, r, setup.ID, d.ID, err)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// later asks the provider to deliver again.
func (h *handler) later(w http.ResponseWriter, r *http.Request, provider, delivery string, err error) {
	h.cfg.Logger.WarnContext(r.Context(), "a delivery could not be stored", "provider", provider, "delivery", delivery, "error", err)
	w.Header().Set("Retry-After", "5")
	http.Error(w, "the delivery could not be stored", http.StatusServiceUnavailable)
}
