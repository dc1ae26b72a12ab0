package integrations

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// CallbackPath is the path to which a provider sends the browser back, with the short name of the provider.
func CallbackPath(provider string) string { return "/integrations/" + provider + "/callback" }

// Starter is the caller that starts to connect an account. User and Session are empty for an API key.
type Starter struct {
	User    principal.UserID
	Session string
}

// Reasons why an attempt cannot go on.
var (
	// ErrLoginUnknown means that no attempt has this state, or it is over.
	ErrLoginUnknown = errors.New("the attempt to connect an account is over")
	// ErrElsewhere means that another session, or another person, has started the attempt.
	ErrElsewhere = errors.New("the attempt to connect an account was started elsewhere")
)

// Begin starts to connect an account of a provider that is set up. It returns where the browser goes, and until when.
func (e *Engine) Begin(ctx context.Context, org principal.OrgID, p Provider, by Starter, returnTo string) (string, time.Time, error) {
	login, ok := p.(LoginProvider)
	if !ok {
		return "", time.Time{}, fmt.Errorf("integrations: %s has no login", p.ID())
	}
	state, challenge, expires, err := e.begin(ctx, org, p, by, store.IntegrationLogin{ReturnTo: returnTo})
	if err != nil {
		return "", time.Time{}, err
	}
	return login.AuthorizeURL(state, challenge, e.redirectURI(p)), expires, nil
}

// BeginIdentity starts to link the identity of a signed-in member at a provider. It returns where the browser goes.
func (e *Engine) BeginIdentity(ctx context.Context, org principal.OrgID, p Provider, by Starter, returnTo string) (string, error) {
	identifier, ok := p.(Identifier)
	if !ok {
		return "", fmt.Errorf("integrations: %s knows no identities", p.ID())
	}
	state, _, _, err := e.begin(ctx, org, p, by, store.IntegrationLogin{ReturnTo: returnTo, Identity: true})
	if err != nil {
		return "", err
	}
	return identifier.IdentityURL(state, e.redirectURI(p)), nil
}

// Link uses the attempt of BeginIdentity: it exchanges the code and stores the identity. The workspace must be connected.
func (e *Engine) Link(ctx context.Context, l Login, by Starter, c Callback) error {
	identifier, ok := l.Provider.(Identifier)
	if !ok || !l.Identity {
		return ErrLoginUnknown
	}
	if err := e.use(ctx, l, by); err != nil {
		return err
	}
	c.RedirectURI = e.redirectURI(l.Provider)
	who, err := identifier.Identity(ctx, c)
	if err != nil {
		return err
	}
	rows, err := e.cfg.Store.ListIntegrations(ctx, l.Org)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(rows, func(c store.IntegrationConnection) bool {
		return c.Provider == l.Provider.ID() && c.ExternalID == who.Account && c.State != store.IntegrationDisconnected
	}) {
		return NewProblem(Forbidden, nil, "You signed in to a workspace of %s that this organization has not connected.", l.Provider.Name())
	}
	if err := e.end(ctx, l); err != nil {
		return err
	}
	_, err = e.cfg.Store.LinkIntegrationIdentity(ctx, l.Org, store.IntegrationIdentity{
		User: by.User, Provider: l.Provider.ID(), ExternalAccount: who.Account, ExternalUserID: who.UserID, DisplayName: who.DisplayName,
	})
	return err
}

// Install starts an attempt whose first step is the installation of the app at the provider.
func (e *Engine) Install(ctx context.Context, l Login) (string, error) {
	installer, ok := l.Provider.(Installer)
	if !ok {
		return "", NewProblem(Forbidden, nil, "Your account at %s gives access to nothing that can be connected.", l.Provider.Name())
	}
	by := Starter{User: l.User, Session: l.SessionID}
	state, _, _, err := e.begin(ctx, l.Org, l.Provider, by, store.IntegrationLogin{ReturnTo: l.ReturnTo, Install: true})
	if err != nil {
		return "", err
	}
	return installer.InstallURL(state), nil
}

// begin stores an attempt with the purpose of a template.
func (e *Engine) begin(ctx context.Context, org principal.OrgID, p Provider, by Starter, purpose store.IntegrationLogin) (
	state, challenge string, expires time.Time, err error,
) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", "", time.Time{}, err
	}
	verifier := random()
	sum := sha256.Sum256([]byte(verifier))
	state = random() + "." + string(org)
	expires = e.cfg.Now().Add(limits.IntegrationLogin)
	err = e.cfg.Store.BeginIntegrationLogin(ctx, org, store.IntegrationLogin{
		ID: id, StateHash: e.cfg.Hash(state), Provider: p.ID(), User: by.User, SessionID: by.Session,
		Verifier: e.cfg.Sealer.Seal([]byte(verifier), place(org, id)), ReturnTo: purpose.ReturnTo, Install: purpose.Install,
		Identity: purpose.Identity, ExpiresAt: expires,
	})
	return state, base64.RawURLEncoding.EncodeToString(sum[:]), expires, err
}

func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: the program ends instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func place(org principal.OrgID, id uuid.UUID) string { return string(org) + "/" + id.String() }

func (e *Engine) redirectURI(p Provider) string {
	return strings.TrimRight(e.cfg.BaseURL, "/") + CallbackPath(p.ID())
}

// Login is an attempt to connect an account.
type Login struct {
	store.IntegrationLogin
	Provider LoginProvider
}

// Login finds the attempt of a state. It returns ErrLoginUnknown if there is none, or it is over.
func (e *Engine) Login(ctx context.Context, provider, state string) (Login, error) {
	setup, _ := e.Provider(provider)
	login, can := setup.Provider.(LoginProvider)
	_, org, ok := strings.Cut(state, ".")
	if !can || !ok {
		return Login{}, ErrLoginUnknown
	}
	row, err := e.cfg.Store.IntegrationLoginByState(ctx, principal.OrgID(org), provider, e.cfg.Hash(state))
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Login{}, ErrLoginUnknown
	case err != nil:
		return Login{}, err
	case !e.cfg.Now().Before(row.ExpiresAt):
		return Login{}, ErrLoginUnknown
	}
	return Login{row, login}, nil
}

// Admits checks that a signed-in person may go on with the attempt: the one who started or confirmed it, in the same session; or, as long
// as nobody has confirmed the start of an API key, anybody who administers the organization. The caller checks the latter.
func (l Login) Admits(by Starter) error {
	if l.User != "" && (l.User != by.User || l.SessionID != by.Session) {
		return ErrElsewhere
	}
	return nil
}

// Exchange uses the attempt: it exchanges the code and returns the accounts that the person may connect. From then on the attempt belongs
// to this person and session. The account of an installation is the only one; the callback of any other attempt names none, because the
// author of the link can write a number into it. It returns ErrLoginUnknown if the attempt was used before.
func (e *Engine) Exchange(ctx context.Context, l Login, by Starter, c Callback) ([]Account, error) {
	if l.Identity {
		return nil, ErrLoginUnknown
	}
	if err := e.use(ctx, l, by); err != nil {
		return nil, err
	}
	verifier, err := e.cfg.Sealer.Open(l.Verifier, place(l.Org, l.ID))
	if err != nil {
		return nil, err
	}
	c.RedirectURI = e.redirectURI(l.Provider)
	if !l.IntegrationLogin.Install {
		c.Account, c.Verifier = "", string(verifier)
	}
	accounts, err := l.Provider.Accounts(ctx, c)
	if err != nil {
		return nil, err
	}
	if c.Account == "" {
		return accounts, nil
	}
	for _, a := range accounts {
		if a.ExternalID == c.Account {
			return []Account{a}, nil
		}
	}
	return nil, NewProblem(Forbidden, nil, "Your account at %s may not see the installation that was chosen.", l.Provider.Name())
}

// use marks the attempt as used. It returns ErrLoginUnknown if it was used before.
func (e *Engine) use(ctx context.Context, l Login, by Starter) error {
	err := e.cfg.Store.UseIntegrationLogin(ctx, l.Org, l.ID, by.User, by.Session)
	if errors.Is(err, store.ErrConflict) {
		return ErrLoginUnknown
	}
	return err
}

// Offer keeps the accounts that the person can choose from.
func (e *Engine) Offer(ctx context.Context, l Login, accounts []Account) error {
	text, err := json.Marshal(accounts)
	if err != nil {
		return fmt.Errorf("integrations: offer: %w", err)
	}
	return e.cfg.Store.OfferIntegrationAccounts(ctx, l.Org, l.ID, e.cfg.Sealer.Seal(text, place(l.Org, l.ID)))
}

// Offered returns the accounts of Offer; nil if nothing was offered.
func (e *Engine) Offered(l Login) ([]Account, error) {
	if l.IntegrationLogin.Offer == nil {
		return nil, nil
	}
	text, err := e.cfg.Sealer.Open(l.IntegrationLogin.Offer, place(l.Org, l.ID))
	if err != nil {
		return nil, err
	}
	var accounts []Account
	if err := json.Unmarshal(text, &accounts); err != nil {
		return nil, fmt.Errorf("integrations: offer: %w", err)
	}
	return accounts, nil
}

// Cancel ends the attempt, and gives back the access to accounts that the person saw and did not choose. That to a chat workspace stays if
// an organization here has connected it. A failure of the provider changes nothing. It returns ErrLoginUnknown if the attempt is over
// already.
func (e *Engine) Cancel(ctx context.Context, l Login) error {
	offered, err := e.Offered(l)
	if err := errors.Join(err, e.end(ctx, l)); err != nil {
		return err
	}
	for _, a := range offered {
		c := store.IntegrationConnection{Provider: l.Provider.ID(), BaseURL: l.Provider.BaseURL(), ExternalID: a.ExternalID}
		if err := e.giveBack(ctx, l.Provider, Connection{c, a.Credentials}); err != nil {
			e.cfg.Logger.WarnContext(ctx, "access to an account was not given back", "provider", c.Provider, "error", err)
		}
	}
	return nil
}

// end ends the attempt. It returns ErrLoginUnknown if it is over already.
func (e *Engine) end(ctx context.Context, l Login) error {
	err := e.cfg.Store.EndIntegrationLogin(ctx, l.Org, l.ID)
	if errors.Is(err, store.ErrConflict) {
		return ErrLoginUnknown
	}
	return err
}

// Connect stores an account and ends the attempt. It returns ErrLoginUnknown if another request has ended it.
func (e *Engine) Connect(ctx context.Context, l Login, a Account, by principal.UserID) (store.IntegrationConnection, error) {
	if err := e.end(ctx, l); err != nil {
		return store.IntegrationConnection{}, err
	}
	return e.store(ctx, l.Org, l.Provider, a, by)
}

func (e *Engine) store(ctx context.Context, org principal.OrgID, p Provider, a Account, by principal.UserID) (
	store.IntegrationConnection, error,
) {
	return e.cfg.Store.ConnectIntegration(ctx, org, store.NewIntegration{
		Provider: p.ID(), BaseURL: p.BaseURL(), ExternalID: a.ExternalID, Name: a.Name, ConnectedBy: by, Settings: a.Settings,
		Keep: p.Reconnected,
		Seal: func(id uuid.UUID) []byte {
			if a.Credentials == nil {
				return nil
			}
			return e.cfg.Sealer.Seal(a.Credentials, place(org, id))
		},
		Same: func(before json.RawMessage) bool { return p.SameAccount(before, a.Settings) },
	})
}

// ReturnPath reads a path of this server to which the browser may return. It refuses everything that a browser could take for another
// host.
func ReturnPath(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	if len(text) > limits.ReturnTo {
		return "", fmt.Errorf("has more than %s characters", limits.Number(limits.ReturnTo))
	}
	if text[0] != '/' || len(text) > 1 && (text[1] == '/' || text[1] == '\\') {
		return "", errors.New("must be a path of this server, which begins with one slash")
	}
	for _, r := range text {
		if r <= ' ' || r == '\\' || r == 0x7f {
			return "", errors.New("must not hold a backslash, a space or a control character")
		}
	}
	if _, err := url.Parse(text); err != nil {
		return "", errors.New("is not a path")
	}
	return text, nil
}
