package warehouse

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"text/template"

	"github.com/svc-observability/svc/server/limits"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// step is one statement of the migrations.
type step struct {
	file     string
	number   int    // from 1, within the file
	checksum string // of the released text before rendering, so it is the same everywhere
	sql      string // rendered; empty when this endpoint does not need the statement
}

// title is the statement's first line, to show to people.
func (s step) title() string {
	first, _, _ := strings.Cut(s.sql, "\n")
	return strings.TrimSpace(first)
}

var separator = regexp.MustCompile(`(?m)^;[ \t]*$`)

// Two placeholders stand for a value that a new table gets and that may differ from the value in the text that was released. The checksum
// of a statement is that of its released text, so an installation that has applied the statement still starts.
var (
	// {{fresh released new}} is a value that an existing table can keep and cannot change.
	freshValue = regexp.MustCompile(`\{\{fresh (\S+) (\S+)\}\}`)
	// {{retention table released}} is a number of days, from limits.Retention. After a change there, add a migration that alters the
	// TTL of existing tables: an applied statement is not applied again.
	retentionDays = regexp.MustCompile(`\{\{retention (\w+) (\d+)\}\}`)
)

// released returns the statement with the values that it had when it was released.
func released(raw string) string {
	return retentionDays.ReplaceAllString(freshValue.ReplaceAllString(raw, "$1"), "$2")
}

// current returns the statement with the values of this version.
func current(raw string) (string, error) {
	var failed error
	raw = retentionDays.ReplaceAllStringFunc(freshValue.ReplaceAllString(raw, "$2"), func(placeholder string) string {
		kept, err := limits.Retention(retentionDays.FindStringSubmatch(placeholder)[1])
		if err != nil {
			failed = err
		}
		return strconv.Itoa(int(kept / limits.Day))
	})
	return raw, failed
}

// renderMigrations returns all statements, ordered by file and by position in the file. cluster is the name of the cluster; it is
// empty for a single server.
func renderMigrations(files fs.FS, database, cluster string) ([]step, error) {
	paths, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var steps []step
	for _, path := range paths { // sorted by fs.Glob
		text, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimPrefix(path, "migrations/")
		number := 0
		for _, raw := range separator.Split(string(text), -1) {
			raw = stripComments(raw)
			if raw == "" {
				continue
			}
			number++
			sql, err := current(raw)
			if err == nil {
				sql, err = renderStatement(sql, database, cluster)
			}
			if err != nil {
				return nil, fmt.Errorf("migration %s, statement %d: %w", name, number, err)
			}
			sum := sha256.Sum256([]byte(released(raw)))
			steps = append(steps, step{file: name, number: number, checksum: hex.EncodeToString(sum[:]), sql: sql})
		}
	}
	return steps, nil
}

// ClusterStatements returns the statements that Migrate applies to a cluster, in order.
func ClusterStatements(database, cluster string) ([]string, error) {
	steps, err := renderMigrations(migrationFiles, database, cluster)
	var sql []string
	for _, s := range steps {
		if s.sql != "" {
			sql = append(sql, s.sql)
		}
	}
	return sql, err
}

// stripComments removes comment lines and the blanks around a statement, so that editing a comment does not change the checksum.
func stripComments(sql string) string {
	var b strings.Builder
	for line := range strings.Lines(sql) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}

// rangeOfInsert is the value of the column IngestRange: the hash of the token of the insert.
const rangeOfInsert = "cityHash64(getSetting('insert_deduplication_token'))"

// A Replicated table remembers this many tokens, for this long.
const (
	replicatedTokens  = 10_000
	replicatedSeconds = 7 * 24 * 60 * 60
)

func renderStatement(raw, database, cluster string) (string, error) {
	onCluster := func(name string) string {
		if cluster == "" {
			return name
		}
		return fmt.Sprintf("%s ON CLUSTER '%s'", name, cluster)
	}
	local := func(table string) string {
		if cluster == "" {
			return table
		}
		return table + "_local"
	}
	onlyCluster := fmt.Sprintf // a statement that a single server does not need
	if cluster == "" {
		onlyCluster = func(string, ...any) string { return "" }
	}
	t, err := template.New("").Option("missingkey=error").Funcs(template.FuncMap{
		"create": func(table string) string { return onCluster(local(table)) },
		"local":  local,
		"alter":  func(table string) string { return onCluster(local(table)) },
		"view":   onCluster,
		"engine": func(engine string) string {
			if cluster == "" {
				return engine
			}
			return "Replicated" + engine + "('/clickhouse/tables/{shard}/{database}/{table}', '{replica}')"
		},
		"replacing": func(version string) string {
			if cluster == "" {
				return "ReplacingMergeTree(" + version + ")"
			}
			return "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/{database}/{table}', '{replica}', " + version + ")"
		},
		"distributed": func(table, key string) string {
			if cluster == "" {
				return ""
			}
			return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s\nAS %s\nENGINE = Distributed('%s', '%s', '%s', %s)",
				onCluster(table), local(table), cluster, database, local(table), key)
		},
		"ingest_range": func(table string) string {
			return onlyCluster("ALTER TABLE %s ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED %s CODEC(ZSTD(1))",
				onCluster(local(table)), rangeOfInsert)
		},
		"ingest_range_index": func(table string) string {
			return onlyCluster("ALTER TABLE %s ADD INDEX IF NOT EXISTS idx_ingest_range IngestRange TYPE bloom_filter(0.01) GRANULARITY 64",
				onCluster(local(table)))
		},
		"ingest_range_everywhere": func(table string) string {
			return onlyCluster("ALTER TABLE %s ADD COLUMN IF NOT EXISTS IngestRange UInt64 MATERIALIZED %s", onCluster(table), rangeOfInsert)
		},
		"deduplication": func(table string) string {
			return onlyCluster("ALTER TABLE %s MODIFY SETTING replicated_deduplication_window = %d, replicated_deduplication_window_seconds = %d",
				onCluster(local(table)), replicatedTokens, replicatedSeconds)
		},
	}).Parse(raw)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := t.Execute(&b, nil); err != nil {
		return "", err
	}
	return strings.TrimSpace(b.String()), nil
}
