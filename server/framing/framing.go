// Package framing refuses HTTP/1 requests whose end two programs could see in two places (RFC 9112, sections 5 to 7 and 11.2).
//
// A proxy in front of this server that ends a request elsewhere lets a caller hide a second request in the body of the first. net/http
// reads several such requests leniently: it drops a Content-Length beside a Transfer-Encoding, and takes bare line feeds and folded
// lines. Its handlers cannot see the bytes of the head. So this package reads the bytes before net/http does, follows them from
// request to request, and cuts them off inside the first line that is not strict. It puts a line there that net/http refuses, so the
// answer is 400, the connection closes, and nothing behind that line is ever read.
package framing

import (
	"io"
	"net"
)

// fault is the text that the server reads in place of a line that is refused. It is not valid in a request line, header field or chunk,
// wherever it starts.
const fault = "\x00\r\n\x00\r\n\r\n"

// Listen returns a listener whose connections are strict. With http2, a connection may also start with the preface of HTTP/2, and is
// then left alone. Without it, the server behind the listener must not speak HTTP/2.
func Listen(l net.Listener, http2 bool) net.Listener { return &listener{l, http2} }

type listener struct {
	net.Listener
	http2 bool
}

// Accept returns the next connection.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, scanner: scanner{http2: l.http2}}, nil
}

type conn struct {
	net.Conn
	scanner scanner
	told    int // bytes of fault that the server has read
}

// Read returns the bytes up to the first fault. As with every net.Conn under net/http, one goroutine reads at a time.
func (c *conn) Read(p []byte) (int, error) {
	if c.scanner.at == refused {
		return c.refuse(p)
	}
	n, err := c.Conn.Read(p)
	if c.scanner.at == passing || n <= 0 {
		return n, err
	}
	passed := c.scanner.scan(p[:n])
	if passed == 0 {
		return c.refuse(p)
	}
	if passed < n {
		err = nil
	}
	return passed, err
}

func (c *conn) refuse(p []byte) (int, error) {
	n := copy(p, fault[c.told:])
	c.told += n
	if n == 0 && len(p) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// NetConn returns the connection below. Package tls has a method of this name for it.
func (c *conn) NetConn() net.Conn { return c.Conn }

// CloseWrite ends the answer while the caller still sends, so that the caller can read it. net/http looks for this method.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}
