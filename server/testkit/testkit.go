// Package testkit runs the whole server for tests: in this process on real ports, or as the built binary.
package testkit

import (
	"reflect"

	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
)

// Server is a running server and the credentials of its first organization.
type Server struct {
	bootstrap.File
	DataDir string

	database config.DSN
}

// merge copies the fields that are set in from.
func merge(to *bootstrap.File, from bootstrap.File) {
	dst, src := reflect.ValueOf(to).Elem(), reflect.ValueOf(from)
	for i := range src.NumField() {
		if s := src.Field(i).String(); s != "" {
			dst.Field(i).SetString(s)
		}
	}
}
