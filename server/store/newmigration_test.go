package store

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"text/template"

	atlas "ariga.io/atlas/sql/migrate"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"

	"github.com/svc-observability/svc/ent/migrate"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// newMigration makes TestNewMigration write files: `make migration NAME=add_things`.
var newMigration = flag.String("migration", "", "write the next migration of both databases under this name")

// TestNewMigration checks that on both databases the migrations give the schema that ent/schema declares. With -migration it
// instead writes the next migration of both, if the declarations have changed.
func TestNewMigration(t *testing.T) {
	if name := *newMigration; name != "" {
		t.Setenv(pgtest.EnvRequire, "1") // a migration for only one database is useless
		if !regexp.MustCompile(`^[a-z0-9_]+$`).MatchString(name) {
			t.Fatalf("the name of a migration has lower-case letters, digits and underscores; %q has others", name)
		}
	}
	// ent shortens longer names by a hash, in place: the name would depend on the database for which it was shortened first.
	for _, table := range migrate.Tables {
		for _, key := range table.ForeignKeys {
			if len(key.Symbol) > 63 {
				t.Errorf("the foreign key %s of %s is longer than PostgreSQL allows: give its edge a StorageKey with a shorter Symbol",
					key.Symbol, table.Name)
			}
		}
	}
	for folder, s := range map[string]*Store{"sqlite": emptySQLite(t), "postgres": emptyPostgres(t, pgtest.Start(t))} {
		ms, err := loadMigrations(migrationFiles, "migrations/"+folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.migrateTo(t.Context(), ms); err != nil {
			t.Fatal(err)
		}
		text, err := nextMigration(t.Context(), s)
		switch {
		case err != nil:
			t.Fatal(err)
		case *newMigration == "" && text != "":
			t.Errorf("the migrations of %s do not give what ent/schema declares; run make migration NAME=…, which writes:\n%s", folder, text)
		case *newMigration != "" && text == "":
			t.Errorf("the migrations of %s give what ent/schema declares: there is nothing to write", folder)
		case *newMigration != "":
			path := filepath.Join("migrations", folder, fmt.Sprintf("%04d_%s.sql", len(ms)+1, *newMigration))
			if err := os.WriteFile(path, []byte("-- Review this file: say here what it is for, and add the statements that move data.\n\n"+text),
				0o600); err != nil {
				t.Fatal(err)
			}
			t.Logf("wrote server/store/%s:\n%s", path, text)
		}
	}
}

// A migration generated from the difference between older migrations and ent/schema gives the schema that ent/schema declares.
func TestNewMigrationIsComplete(t *testing.T) {
	t.Parallel()
	pg := pgtest.Start(t)
	for folder, open := range map[string]func() *Store{
		"sqlite":   func() *Store { return emptySQLite(t) },
		"postgres": func() *Store { return emptyPostgres(t, pg) },
	} {
		ms, err := loadMigrations(migrationFiles, "migrations/"+folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, applied := range []int{0, 2, 4} {
			s := open()
			if err := s.migrateTo(t.Context(), ms[:applied]); err != nil {
				t.Fatal(err)
			}
			text, err := nextMigration(t.Context(), s)
			if err != nil || text == "" {
				t.Fatalf("%s after %d migrations: %q, %v", folder, applied, text, err)
			}
			next := migration{version: applied + 1, name: "new", sql: text, checksum: "new"}
			if err := s.migrateTo(t.Context(), append(ms[:applied:applied], next)); err != nil {
				t.Fatalf("%s after %d migrations: %v\n%s", folder, applied, err, text)
			}
			if drift, err := s.SchemaDrift(t.Context()); err != nil || drift != "" {
				t.Errorf("%s after %d migrations and the new one: %v, still missing:\n%s", folder, applied, err, drift)
			}
		}
	}
}

func emptySQLite(t *testing.T) *Store {
	t.Helper()
	w, r, err := openSQLite(t.Context(), filepath.Join(t.TempDir(), "svc.db"))
	return unmigrated(t, &Store{dialect: "sqlite3", writeDB: w, readDB: r}, err)
}

func emptyPostgres(t *testing.T, pg *pgtest.Server) *Store {
	t.Helper()
	db, err := openPostgres(pg.NewDatabase(t))
	return unmigrated(t, &Store{dialect: "postgres", writeDB: db, readDB: db}, err)
}

// nextMigration returns the statements, written by ent, that bring the database to the schema of ent/schema. The result is empty
// if there is no difference.
func nextMigration(ctx context.Context, s *Store) (string, error) {
	comparing.Lock()
	defer comparing.Unlock()
	format, err := atlas.NewTemplateFormatter(
		template.Must(template.New("").Parse("next.sql")),
		template.Must(template.New("").Parse("{{range .Changes}}{{.Cmd}};\n{{end}}")),
	)
	if err != nil {
		return "", err
	}
	dir := &atlas.MemDir{}
	err = migrate.NewSchema(entsql.OpenDB(s.dialect, s.writeDB)).NamedDiff(ctx, "next",
		schema.WithDir(dir), schema.WithFormatter(format), schema.WithMigrationMode(schema.ModeInspect), schema.WithErrNoPlan(true),
		schema.WithIndent("  "),
		schema.WithDropColumn(true), schema.WithDropIndex(true), schema.WithDiffHook(plainPredicates))
	if errors.Is(err, atlas.ErrNoPlan) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	f, err := dir.Open("next.sql")
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(f)
	// Drop these statements: the runner keeps foreign keys off while it migrates SQLite, and within a transaction they do nothing.
	return regexp.MustCompile("(?m)^PRAGMA foreign_keys = (off|on);\n").ReplaceAllString(strings.ReplaceAll(string(text), "`", `"`), ""), err
}
