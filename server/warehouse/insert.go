package warehouse

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"
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

// InsertLate repeats an insert whose token a replicated table may have forgotten since the first attempt. Rows that an earlier attempt
// stored are left out by their contents. Rows that are equal lie on the same shard and in the same part, so either all copies of a row were
// stored, or none. A view gets only the rows that are stored now. On a single server, InsertLate is Insert.
func (w *Warehouse) InsertLate(ctx context.Context, table, columns string, body io.Reader, token string) error {
	if w.endpoint.cluster == "" || !namePattern.MatchString(table) {
		return w.Insert(ctx, table, columns, body, token)
	}
	structure, err := w.structureOf(ctx, table, columns)
	if err != nil {
		return err
	}
	if structure == "" { // the engine of the table replaces or adds up rows, so they have no range
		return w.Insert(ctx, table, columns, body, token)
	}
	p := w.insertParams(table, columns, token)
	p.Set("query", lateInsert(table, columns, "input("+quoteText(structure)+")", token)+" FORMAT Native")
	return w.insert(ctx, table, p, body)
}

// lateInsert returns the statement that stores those rows of a source that are not yet stored under the token.
func lateInsert(table, columns, source, token string) string {
	return fmt.Sprintf("INSERT INTO %[1]s (%[2]s) SELECT %[2]s FROM %[3]s WHERE cityHash64(%[2]s) NOT IN "+
		"(SELECT cityHash64(%[2]s) FROM %[1]s WHERE IngestRange = cityHash64(%[4]s))", table, columns, source, quoteText(token))
}

// structureOf returns the columns of an insert with their types. It is empty for a table without the column IngestRange.
func (w *Warehouse) structureOf(ctx context.Context, table, columns string) (string, error) {
	rows, err := w.conn.Query(ctx, "SELECT name, type FROM system.columns WHERE database = "+quoteText(w.endpoint.database)+" AND table = "+
		quoteText(table))
	if err != nil {
		return "", mapError(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	types := map[string]string{}
	for rows.Next() {
		var name, typ string
		if err := rows.Scan(&name, &typ); err != nil {
			return "", decodeError(err)
		}
		types[name] = typ
	}
	if err := rows.Err(); err != nil {
		return "", mapError(ctx, err)
	}
	if types["IngestRange"] == "" {
		return "", nil
	}
	var list []string
	for name := range strings.SplitSeq(columns, ", ") {
		if types[name] == "" {
			return "", &Error{Kind: ErrSchema, Message: fmt.Sprintf("the table %s has no column %s", table, name)}
		}
		list = append(list, name+" "+types[name])
	}
	return strings.Join(list, ", "), nil
}

func (w *Warehouse) insert(ctx context.Context, table string, params url.Values, body io.Reader) error {
	if !namePattern.MatchString(table) {
		return fmt.Errorf("insert: %q is not a table name", table)
	}
	if err := w.usable(); err != nil {
		return err
	}
	res, err := w.post(doing(ctx, inserting), params, body)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	return copyAnswer(ctx, io.Discard, res)
}

// quorumTimeout is how long an insert waits for other replicas before its outcome is unknown.
const quorumTimeout = time.Minute

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
		// The insert waits until several replicas of the shard have the rows. So the rows survive the loss of a disk. Several inserts may
		// wait at the same time. The value auto means most of the replicas: 2 of 2, or 2 of 3. An insert is repeated with its token after
		// the codes 285 (too few live replicas), 286 (an earlier insert lacks its quorum) and 319 (the outcome is unknown).
		p.Set("insert_quorum", w.endpoint.quorum)
		p.Set("insert_quorum_parallel", "1")
		p.Set("insert_quorum_timeout", strconv.FormatInt(quorumTimeout.Milliseconds(), 10))
	}
	return p
}
