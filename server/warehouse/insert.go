package warehouse

import (
	"context"
	"fmt"
	"io"
	"net/url"
)

// Insert stores the rows of a Native-format body: one block or several, at revision 0, with the named columns
// ("OrgId, Timestamp, …"). It returns when they are on disk
// (the tables have fsync_after_insert).
//
// The token names the rows: a second insert with the same token and the same blocks in the same order adds nothing to the table
// or to the tables that its views feed. So a failed insert can be repeated with the same token, even if the rows were stored. An
// empty token switches this off. Errors are *Error; Retryable says whether to repeat the insert or to set the rows aside.
func (w *Warehouse) Insert(ctx context.Context, table, columns string, body io.Reader, token string) error {
	return w.insert(ctx, table, w.insertParams(table, columns, token), body)
}

// InsertIgnoringViews is Insert for rows on which a view fails. It stores them in the table and in the tables of the other views,
// and skips the view that fails. Rows that an earlier Insert with the same token stored are not stored again. It fails when the
// table itself refuses the rows.
func (w *Warehouse) InsertIgnoringViews(ctx context.Context, table, columns string, body io.Reader, token string) error {
	p := w.insertParams(table, columns, token)
	p.Set("materialized_views_ignore_errors", "1")
	return w.insert(ctx, table, p, body)
}

func (w *Warehouse) insert(ctx context.Context, table string, params url.Values, body io.Reader) error {
	if !namePattern.MatchString(table) {
		return fmt.Errorf("insert: %q is not a table name", table)
	}
	if err := w.usable(); err != nil {
		return err
	}
	res, err := w.post(ctx, params, body)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	return copyAnswer(ctx, io.Discard, res)
}

func (w *Warehouse) insertParams(table, columns, token string) url.Values {
	p := url.Values{}
	p.Set("query", fmt.Sprintf("INSERT INTO %s (%s) FORMAT Native", table, columns))
	p.Set("database", w.endpoint.database)
	p.Set("async_insert", "0")
	if token != "" {
		p.Set("insert_deduplicate", "1")
		p.Set("insert_deduplication_token", token)
		p.Set("deduplicate_blocks_in_dependent_materialized_views", "1")
	}
	if w.endpoint.cluster != "" {
		// Wait for the shard's answer. Without this setting a Distributed table takes the rows and sends them later.
		p.Set("distributed_foreground_insert", "1")
	}
	return p
}
