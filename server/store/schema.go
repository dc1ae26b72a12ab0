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

// comparing guards ent's declarations, which comparing completes in place, for all stores of the process.
var comparing sync.Mutex

// SchemaDrift returns the statements that would turn the database into what ent/schema declares, empty when there is nothing to
// do. It changes nothing. Tests hold migrations and declaration together with it; it also shows a schema that was edited by hand.
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

// plainPredicates undoes how PostgreSQL prints the condition of a partial index, `(kind <> 'custom'::text)`, so that it equals
// the declaration, which both databases must understand.
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
