// Package confine decides which SELECT of a tenant may run, and wraps it so that it can name no table but the tenant's own part of the
// offered ones. It does no I/O and holds no parser of its own: what a statement means is read from the engine's own syntax tree
// (EXPLAIN AST), and whatever that tree holds that is not known to be harmless is refused.
//
// This is one of two guards that do not trust each other. The other is the engine's: a user without rights to anything but SELECT on
// the telemetry tables, and row policies on all of them (package warehouse).
package confine

import (
	"fmt"

	"github.com/svc-observability/svc/server/limits"
)

// Code says why a statement is refused.
type Code string

// Codes.
const (
	// Syntax: the engine cannot parse the statement.
	Syntax Code = "SyntaxError"
	// DisallowedStatement: it is no SELECT, or holds a clause that no tenant may write.
	DisallowedStatement Code = "DisallowedStatement"
	// DisallowedFunction: a function or table function that is not on the list.
	DisallowedFunction Code = "DisallowedFunction"
	// DisallowedTable: a table that is not offered.
	DisallowedTable Code = "DisallowedTable"
	// MultipleStatements: more than one.
	MultipleStatements Code = "MultipleStatements"
	// ResourceLimit: it is too long, too deep or expands too far.
	ResourceLimit Code = "ResourceLimit"
)

// Refusal is the error of a statement that may not run. Its text is made of the statement's own words and the lists of this package,
// so that it is safe to show.
type Refusal struct {
	Code    Code
	Message string
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Message }

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Limits of a statement. Analysis in the engine is not bounded by its time limit, so that size is.
const (
	// MaxLength of a statement in bytes.
	MaxLength = limits.SQLText
	maxNodes  = 5000
	maxDepth  = 200
	// maxSubqueries bounds the SELECTs of a statement, maxExpansion those after every common table expression was put in the place of its
	// name, which is what the engine does with them.
	maxSubqueries = 100
	maxExpansion  = 300
	maxQuoted     = 256
)
