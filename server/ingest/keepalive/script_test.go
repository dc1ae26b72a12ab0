package keepalive

import (
	"bytes"
	"io"
	"net"
	"time"
)

// script is a connection that gives a client's bytes in pieces, and keeps what is written. It is for one goroutine.
type script struct {
	in         []byte
	size       int
	out        bytes.Buffer
	closedHalf bool
}

func (s *script) Read(p []byte) (int, error) {
	if len(s.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.in[:min(s.size, len(s.in))])
	s.in = s.in[n:]
	return n, nil
}

func (s *script) Write(p []byte) (int, error)      { return s.out.Write(p) }
func (s *script) CloseWrite() error                { s.closedHalf = true; return nil }
func (s *script) Close() error                     { return nil }
func (s *script) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (s *script) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }
