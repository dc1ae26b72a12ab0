package app

import (
	"context"
	"errors"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// owner claims the parts of the installation for the open database.
func (a *App) owner() installation.Owner {
	return installation.Owner{Config: a.cfg, Store: a.store, Identity: a.identity, Adopts: a.opts.adopt}
}

// Adopt replaces a part of the installation that is lost for good, while no server runs on the data folder. It returns the
// identity afterwards.
func Adopt(ctx context.Context, cfg config.Config, opts Options, lost installation.Lost) (id store.Identity, err error) {
	opts.adopt = true
	a := newApp(cfg, opts)
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	if err := a.openDataDir(ctx); err != nil {
		return id, err
	}
	if lost == installation.LostSecretKey {
		if a.store, err = installation.OpenDatabase(ctx, cfg); err != nil {
			return id, err
		}
		a.onCloseUntil("database", limits.StopEngine, func(context.Context) error { return a.store.Close() })
		if a.hasher, err = installation.OpenHasher(cfg); err != nil {
			return id, err
		}
		if err := a.store.ReplaceSecretKey(ctx, a.hasher.Fingerprint()); err != nil {
			return id, err
		}
		return a.store.Identity(ctx)
	}
	for _, open := range []func(context.Context) error{a.openStore, a.openWarehouse, a.openQueue} {
		if err := open(ctx); err != nil {
			return id, err
		}
	}
	return a.identity, nil
}
