// Package installation keeps together the parts of an installation: the database, the secret key that its credentials were made with, the
// warehouse and the queue of each node. A start with one of them lost or exchanged is refused. Otherwise the server would make a new one,
// and every key would be refused, or nobody could read the telemetry.
package installation

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
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse"
)

// Lost is a part of an installation that was lost for good.
type Lost string

// The parts that app.Adopt replaces.
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
	return CreateDatabase(ctx, cfg)
}

// CreateDatabase is OpenDatabase that creates a database also beside the telemetry of a lost one.
func CreateDatabase(ctx context.Context, cfg config.Config) (*store.Store, error) {
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
	hasher, _, err := ClaimIdentity(ctx, s, cfg)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, hasher, nil
}

// ClaimIdentity returns the hasher and the identity of the installation. It creates the pepper file only if no credential of the
// database needs the missing one, and it refuses a key that the credentials were not made with.
func ClaimIdentity(ctx context.Context, s *store.Store, cfg config.Config) (*auth.Hasher, store.Identity, error) {
	hasher, err := ReadHasher(cfg)
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

// Owner is the database of an installation with its identity. It claims the other parts.
type Owner struct {
	Config   config.Config
	Store    *store.Store
	Identity store.Identity
	// Adopts lets it take over parts of a lost database.
	Adopts bool
}

// ClaimWarehouse refuses the telemetry of another installation. It takes over a warehouse that nobody has claimed, unless the
// database is new and the warehouse is not.
func (o Owner) ClaimWarehouse(ctx context.Context, w *warehouse.Warehouse) error {
	id, err := w.Installation(ctx)
	if err != nil || id == o.Identity.Installation {
		return err
	}
	key, name := "data-dir", "the warehouse in "+filepath.Join(o.Config.DataDir, "warehouse")
	if o.Config.WarehouseURL.Reveal() != "" {
		key, name = "warehouse-url", "the warehouse "+w.String()
	}
	if mine, err := o.mayClaim(ctx, id); err != nil {
		return err
	} else if !mine {
		if empty, err := w.Empty(ctx); err != nil {
			return err
		} else if !empty {
			return o.foreign(key, name, id)
		}
	}
	return w.ClaimInstallation(ctx, o.Identity.Installation)
}

// ClaimQueue is ClaimWarehouse for the queue.
func (o Owner) ClaimQueue(ctx context.Context, log *queue.Log) error {
	id, err := log.Installation()
	if err != nil || id == o.Identity.Installation {
		return err
	}
	if mine, err := o.mayClaim(ctx, id); err != nil {
		return err
	} else if !mine && log.Tail() != (queue.Position{}) {
		return o.foreign("data-dir", "the ingest queue in "+log.Dir(), id)
	}
	return log.ClaimInstallation(o.Identity.Installation)
}

// mayClaim reports whether the database may take over a warehouse or a queue that belongs to the given installation. An empty id
// means that none has claimed it.
func (o Owner) mayClaim(ctx context.Context, id string) (bool, error) {
	if o.Adopts {
		return true, nil
	}
	if id != "" {
		return false, nil
	}
	// Older versions claimed nothing. A database with organizations is as old as the data.
	all, err := o.Store.ListOrganizations(ctx)
	return len(all) > 0, err
}

// foreign is the error for data that belongs to another database.
func (o Owner) foreign(key, data, id string) error {
	if id == "" {
		id = "an older one"
	}
	return o.Config.Invalid(key, fmt.Sprintf("%s holds telemetry of another installation (%s) than %s (%s). Restore the database that belongs to "+
		"the telemetry, or give each installation its own data folder and warehouse. If that database is lost for good, %s keeps the telemetry "+
		"beside the new database, in which no organization can read it",
		data, id, databaseName(o.Config), o.Identity.Installation, adoptCommand(LostDatabase)))
}
