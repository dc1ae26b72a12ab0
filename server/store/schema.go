package store

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"ariga.io/atlas/sql/postgres"
	atlas "ariga.io/atlas/sql/schema"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	"github.com/svc-observability/svc/ent/migrate"
)

// comparing guards ent's declarations for all stores of the process. A comparison completes the declarations in place.
var comparing sync.Mutex

// SchemaDrift returns the statements that would bring the database to the schema that ent/schema declares. The result is empty if
// there is no difference. SchemaDrift changes nothing. Tests use it to compare migrations with declarations; it also shows manual
// changes to a schema.
func (s *Store) SchemaDrift(ctx context.Context) (string, error) {
	comparing.Lock()
	defer comparing.Unlock()
	var b strings.Builder
	err := migrate.NewSchema(entsql.OpenDB(s.dialect, s.writeDB)).
		WriteTo(ctx, &b, schema.WithDropColumn(true), schema.WithDropIndex(true), schema.WithDiffHook(plainPredicates))
	if err != nil {
		return "", fmt.Errorf("store: compare the schema: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}

// plainPredicates removes what PostgreSQL adds when it prints the condition of a partial index, as in `(kind <> 'custom'::text)`.
// The condition then equals the declaration, which both databases must understand.
func plainPredicates(next schema.Differ) schema.Differ {
	return schema.DiffFunc(func(current, desired *atlas.Schema) ([]atlas.Change, error) {
		for _, table := range current.Tables {
			for _, index := range table.Indexes {
				for _, attr := range index.Attrs {
					if p, ok := attr.(*postgres.IndexPredicate); ok {
						p.P = strings.ReplaceAll(p.P, "::text", "")
					}
				}
			}
		}
		return next.Diff(current, desired)
	})
}
