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
type Builder struct {
	Args []warehouse.Arg
	n    int
}

func (b *Builder) Statement(sql string) Statement {
	return Statement{SQL: sql, Args: b.Args}
}

// bind adds a parameter under a name that is used once.
func (b *Builder) Bind(name, typ string, value any) string {
	b.Args = append(b.Args, warehouse.Named(name, value))
	return "{" + name + ":" + typ + "}"
}

// next binds a parameter whose name gets a number, for conditions that can occur several times.
func (b *Builder) BindNumbered(name, typ string, value any) string {
	b.n++
	return b.Bind(fmt.Sprintf("%s_%d", name, b.n), typ, value)
}

func (b *Builder) Time(name string, t time.Time) string {
	return "fromUnixTimestamp64Nano(" + b.Bind(name, "Int64", t.UnixNano()) + ", 'UTC')"
}

// nextTime is time under a name that gets a number.
func (b *Builder) TimeNumbered(name string, t time.Time) string {
	return "fromUnixTimestamp64Nano(" + b.BindNumbered(name, "Int64", t.UnixNano()) + ", 'UTC')"
}

// minute is a place for the start of a minute, as rollups by minute hold it.
func (b *Builder) Minute(name string, t time.Time) string {
	return "toDateTime(" + b.Bind(name, "Int64", t.Truncate(time.Minute).Unix()) + ", 'UTC')"
}
