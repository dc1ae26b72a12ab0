// Package sqlbuild assembles ClickHouse statements. A statement is text and parameters: every value that comes from a request or names
// an organization is bound, never part of the text.
//
// Each table that a statement reads is filtered by OfOrganization first, so no statement can show one organization another's data. Package
// sqltest checks both rules and keeps the text of each statement in testdata/*.sql.
package sqlbuild

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/warehouse"
)

// Statement is SQL with its parameters. warehouse.Query adds the parameter {org:String}.
type Statement struct {
	SQL  string
	Args []warehouse.Arg
	// End is the end of the window that the statement reads. After that time the rows change only through telemetry that arrives
	// late. It is zero if rows may change at any time.
	End time.Time
}

// Until returns the statement with the end of the window that it reads.
func (s Statement) Until(end time.Time) Statement {
	s.End = end
	return s
}

// Colocated declares that each subquery of the statement's IN finds only rows of its own shard, because all tables in it have the
// same sharding key: the trace. So each shard of a cluster asks its own tables. Without a declaration, a cluster refuses a subquery of
// IN beside a table on several shards (code 288). A set that lies on several shards and is small needs GLOBAL IN instead.
func (s Statement) Colocated() Statement {
	s.SQL += "\nSETTINGS distributed_product_mode = 'local'"
	return s
}

// Builder collects the parameters of a statement.
type Builder struct {
	Args []warehouse.Arg
	n    int
}

// Statement returns the SQL with the parameters that the builder has collected.
func (b *Builder) Statement(sql string) Statement {
	return Statement{SQL: sql, Args: b.Args}
}

// Bind adds a parameter. A name can be bound once.
func (b *Builder) Bind(name, typ string, value any) string {
	b.Args = append(b.Args, warehouse.Named(name, value))
	return "{" + name + ":" + typ + "}"
}

// BindNumbered adds a parameter and numbers its name, for conditions that can occur several times.
func (b *Builder) BindNumbered(name, typ string, value any) string {
	b.n++
	return b.Bind(fmt.Sprintf("%s_%d", name, b.n), typ, value)
}

// Time binds a time with nanoseconds.
func (b *Builder) Time(name string, t time.Time) string {
	return "fromUnixTimestamp64Nano(" + b.Bind(name, "Int64", t.UnixNano()) + ", 'UTC')"
}

// TimeNumbered binds a time under a name that gets a number.
func (b *Builder) TimeNumbered(name string, t time.Time) string {
	return "fromUnixTimestamp64Nano(" + b.BindNumbered(name, "Int64", t.UnixNano()) + ", 'UTC')"
}

// Minute binds the start of a minute, which is the time column of rollups by minute.
func (b *Builder) Minute(name string, t time.Time) string {
	return "toDateTime(" + b.Bind(name, "Int64", t.Truncate(time.Minute).Unix()) + ", 'UTC')"
}
