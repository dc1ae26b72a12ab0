// Package chdb hosts the embedded ClickHouse engine, libchdb, in a process of its own.
//
// Serve is that process: it boots the engine on a data folder and speaks the ClickHouse HTTP interface on a unix socket.
// Start is its supervisor in the parent: it starts the child, waits until it answers and starts it again when it dies.
// The engine stays out of the parent so that a crash, its memory and its file access stay away from ingest and the API.
//
// This is the only package that knows libchdb and the only importer of purego.
package chdb

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Version is the libchdb release that this package binds and is tested with.
const Version = "26.7.3"

// DefaultDatabase is the database that holds the telemetry tables.
const DefaultDatabase = "svc"

// Exception is an error of the engine, with ClickHouse's code.
type Exception struct {
	Code    int
	Message string
}

func (e *Exception) Error() string { return e.Message }

// Codes of ClickHouse that this package raises itself.
const (
	codeSyntaxError        = 62
	codeUnknownFormat      = 73
	codeNotImplemented     = 48
	codeBadArguments       = 36
	codeQueryCancelled     = 394
	codeUnknownException   = 1002
	codeTooManyConnections = 202
)

var codePattern = regexp.MustCompile(`Code: (\d+)\.`)

// newException reads the code out of the engine's text ("Code: 60. DB::Exception: …").
func newException(text string) *Exception {
	text = strings.TrimSpace(text)
	if m := codePattern.FindStringSubmatchIndex(text); m != nil {
		code, err := strconv.Atoi(text[m[2]:m[3]])
		if err == nil {
			// The first line of a client's report repeats where it came from; the exception starts at its code.
			return &Exception{Code: code, Message: text[m[0]:]}
		}
	}
	return exceptionf(codeUnknownException, "%s", text)
}

func exceptionf(code int, format string, args ...any) *Exception {
	return &Exception{Code: code, Message: fmt.Sprintf("Code: %d. DB::Exception: ", code) + fmt.Sprintf(format, args...)}
}
