// Package shardtest runs statements on two shards. Both shards are in one embedded engine, so the tests need no server.
//
// The engine's configuration has a cluster of the hosts 127.0.0.1 and localhost, with the engine's own port. The engine
// recognizes itself in both and opens no connection, but its planner treats them as two shards: it distributes reads, merges
// states of aggregates, and refuses what it would refuse on a cluster. The rows are stored once, in plain tables. On each shard,
// a view shows its half of them.
package shardtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// Org is the organization that owns the telemetry.
const Org = "org_shards"

// plain is the database to which the plain tables move. The shards take their place in the main database, because the row
// policies let svc read only there.
const plain = "plain"

// The engine does not listen on this port.
const config = `
    <tcp_port>9019</tcp_port>
    <remote_servers><two>
        <shard><replica><host>127.0.0.1</host><port>9019</port></replica></shard>
        <shard><replica><host>localhost</host><port>9019</port></replica></shard>
    </two></remote_servers>
`

// Bed is an engine with plain tables, and the same rows on two shards.
type Bed struct {
	*warehousetest.Engine
	// From and To bound the telemetry of the demo in the tables.
	From, To time.Time
	http     http.Client
}

var distributed = regexp.MustCompile(`ENGINE = Distributed\('\w+', '\w+', '(\w+)_local', (.*)\)$`)

// New starts an engine, stores telemetry of the demo, and divides it by the sharding keys of the migrations.
func New(t testing.TB) *Bed {
	t.Helper()
	b := &Bed{Engine: warehousetest.NewEngineIn(t, t.TempDir(), config)}
	socket := b.Socket
	b.http.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return chdb.DialUnix(ctx, socket)
	}}
	t.Cleanup(b.http.CloseIdleConnections)
	b.From, b.To = b.fill(t)
	statements, err := warehouse.ClusterStatements(chdb.DefaultDatabase, "two")
	if err != nil {
		t.Fatal(err)
	}
	b.exec(t, "CREATE DATABASE "+plain)
	tables := 0
	for _, sql := range statements {
		m := distributed.FindStringSubmatch(sql)
		if m == nil {
			continue
		}
		table, key := m[1], m[2]
		b.exec(t, fmt.Sprintf("RENAME TABLE %s TO %s.%[1]s", table, plain))
		b.exec(t, fmt.Sprintf("CREATE VIEW %s_local AS SELECT * FROM %s.%[1]s WHERE %[3]s %% 2 = shardNum() - 1", table, plain, key))
		b.exec(t, fmt.Sprintf("CREATE TABLE %s AS %s.%[1]s ENGINE = Distributed('two', '%[3]s', '%[1]s_local', %[4]s)", table, plain,
			b.Database(), key))
		tables++
	}
	if tables < 20 {
		t.Fatalf("the migrations have only %d distributed tables", tables)
	}
	return b
}

func (b *Bed) exec(t testing.TB, sql string) {
	t.Helper()
	if err := b.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// Plain and Sharded return the rows of a statement in lines of JSON, from the plain tables and from the two shards.
func (b *Bed) Plain(ctx context.Context, s sqlbuild.Statement) (string, error) {
	return b.read(ctx, plain, s)
}

// Sharded: see Plain.
func (b *Bed) Sharded(ctx context.Context, s sqlbuild.Statement) (string, error) {
	return b.read(ctx, b.Database(), s)
}

func (b *Bed) read(ctx context.Context, database string, s sqlbuild.Statement) (string, error) {
	params := url.Values{
		"database": {database}, "default_format": {"JSONCompactEachRow"}, "param_org": {Org}, "readonly": {"2"},
		"output_format_json_quote_64bit_integers": {"0"},
	}
	for _, a := range s.Args {
		params.Set("param_"+a.Name, text(a.Value))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://warehouse/?"+params.Encode(), strings.NewReader(s.SQL))
	if err != nil {
		return "", err
	}
	res, err := b.http.Do(req)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }()
	out, err := io.ReadAll(res.Body)
	if err == nil && (res.StatusCode != http.StatusOK || bytes.Contains(out, []byte("__exception__"))) {
		err = fmt.Errorf("code %s: %s", res.Header.Get("X-ClickHouse-Exception-Code"), out)
	}
	return string(out), err
}

// text writes a value as a parameter of ClickHouse.
func text(value any) string {
	switch v := value.(type) {
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
		}
		return "[" + strings.Join(quoted, ",") + "]"
	case []uint64, []int64, []float64:
		return strings.ReplaceAll(fmt.Sprint(v), " ", ",")
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`).Replace(fmt.Sprint(v))
	}
}
