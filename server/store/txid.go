package store

import (
	"context"
	"fmt"
	"strconv"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/counter"
)

// nextTxid returns a number for the transaction. Later commits have greater numbers, because the counter's row stays locked until
// the commit. Call it last, so that the lock is held briefly.
func nextTxid(ctx context.Context, tx *ent.Tx) (string, error) {
	err := tx.Counter.Create().SetID("txid").SetValue(1).
		OnConflict(entsql.ConflictColumns(counter.FieldID)).
		Update(func(u *ent.CounterUpsert) { u.AddValue(1) }).
		Exec(ctx)
	if err != nil {
		return "", fmt.Errorf("number the transaction: %w", err)
	}
	c, err := tx.Counter.Get(ctx, "txid")
	if err != nil {
		return "", fmt.Errorf("number the transaction: %w", err)
	}
	return strconv.FormatInt(c.Value, 10), nil
}
