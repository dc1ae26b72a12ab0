// Package chdb hosts the embedded ClickHouse engine, libchdb, in a process of its own.
//
// Serve runs in that process: it boots the engine on a data folder and speaks the ClickHouse HTTP interface on a unix socket.
// Start runs in the parent and supervises: it starts the child, waits until the child answers and starts it again when it dies.
// The engine has its own process so that its crashes, its memory and its file access do not affect ingest and the API.
//
// No other package knows libchdb or imports purego.
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

// newException reads the code from the engine's text ("Code: 60. DB::Exception: …").
func newException(text string) *Exception {
	text = strings.TrimSpace(text)
	if m := codePattern.FindStringSubmatchIndex(text); m != nil {
		code, err := strconv.Atoi(text[m[2]:m[3]])
		if err == nil {
			// The first line of a client's report repeats its origin. The exception starts at its code.
			return &Exception{Code: code, Message: text[m[0]:]}
		}
	}
	return exceptionf(codeUnknownException, "%s", text)
}

func exceptionf(code int, format string, args ...any) *Exception {
	return &Exception{Code: code, Message: fmt.Sprintf("Code: %d. DB::Exception: ", code) + fmt.Sprintf(format, args...)}
}
