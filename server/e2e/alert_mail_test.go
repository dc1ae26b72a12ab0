package e2e

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
)

// mailServer accepts every e-mail.
type mailServer struct {
	addr     string
	received chan string
}

// notifySMTP starts a mail server that speaks as much SMTP as a client needs.
func notifySMTP(t *testing.T) *mailServer {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &mailServer{addr: l.Addr().String(), received: make(chan string, 10)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			m.serve(conn)
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return m
}

func (m *mailServer) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	say := func(text string) { _, _ = fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 mail")
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		switch verb, _, _ := strings.Cut(strings.ToUpper(lines.Text()), " "); verb {
		case "EHLO":
			say("250-mail")
			say("250 8BITMIME")
		case "DATA":
			say("354 go on")
			var text strings.Builder
			for lines.Scan() && lines.Text() != "." {
				text.WriteString(lines.Text() + "\n")
			}
			m.received <- text.String()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 ok")
		}
	}
}
