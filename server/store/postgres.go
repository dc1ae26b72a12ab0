package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/svc-observability/svc/server/limits"
)

const (
	postgresConnections = 16
	postgresIdle        = 8
	postgresIdleTime    = 5 * time.Minute
	postgresLifetime    = 30 * time.Minute
)

// errPostgresURL does not quote the URL, because the parsers' own errors can contain the password.
var errPostgresURL = errors.New("store: the database URL cannot be read: it must look like postgres://user:password@host:5432/database, " +
	"with characters such as @ / # in the password percent-encoded")

func openPostgres(text string) (*sql.DB, error) {
	cfg, err := postgresConfig(text)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(endAbandoned(cfg)))
	db.SetMaxOpenConns(postgresConnections)
	db.SetMaxIdleConns(postgresIdle)
	db.SetConnMaxIdleTime(postgresIdleTime)
	db.SetConnMaxLifetime(postgresLifetime)
	return db, nil
}

// endAbandoned makes PostgreSQL end a transaction whose process was frozen or cut off between two statements. Its locks would keep other
// processes out: those of a fence, for example, keep a shard from being taken over. It is a statement and no parameter of the connection,
// because a pooler in between may refuse parameters that it does not know.
func endAbandoned(cfg *pgx.ConnConfig) func(context.Context, *pgx.Conn) error {
	const name = "idle_in_transaction_session_timeout"
	return func(ctx context.Context, conn *pgx.Conn) error {
		if _, chosen := cfg.RuntimeParams[name]; chosen {
			return nil
		}
		_, err := conn.Exec(ctx, fmt.Sprintf("SET %s = %d", name, limits.TransactionIdle.Milliseconds()))
		return err
	}
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
		cfg.ConnectTimeout = attemptTime(cfg)
	}
	if cfg.RuntimeParams["application_name"] == "" {
		cfg.RuntimeParams["application_name"] = "svc"
	}
	cfg.RuntimeParams["timezone"] = "UTC"
	return cfg, nil
}

// attemptTime is for each address. A request that opens a connection waits for limits.DatabaseAnswer, and the last of a few hosts must have
// its turn until then. So must the second address of one name.
func attemptTime(cfg *pgx.ConnConfig) time.Duration {
	hosts := map[string]bool{net.JoinHostPort(cfg.Host, strconv.Itoa(int(cfg.Port))): true}
	for _, f := range cfg.Fallbacks {
		hosts[net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port)))] = true
	}
	return max(limits.DatabaseAnswer/time.Duration(len(hosts)+1), time.Second)
}

// gaveWay reports whether PostgreSQL aborted a transaction because of another one. Such a transaction may succeed when it is run
// again.
func gaveWay(err error) bool {
	var e *pgconn.PgError
	const deadlock, serialization = "40P01", "40001"
	return errors.As(err, &e) && (e.Code == deadlock || e.Code == serialization)
}
