// Package ent is the relational data model: ent/schema is written by hand, everything else here is generated from it by
// `make generate`. Only server/store may use it.
package ent

//go:generate go run entc.go resources.go
