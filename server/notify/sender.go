package notify

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/svc-observability/svc/server/chat"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Endpoints are the addresses of the services. Only tests replace them.
type Endpoints struct {
	// PagerDuty and Telegram are the starts of URLs.
	PagerDuty, Telegram string
	// Discord lists scheme and host of the webhooks that a destination may name.
	Discord []string
}

// PublicEndpoints are those of the services themselves.
func PublicEndpoints() Endpoints {
	return Endpoints{
		PagerDuty: "https://events.pagerduty.com", Telegram: "https://api.telegram.org",
		Discord: []string{"https://discord.com", "https://discordapp.com", "https://ptb.discord.com", "https://canary.discord.com"},
	}
}

// Directory knows the members of organizations. *store.Store is one.
type Directory interface {
	MembersByID(ctx context.Context, org principal.OrgID, users []principal.UserID) ([]store.Member, error)
}

// SenderConfig configures a Sender.
type SenderConfig struct {
	Guard *egress.Guard
	// Mail sends e-mail; nil without a mail server.
	Mail      Mailer
	Directory Directory
	// Chats sends to chat workspaces; nil without a connector.
	Chats chat.Poster
	// Endpoints are PublicEndpoints if they are empty.
	Endpoints Endpoints
	Now       func() time.Time
}

// Sender sends messages to destinations. It is safe for concurrent use.
type Sender struct {
	cfg    SenderConfig
	client *http.Client
}

// NewSender returns a sender.
func NewSender(cfg SenderConfig) *Sender {
	if cfg.Endpoints.PagerDuty == "" {
		cfg.Endpoints = PublicEndpoints()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Sender{
		cfg: cfg, client: cfg.Guard.Client(egress.Options{Timeout: limits.DeliveryTimeout, PlainHTTP: true, Redirects: 0}),
	}
}

// Check checks the settings of a destination; see Destination.Check.
func (s *Sender) Check(d *Destination, secret bool) error {
	return d.Check(s.cfg.Guard, s.cfg.Endpoints, secret)
}

// HasMail reports whether e-mail can be sent.
func (s *Sender) HasMail() bool { return s.cfg.Mail != nil }

// Send sends a message once. key names the message: a repeat has the same key.
func (s *Sender) Send(ctx context.Context, d *Destination, key string, p Payload) Result {
	ctx, cancel := context.WithTimeout(ctx, limits.DeliveryTimeout)
	defer cancel()
	switch d.Type {
	case Webhook:
		return s.sendWebhook(ctx, d, key, p)
	case PagerDuty:
		return s.sendPagerDuty(ctx, d, p)
	case Discord:
		return s.sendDiscord(ctx, d, p)
	case Telegram:
		return s.sendTelegram(ctx, d, p)
	case Email:
		return s.sendEmail(ctx, d, key, p)
	case Chat:
		return s.sendChat(ctx, d, p)
	default:
		return Result{Outcome: Rejected, Problem: "This type of destination is not supported."}
	}
}

// SendNow renders an event and sends it at once, for tests of rules and destinations. It leaves no delivery.
func (s *Sender) SendNow(ctx context.Context, d *Destination, key string, e Event) (Result, error) {
	p, err := Render(e, d.Type)
	if err != nil {
		return Result{}, err
	}
	return s.Send(ctx, d, key, p), nil
}

// Seals opens and seals the secrets of destinations. *auth.Sealer of SealPurpose is one.
type Seals interface {
	Seal(plain []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// SealPurpose is the purpose of the sealer of destinations' secrets.
const SealPurpose = "alert destination"

// Seal seals the secrets of a destination; nil for a destination without secrets.
func (d *Destination) Seal(seals Seals) ([]byte, error) {
	if d.Secrets == (Secrets{}) {
		return nil, nil
	}
	plain, err := json.Marshal(d.Secrets)
	if err != nil {
		return nil, err
	}
	return seals.Seal(plain, d.place()), nil
}

func (d *Destination) place() string { return string(d.Org) + "/" + d.ID.String() }
