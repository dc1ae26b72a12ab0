// Package query turns requests into ClickHouse SQL. It does no I/O. Every value that comes from a request or names an
// organization is a bound parameter, never part of the text; the text of each case is kept in testdata/*.sql.
//
// Each table that a statement reads is filtered by OrgId first, so no statement can show one organization another's data.
package query

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/warehouse"
)

// Statement is SQL with its parameters, as warehouse.Query takes them. That fills in {org:String} by itself.
type Statement struct {
	SQL  string
	Args []warehouse.Arg
	// End is the end of the window that the statement reads. After that time the rows change only by telemetry that arrives late. It is
	// zero when rows may change at any time.
	End time.Time
}

// Until is the statement with the end of the window that it reads.
func (s Statement) Until(end time.Time) Statement {
	s.End = end
	return s
}

// builder collects the parameters of a statement.
type builder struct {
	args []warehouse.Arg
	n    int
}

func (b *builder) statement(sql string) Statement {
	return Statement{SQL: sql, Args: b.args}
}

// bind adds a parameter under a name that is used once.
func (b *builder) bind(name, typ string, value any) string {
	b.args = append(b.args, warehouse.Named(name, value))
	return "{" + name + ":" + typ + "}"
}

// next binds a parameter whose name gets a number, for conditions that can occur several times.
func (b *builder) next(name, typ string, value any) string {
	b.n++
	return b.bind(fmt.Sprintf("%s_%d", name, b.n), typ, value)
}

func (b *builder) time(name string, t time.Time) string {
	return "fromUnixTimestamp64Nano(" + b.bind(name, "Int64", t.UnixNano()) + ", 'UTC')"
}

// nextTime is time under a name that gets a number.
func (b *builder) nextTime(name string, t time.Time) string {
	return "fromUnixTimestamp64Nano(" + b.next(name, "Int64", t.UnixNano()) + ", 'UTC')"
}

// minute is a place for the start of a minute, as rollups by minute hold it.
func (b *builder) minute(name string, t time.Time) string {
	return "toDateTime(" + b.bind(name, "Int64", t.Truncate(time.Minute).Unix()) + ", 'UTC')"
}
