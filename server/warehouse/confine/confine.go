// Package confine decides which SELECT of a tenant may run, and wraps it so that it can name only the tenant's own part of the
// offered tables. It does no I/O and has no parser of its own: it reads the meaning of a statement from the engine's own syntax
// tree (EXPLAIN AST). It refuses everything in that tree that is not known to be harmless.
//
// This is one of two guards that do not trust each other. The other guard is in the engine: a user that may only SELECT from the
// telemetry tables, and row policies on all of them (package warehouse).
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
	// DisallowedStatement: the statement is not a SELECT, or it contains a clause that tenants may not write.
	DisallowedStatement Code = "DisallowedStatement"
	// DisallowedFunction: the statement calls a function or table function that is not on the list.
	DisallowedFunction Code = "DisallowedFunction"
	// DisallowedTable: the statement reads a table that is not offered.
	DisallowedTable Code = "DisallowedTable"
	// MultipleStatements: the text contains more than one statement.
	MultipleStatements Code = "MultipleStatements"
	// ResourceLimit: the statement is too long, too deep or expands too far.
	ResourceLimit Code = "ResourceLimit"
)

// Refusal is the error of a statement that may not run. Its text contains only words of the statement and of the lists of this
// package, so it is safe to show.
type Refusal struct {
	Code    Code
	Message string
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Message }

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Limits of a statement. The engine's time limit does not bound its analysis of a statement, so these limits bound the size.
const (
	// MaxLength is the maximum length of a statement in bytes.
	MaxLength     = limits.SQLText
	maxNodes      = limits.SQLNodes
	maxDepth      = limits.SQLDepth
	maxSubqueries = limits.SQLSelects
	maxExpansion  = limits.SQLExpansion
	maxQuoted     = limits.SQLName
)
