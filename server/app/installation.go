package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// The parts of an installation belong together: the database, the secret key that its credentials were made with, the warehouse
// and the queue of each node. A start with one of them lost or exchanged is refused. Otherwise the server would make a new one,
// and every key would be refused, or nobody could read the telemetry.

// Lost is a part of an installation that was lost for good.
type Lost string

// The parts that Adopt replaces.
const (
	LostSecretKey Lost = "secret-key"
	LostDatabase  Lost = "database"
)

// adoptCommand is the remedy for a part that no backup has.
func adoptCommand(lost Lost) string {
	return fmt.Sprintf("'svc admin installation adopt --lost %s' with the settings of the server", lost)
}

// databaseFile is the path of the database, which is not used with database-url.
func databaseFile(cfg config.Config) string { return filepath.Join(cfg.DataDir, "svc.db") }

// databaseName names the database for people.
func databaseName(cfg config.Config) string {
	if cfg.DatabaseURL.Reveal() != "" {
		return "the database " + cfg.DatabaseURL.String()
	}
	return "the database " + databaseFile(cfg)
}

// checkDatabaseFile refuses to create a database beside telemetry that belongs to a lost one.
func checkDatabaseFile(cfg config.Config) error {
	path := databaseFile(cfg)
	if cfg.DatabaseURL.Reveal() != "" {
		return nil
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var beside []string
	for _, pattern := range []string{filepath.Join("warehouse", "store", "*"), filepath.Join("queue", "*.log")} {
		found, err := filepath.Glob(filepath.Join(cfg.DataDir, pattern))
		if err != nil {
			return err
		}
		if len(found) > 0 {
			beside = append(beside, filepath.Join(cfg.DataDir, filepath.Dir(pattern)))
		}
	}
	if len(beside) == 0 {
		return nil
	}
	return cfg.Invalid("data-dir", fmt.Sprintf("the database %s is missing, but %s holds telemetry of it. Restore the file from a backup, "+
		"or choose an empty --data-dir. If it is lost for good, %s keeps the telemetry beside a new database, in which no organization can "+
		"read it", path, strings.Join(beside, " and "), adoptCommand(LostDatabase)))
}

// OpenDatabase opens and migrates the relational database that the configuration names. It works beside a running server.
func OpenDatabase(ctx context.Context, cfg config.Config) (*store.Store, error) {
	if err := checkDatabaseFile(cfg); err != nil {
		return nil, err
	}
	return openDatabase(ctx, cfg)
}

func openDatabase(ctx context.Context, cfg config.Config) (*store.Store, error) {
	if url := cfg.DatabaseURL.Reveal(); url != "" {
		s, err := store.Open(ctx, store.Config{URL: url})
		if err != nil {
			return nil, fmt.Errorf("database-url: %w", err)
		}
		return s, nil
	}
	return store.Open(ctx, store.Config{Path: databaseFile(cfg)})
}

// OpenStore is OpenDatabase together with the hasher of its secrets.
func OpenStore(ctx context.Context, cfg config.Config) (*store.Store, *auth.Hasher, error) {
	s, err := OpenDatabase(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	hasher, _, err := claimIdentity(ctx, s, cfg)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, hasher, nil
}

// claimIdentity returns the hasher and the identity of the installation. It creates the pepper file only if no credential of the
// database needs the missing one, and it refuses a key that the credentials were not made with.
func claimIdentity(ctx context.Context, s *store.Store, cfg config.Config) (*auth.Hasher, store.Identity, error) {
	hasher, err := readHasher(cfg)
	if errors.Is(err, fs.ErrNotExist) {
		if err := checkPepperIsNew(ctx, s, cfg); err != nil {
			return nil, store.Identity{}, err
		}
		hasher, err = OpenHasher(cfg)
	}
	if err != nil {
		return nil, store.Identity{}, err
	}
	id, err := s.ClaimIdentity(ctx, hasher.Fingerprint())
	if err != nil {
		return nil, store.Identity{}, err
	}
	if id.SecretKey == hasher.Fingerprint() {
		return hasher, id, nil
	}
	key, place := "data-dir", PepperFile(cfg)
	if cfg.SecretKey.Reveal() != "" {
		key, place = "secret-key", "the setting secret-key"
	}
	return nil, store.Identity{}, cfg.Invalid(key,
		fmt.Sprintf("the credentials in %s were made with the secret key %s, but %s has the key %s "+
			"(these are fingerprints). Restore the key with the first one. If it is lost for good, %s accepts the other key, and all keys must be made "+
			"again", databaseName(cfg), id.SecretKey, place, hasher.Fingerprint(), adoptCommand(LostSecretKey)))
}

// checkPepperIsNew refuses to make a pepper for a database that already has credentials.
func checkPepperIsNew(ctx context.Context, s *store.Store, cfg config.Config) error {
	_, err := s.Identity(ctx)
	if errors.Is(err, store.ErrNotFound) {
		// Older versions recorded no identity.
		all, err := s.ListOrganizations(ctx)
		if err != nil || len(all) == 0 {
			return err
		}
	} else if err != nil {
		return err
	}
	return cfg.Invalid("data-dir", fmt.Sprintf("the secret key %s is missing, but the credentials in %s were made with it. Restore the file "+
		"from a backup, or copy it from another node. If it is lost for good, %s makes a new one, and all keys must be made again",
		PepperFile(cfg), databaseName(cfg), adoptCommand(LostSecretKey)))
}

// claimWarehouse refuses the telemetry of another installation. It takes over a warehouse that nobody has claimed, unless the
// database is new and the warehouse is not.
func (a *App) claimWarehouse(ctx context.Context) error {
	id, err := a.warehouse.Installation(ctx)
	if err != nil || id == a.identity.Installation {
		return err
	}
	key, name := "data-dir", "the warehouse in "+filepath.Join(a.cfg.DataDir, "warehouse")
	if a.cfg.WarehouseURL.Reveal() != "" {
		key, name = "warehouse-url", "the warehouse "+a.warehouse.String()
	}
	if mine, err := a.mayClaim(ctx, id); err != nil {
		return err
	} else if !mine {
		if empty, err := a.warehouse.Empty(ctx); err != nil {
			return err
		} else if !empty {
			return a.foreign(key, name, id)
		}
	}
	return a.warehouse.ClaimInstallation(ctx, a.identity.Installation)
}

// claimQueue is claimWarehouse for the queue.
func (a *App) claimQueue(ctx context.Context, log *queue.Log) error {
	id, err := log.Installation()
	if err != nil || id == a.identity.Installation {
		return err
	}
	if mine, err := a.mayClaim(ctx, id); err != nil {
		return err
	} else if !mine && log.Tail() != (queue.Position{}) {
		return a.foreign("data-dir", "the ingest queue in "+log.Dir(), id)
	}
	return log.ClaimInstallation(a.identity.Installation)
}

// mayClaim reports whether the database may take over a warehouse or a queue that belongs to the given installation. An empty id
// means that none has claimed it.
func (a *App) mayClaim(ctx context.Context, id string) (bool, error) {
	if a.opts.adopt {
		return true, nil
	}
	if id != "" {
		return false, nil
	}
	// Older versions claimed nothing. A database with organizations is as old as the data.
	all, err := a.store.ListOrganizations(ctx)
	return len(all) > 0, err
}

// foreign is the error for data that belongs to another database.
func (a *App) foreign(key, data, id string) error {
	if id == "" {
		id = "an older one"
	}
	return a.cfg.Invalid(key, fmt.Sprintf("%s holds telemetry of another installation (%s) than %s (%s). Restore the database that belongs to "+
		"the telemetry, or give each installation its own data folder and warehouse. If that database is lost for good, %s keeps the telemetry "+
		"beside the new database, in which no organization can read it",
		data, id, databaseName(a.cfg), a.identity.Installation, adoptCommand(LostDatabase)))
}

// Adopt replaces a part of the installation that is lost for good, while no server runs on the data folder. It returns the
// identity afterwards.
func Adopt(ctx context.Context, cfg config.Config, opts Options, lost Lost) (id store.Identity, err error) {
	opts.adopt = true
	a := newApp(cfg, opts)
	defer func() { err = errors.Join(err, a.Close(context.WithoutCancel(ctx))) }()
	if err := a.openDataDir(ctx); err != nil {
		return id, err
	}
	if lost == LostSecretKey {
		if a.store, err = OpenDatabase(ctx, cfg); err != nil {
			return id, err
		}
		a.onCloseUntil("database", limits.StopEngine, func(context.Context) error { return a.store.Close() })
		if a.hasher, err = OpenHasher(cfg); err != nil {
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
