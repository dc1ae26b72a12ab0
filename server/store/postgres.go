package store

import (
	"database/sql"
	"errors"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	postgresConnections = 16
	postgresIdle        = 8
	postgresIdleTime    = 5 * time.Minute
	postgresLifetime    = 30 * time.Minute
	postgresDialTimeout = 10 * time.Second
)

// errPostgresURL does not quote the URL, because the parsers' own errors can contain the password.
var errPostgresURL = errors.New("store: the database URL cannot be read: it must look like postgres://user:password@host:5432/database, " +
	"with characters such as @ / # in the password percent-encoded")

func openPostgres(text string) (*sql.DB, error) {
	cfg, err := postgresConfig(text)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*cfg)
	db.SetMaxOpenConns(postgresConnections)
	db.SetMaxIdleConns(postgresIdle)
	db.SetConnMaxIdleTime(postgresIdleTime)
	db.SetConnMaxLifetime(postgresLifetime)
	return db, nil
}

func postgresConfig(text string) (*pgx.ConnConfig, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errPostgresURL
	}
	cfg, err := pgx.ParseConfig(text)
	if err != nil {
		return nil, errPostgresURL
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = postgresDialTimeout
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "svc"
	}
	cfg.RuntimeParams["timezone"] = "UTC"
	return cfg, nil
}

// gaveWay reports whether PostgreSQL aborted a transaction because of another one. Such a transaction may succeed when it is run
// again.
func gaveWay(err error) bool {
	var e *pgconn.PgError
	const deadlock, serialization = "40P01", "40001"
	return errors.As(err, &e) && (e.Code == deadlock || e.Code == serialization)
}
