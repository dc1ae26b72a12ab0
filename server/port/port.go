// Package port bounds the callers of a port: their connections, the time of their requests and answers, and the types that browsers guess.
package port

import (
	"net"
	"net/http"
	"syscall"

	"github.com/svc-observability/svc/server/limits"
)

// Bound is a listener within the bounds of limits.Connections, for http.Servers with the hook NoteState. One address has at most `each`
// connections; with 0 it has only the bound of a crowded port.
func Bound(l net.Listener, each int) net.Listener { return newCrowd(l, each, connections()) }

// Server makes a server for HTTP/1.1 and for HTTP/2 without TLS. gRPC needs the latter on the same port.
func Server(h http.Handler) *http.Server {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: patient(noSniff(h), limits.APIBodyTime, limits.APIAnswerTime), Protocols: protocols, ReadHeaderTimeout: limits.HeaderTime,
		IdleTimeout: limits.ConnectionIdle, MaxHeaderBytes: limits.HeaderBytes, ConnState: NoteState,
		// A caller over HTTP/2 that takes nothing loses its connection too.
		HTTP2: &http.HTTP2Config{WriteByteTimeout: limits.APIAnswerTime, MaxConcurrentStreams: limits.StreamsOfConnection},
	}
}

const noSniffName = "X-Content-Type-Options"

// noSniff keeps browsers from guessing the type of an answer from its content. Answers of net/http itself get the header in member.Write.
func noSniff(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set(noSniffName, "nosniff")
		next.ServeHTTP(w, r)
	})
}

// connections is the bound on the open connections of one port: limits.Connections, or a quarter of the descriptors that this
// process may have. There are three ports, so a quarter is left for files.
func connections() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return limits.Connections
	}
	return int(min(files.Cur/4, limits.Connections))
}
