package integrations

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Store is the part of the relational store that the engine needs.
type Store interface {
	ConnectIntegration(ctx context.Context, org principal.OrgID, in store.NewIntegration) (store.IntegrationConnection, error)
	DueIntegrations(ctx context.Context, shard int, now time.Time, limit int) ([]store.IntegrationConnection, error)
	NextIntegrationDue(ctx context.Context, shard int) (time.Time, error)
	ListIntegrations(ctx context.Context, org principal.OrgID) ([]store.IntegrationConnection, error)
	RecordIntegration(ctx context.Context, fence store.Fence, before, after store.IntegrationConnection) error
	SyncSourceRepositories(ctx context.Context, fence store.Fence, of store.IntegrationConnection, complete []store.SourceRepository,
		at time.Time) ([]uuid.UUID, error)
	RenewIntegrationCredentials(ctx context.Context, of store.IntegrationConnection, sealed []byte) (store.IntegrationConnection, error)
	SyncPlatform(ctx context.Context, fence store.Fence, of store.IntegrationConnection, in store.PlatformInventory) error
	SyncChatChannels(ctx context.Context, fence store.Fence, of store.IntegrationConnection, complete []store.ChatChannel, at time.Time) error
	SyncHosting(ctx context.Context, fence store.Fence, of store.IntegrationConnection, list store.HostingList, at time.Time) error
	RequestIntegrationSync(ctx context.Context, org principal.OrgID, id uuid.UUID) (store.IntegrationConnection, error)
	KeepChatChannel(ctx context.Context, of store.IntegrationConnection, c store.ChatChannel) error
	ChatChannelByID(ctx context.Context, org principal.OrgID, workspace uuid.UUID, externalID string) (store.ChatChannel, error)
	GetIntegrationConnection(ctx context.Context, org principal.OrgID, id uuid.UUID) (store.IntegrationConnection, error)
	IntegrationSharedWith(ctx context.Context, of store.IntegrationConnection) (bool, error)
	MakeIntegrationDue(ctx context.Context, org principal.OrgID, id uuid.UUID) error
	RecordPictureFailure(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time) error
	LinkIntegrationIdentity(ctx context.Context, org principal.OrgID, in store.IntegrationIdentity) (store.IntegrationIdentity, error)
	BeginIntegrationLogin(ctx context.Context, org principal.OrgID, in store.IntegrationLogin) error
	IntegrationLoginByState(ctx context.Context, org principal.OrgID, provider, hash string) (store.IntegrationLogin, error)
	UseIntegrationLogin(ctx context.Context, org principal.OrgID, id uuid.UUID, by principal.UserID, session string) error
	OfferIntegrationAccounts(ctx context.Context, org principal.OrgID, id uuid.UUID, offer []byte) error
	EndIntegrationLogin(ctx context.Context, org principal.OrgID, id uuid.UUID) error
}

// Sealer encrypts what the store must give back.
type Sealer interface {
	Seal(plain []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// Config configures an Engine. All fields are required, except AddressProblem.
type Config struct {
	Store  Store
	Setups []Setup
	// BaseURL is the address at which people reach this server.
	BaseURL string
	// AddressProblem says why a provider could not send browsers back to that address; empty if it can.
	AddressProblem string
	Sealer         Sealer
	// Hash is the keyed hash under which states of logins are stored.
	Hash   func(secret string) string
	Logger *slog.Logger
	Now    func() time.Time
}

// Engine is safe for concurrent use.
type Engine struct {
	cfg     Config
	trouble troubles
}

// New returns an engine.
func New(cfg Config) *Engine { return &Engine{cfg: cfg} }

// Setups lists the providers that the server knows.
func (e *Engine) Setups() []Setup { return e.cfg.Setups }

// Provider finds a provider by its short name. Known is false if the server knows none of this name; the provider is nil if the operator
// has not set it up.
func (e *Engine) Provider(id string) (setup Setup, known bool) {
	for _, s := range e.cfg.Setups {
		if s.ID == id {
			return s, true
		}
	}
	return Setup{}, false
}

// syncTime bounds a synchronization.
const syncTime = 2 * time.Minute

// refreshTime bounds the renewal of credentials, and then its record.
const refreshTime = 10 * time.Second

// Shard is the work of one shard of accounts.
type Shard struct {
	engine *Engine
	fence  store.Fence
}

// Shard returns the work of a shard under a lease.
func (e *Engine) Shard(fence store.Fence) *Shard { return &Shard{e, fence} }

// Step synchronizes the accounts that are due and returns the time of the next one.
func (s *Shard) Step(ctx context.Context) (time.Time, error) {
	due, err := s.engine.cfg.Store.DueIntegrations(ctx, s.fence.Number, s.engine.cfg.Now(), 20)
	if err != nil {
		return time.Time{}, err
	}
	for _, c := range due {
		if err := s.sync(ctx, c); err != nil {
			return time.Time{}, err
		}
	}
	next, err := s.engine.cfg.Store.NextIntegrationDue(ctx, s.fence.Number)
	if err != nil || next.IsZero() {
		return s.engine.cfg.Now().Add(time.Minute), err
	}
	return next, nil
}

// refresh renews the credentials of an account if they are no longer young.
func (s *Shard) refresh(ctx context.Context, p Provider, c Connection) (Connection, error) {
	refresher, ok := p.(Refresher)
	if !ok || c.Credentials == nil {
		return c, nil
	}
	call, cancel := context.WithTimeout(ctx, refreshTime)
	next, err := refresher.Refresh(call, c)
	cancel()
	if err != nil || next == nil {
		return c, err
	}
	// The old refresh token may be void now, so neither the stop of the process nor a lost lease keeps the new one from the store.
	record, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTime)
	defer cancel()
	sealed := s.engine.cfg.Sealer.Seal(next, place(c.Org, c.ID))
	row, err := s.engine.cfg.Store.RenewIntegrationCredentials(record, c.IntegrationConnection, sealed)
	return Connection{row, next}, err
}

// keep stores the lists of an account.
func (s *Shard) keep(ctx context.Context, c store.IntegrationConnection, got Synced, began time.Time) error {
	if got.Repositories != nil {
		if _, err := s.engine.cfg.Store.SyncSourceRepositories(ctx, s.fence, c, got.Repositories, began); err != nil {
			return err
		}
	}
	if got.Hosting != nil {
		if err := s.engine.cfg.Store.SyncHosting(ctx, s.fence, c, *got.Hosting, began); err != nil {
			return err
		}
	}
	if got.Databases != nil {
		if err := s.engine.cfg.Store.SyncPlatform(ctx, s.fence, c, store.PlatformInventory{
			Databases: got.Databases, Events: got.Events, Target: got.Target,
		}); err != nil {
			return err
		}
	}
	if got.Channels != nil {
		return s.engine.cfg.Store.SyncChatChannels(ctx, s.fence, c, got.Channels, began)
	}
	return nil
}

// sync reads one account and records the result. Its error is one of the lease or of the store; a list that the store does not take is a
// failure of the account alone, so that the other accounts of the shard go on.
func (s *Shard) sync(ctx context.Context, c store.IntegrationConnection) error {
	e := s.engine
	setup, _ := e.Provider(c.Provider)
	var got Synced
	var err error
	began := e.cfg.Now()
	if setup.Provider == nil || setup.Provider.BaseURL() != c.BaseURL {
		err = NewProblem(Upstream, nil, "The operator of this server has not set up %s.", c.BaseURL)
	} else {
		var opened Connection
		if opened, err = e.Open(c); err == nil {
			opened, err = s.refresh(ctx, setup.Provider, opened)
		}
		switch {
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrIntegrationChanged):
			return nil
		case errors.Is(err, store.ErrFenced):
			return err
		case err == nil:
			c = opened.IntegrationConnection
			call, cancel := context.WithTimeout(ctx, syncTime)
			got, err = setup.Provider.Sync(call, opened)
			cancel()
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil {
		failed := s.keep(ctx, c, got, began)
		switch {
		case errors.Is(failed, store.ErrNotFound), errors.Is(failed, store.ErrIntegrationChanged):
			return nil // disconnected meanwhile, or still due with its new settings
		case errors.Is(failed, store.ErrFenced), ctx.Err() != nil:
			return failed
		case failed != nil:
			err = NewProblem(Upstream, failed, "The list of the account could not be stored.")
		}
	}
	now := e.cfg.Now()
	after := Failed(c, err, now)
	if err == nil {
		after = Succeeded(c, got, now)
	} else {
		e.cfg.Logger.WarnContext(ctx, "an integration could not be synchronized", "provider", c.Provider, "connection", c.ID, "error", err)
	}
	if err := e.cfg.Store.RecordIntegration(ctx, s.fence, c, after); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return nil
}

// Seal seals new credentials of an account.
func (e *Engine) Seal(c store.IntegrationConnection, plain []byte) []byte {
	return e.cfg.Sealer.Seal(plain, place(c.Org, c.ID))
}

// Refused makes the synchronization of an account due, because the provider refused its credentials. The synchronization finds out whether
// a person has to connect the account again.
func (e *Engine) Refused(ctx context.Context, c store.IntegrationConnection) {
	due, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := e.cfg.Store.MakeIntegrationDue(due, c.Org, c.ID); err != nil {
		e.cfg.Logger.WarnContext(ctx, "the synchronization of an account could not be made due", "connection", c.ID, "error", err)
	}
}

// Open opens the credentials of an account. The error is a problem: a person has to connect the account again.
func (e *Engine) Open(c store.IntegrationConnection) (Connection, error) {
	if c.Credentials == nil {
		return Connection{c, nil}, nil
	}
	plain, err := e.cfg.Sealer.Open(c.Credentials, place(c.Org, c.ID))
	if err != nil {
		return Connection{}, NewProblem(Suspended, err, "The stored credentials cannot be opened. Connect the account again.")
	}
	return Connection{c, plain}, nil
}

// revokeTime bounds the call that gives our access to an account back.
const revokeTime = 5 * time.Second

// Disconnect deletes an account by a function of the store. It gives our access back at the provider, unless another organization of this
// server uses the same account and shares its access; a failure of the provider changes nothing.
func (e *Engine) Disconnect(
	ctx context.Context, org principal.OrgID, id uuid.UUID, remove func(context.Context, principal.OrgID, uuid.UUID) error,
) error {
	c, err := e.cfg.Store.GetIntegrationConnection(ctx, org, id)
	if err != nil {
		return err
	}
	setup, _ := e.Provider(c.Provider)
	if err := remove(ctx, org, id); err != nil {
		return err
	}
	if setup.Provider == nil || c.State == store.IntegrationDisconnected || setup.Provider.BaseURL() != c.BaseURL {
		return nil
	}
	opened, err := e.Open(c)
	if err == nil {
		err = e.giveBack(ctx, setup.Provider, opened)
	}
	if err != nil {
		e.cfg.Logger.WarnContext(ctx, "access to an account was not given back", "provider", c.Provider, "connection", c.ID, "error", err)
	}
	return nil
}

// giveBack gives our access to an account back, unless an organization other than that of the connection shares it: a workspace has one
// access for all who use it. Of two that leave at once, the last one sees no other after its removal.
func (e *Engine) giveBack(ctx context.Context, p Provider, c Connection) error {
	revoker, ok := p.(Revoker)
	if !ok {
		return nil
	}
	if p.Class() == ClassChat {
		if shared, err := e.cfg.Store.IntegrationSharedWith(ctx, c.IntegrationConnection); shared || err != nil {
			return err
		}
	}
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
	defer cancel()
	return revoker.Revoke(call, c)
}
