// Package warehouse stores and reads telemetry in ClickHouse: the embedded engine on a unix socket, or a server or cluster by
// URL. Both speak ClickHouse's HTTP interface, so schema, inserts and queries are the same; only the dialer differs.
//
// Only this package knows the ClickHouse driver.
package warehouse

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// Config says which ClickHouse to use: exactly one of URL and Socket is set.
type Config struct {
	// URL of a ClickHouse server's HTTP interface, see ParseURL. It may hold a password and is never logged.
	URL string
	// Socket is the unix socket of the embedded engine's process.
	Socket string
	// Limits of a read. Fields that are zero take the value of DefaultLimits.
	Limits Limits
	// MaxConnections bounds the concurrent reads; further reads wait. Zero means 64.
	MaxConnections int
	// TenantKey is the key from which the passwords of the users of organizations are derived. All nodes of a deployment have the same
	// key. Only a ClickHouse server needs it; without it organizations cannot use SQL there.
	TenantKey []byte
	Logger    *slog.Logger
}

// Warehouse is the telemetry store. Its methods may be called concurrently.
type Warehouse struct {
	endpoint endpoint
	conn     driver.Conn
	http     *http.Client
	// transport has the connections. With several hosts, requests reach it through hosts.
	transport *http.Transport
	hosts     *hosts // nil for a single host
	limits    Limits
	log       *slog.Logger
	// held is the error of Hold.
	held atomic.Pointer[Error]

	// State for the SQL of tenants, see SelectConfined.
	schemas     tenantSchemas
	tenantSlots *tenantSlots
	tenantKey   []byte
	tenants     sync.Map // the principal.OrgID of each organization whose database or user exists → true
}

const dialTimeout = 5 * time.Second

// Open prepares the connection but does not connect, except for pings of several hosts. The engine may be down now and may restart at any
// time.
func Open(ctx context.Context, cfg Config) (*Warehouse, error) {
	var p endpoint
	switch {
	case cfg.URL != "" && cfg.Socket != "":
		return nil, errors.New("the warehouse is either a URL or the embedded engine's socket, not both")
	case cfg.URL != "":
		var err error
		if p, err = ParseURL(cfg.URL); err != nil {
			return nil, err
		}
	case cfg.Socket != "":
		p = endpoint{socket: cfg.Socket, base: url.URL{Scheme: "http", Host: "warehouse"}, database: chdb.DefaultDatabase}
	default:
		return nil, errors.New("the warehouse needs a URL or the embedded engine's socket")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxConnections == 0 {
		cfg.MaxConnections = 64
	}
	transport := p.transport(cfg.MaxConnections)
	var way http.RoundTripper = transport
	var several *hosts
	if len(p.hosts) > 1 {
		several = newHosts(ctx, p.hosts, p.base.Scheme, transport, cfg.Logger)
		way = several
	}
	conn, err := clickhouse.Open(p.options(way, transport.TLSClientConfig, cfg.MaxConnections))
	if err != nil {
		if several != nil {
			several.Close()
		}
		return nil, fmt.Errorf("cannot prepare the warehouse connection: %w", err)
	}
	return &Warehouse{
		endpoint: p, conn: conn, http: &http.Client{Transport: way}, transport: transport, hosts: several, limits: cfg.Limits.withDefaults(),
		log:         cfg.Logger,
		tenantSlots: newTenantSlots(), tenantKey: cfg.TenantKey,
	}, nil
}

// Close releases the connections. It does not end anything on the side of ClickHouse.
func (w *Warehouse) Close() error {
	if w.hosts != nil {
		w.hosts.Close()
	}
	err := w.conn.Close()
	w.http.CloseIdleConnections()
	return err
}

// Ping reports whether ClickHouse answers statements.
func (w *Warehouse) Ping(ctx context.Context) error {
	if err := w.usable(); err != nil {
		return err
	}
	return mapError(ctx, w.conn.Ping(ctx))
}

// Database is the database that holds the tables.
func (w *Warehouse) Database() string { return w.endpoint.database }

// Cluster is the name of the cluster whose tables are used. It is empty for a single server.
func (w *Warehouse) Cluster() string { return w.endpoint.cluster }

// String names the endpoint, without the user and the password.
func (w *Warehouse) String() string { return w.endpoint.String() }

func (p endpoint) transport(connections int) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout}
	t := &http.Transport{
		Proxy:               nil, // connect directly; an internet proxy must not see telemetry
		DialContext:         dialer.DialContext,
		MaxIdleConns:        connections,
		MaxIdleConnsPerHost: connections,
		IdleConnTimeout:     2 * time.Second, // below the 10 s after which a ClickHouse server closes an idle connection
		DisableCompression:  true,
		WriteBufferSize:     64 << 10,
		ReadBufferSize:      64 << 10,
	}
	if p.socket != "" {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return p.dialEngine(ctx) }
		t.IdleConnTimeout = time.Minute
	}
	if p.base.Scheme == "https" {
		t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	return t
}

// A dial waits restartPatience for an engine that does not listen: a restart takes a few tenths of a second.
const (
	restartPatience = 4 * time.Second
	redialInterval  = 20 * time.Millisecond
)

func (p endpoint) dialEngine(ctx context.Context) (net.Conn, error) {
	deadline := time.Now().Add(restartPatience)
	for {
		conn, err := chdb.DialUnix(ctx, p.socket)
		gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
		if !gone || time.Now().After(deadline) {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(redialInterval):
		}
	}
}

func (p endpoint) options(way http.RoundTripper, security *tls.Config, connections int) *clickhouse.Options {
	return &clickhouse.Options{
		Protocol: clickhouse.HTTP,
		Addr:     []string{p.base.Host},
		Auth:     clickhouse.Auth{Database: p.database, Username: p.user, Password: p.password},
		TLS:      security,
		// Use one connection pool for everything; otherwise the driver would make its own pools.
		TransportFunc: func(*http.Transport) (http.RoundTripper, error) { return way, nil },
		// Reads and inserts with a token may be retried when a connection turns out to be closed.
		HttpHeaders:      map[string]string{"X-Idempotency-Key": "1"},
		DialTimeout:      dialTimeout,
		MaxOpenConns:     connections,
		MaxIdleConns:     connections,
		ConnMaxLifetime:  time.Hour,
		ConnOpenStrategy: clickhouse.ConnOpenInOrder,
	}
}
