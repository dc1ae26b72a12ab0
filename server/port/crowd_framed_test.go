package port

import (
	"io"
	"net"
	"testing"
)

// TestFramesStay: a connection over HTTP/2 may write any part of a frame first after it was idle. Such bytes are no answer of HTTP/1.
func TestFramesStay(t *testing.T) {
	t.Parallel()
	client, server := net.Pipe()
	m := &member{Conn: server}
	sent := make(chan string, 1)
	go func() {
		all, _ := io.ReadAll(client)
		sent <- string(all)
	}()
	for _, part := range []string{"\x00\x00\x00\x04\x00", "HTTP/1.1 200 OK\r\nA: b\r\n\r\n"} {
		m.begun.Store(false)
		if n, err := m.Write([]byte(part)); err != nil || n != len(part) {
			t.Fatal(n, err)
		}
	}
	_ = server.Close()
	if got, want := <-sent, "\x00\x00\x00\x04\x00HTTP/1.1 200 OK\r\nA: b\r\n\r\n"; got != want {
		t.Errorf("sent %q, want %q", got, want)
	}
}
