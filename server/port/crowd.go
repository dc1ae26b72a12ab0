package port

import (
	"bytes"
	"container/list"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/svc-observability/svc/server/limits"
)

// crowd is a listener that bounds the open connections of all addresses and of each address, so that the process has descriptors left
// for its files, and one address leaves connections to the others.
//
// A connection is idle while no request of it is in progress: before the end of its first header, and between two requests. When a bound
// is reached, the connection that is idle for the longest time gives way to the new one. If none is idle, the new one is closed.
type crowd struct {
	net.Listener
	each, all int // each is 0 if an address has only the bound of a crowded port

	mu   sync.Mutex
	open int
	of   map[string]*callers
	idle list.List // of *member, from the one that is idle for the longest time
}

// callers are the connections of one address.
type callers struct {
	open int
	idle list.List // as crowd.idle
}

func newCrowd(l net.Listener, each, all int) *crowd {
	return &crowd{Listener: l, each: each, all: all, of: map[string]*callers{}}
}

// Accept returns the next connection within the bounds.
func (c *crowd) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		m := &member{Conn: conn, crowd: c, address: address}
		leaves, ok := c.enter(m)
		if leaves != nil {
			_ = leaves.Conn.Close()
		}
		if ok {
			return m, nil
		}
		_ = conn.Close()
	}
}

// enter counts a connection, or reports that there is no place for it. The caller closes the connection that leaves for it.
func (c *crowd) enter(m *member) (leaves *member, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.of[m.address]
	if own == nil {
		own = &callers{}
	}
	var from *list.List
	switch {
	case own.open >= c.bound():
		from = &own.idle
	case c.open >= c.all:
		from = &c.idle
	}
	if from != nil {
		oldest := from.Front()
		if oldest == nil {
			return nil, false
		}
		leaves = oldest.Value.(*member)
		c.remove(leaves)
	}
	c.of[m.address] = own
	c.open++
	own.open++
	c.rest(m)
	return leaves, true
}

// bound is how many connections one address may have now. It requires c.mu.
func (c *crowd) bound() int {
	bound := c.all
	if c.open >= c.all*limits.ConnectionsCrowded/100 {
		bound = max(1, c.all*limits.ConnectionsShare/100)
	}
	if c.each > 0 {
		bound = min(bound, c.each)
	}
	return bound
}

// rest notes that a connection is idle from now on. It requires c.mu.
func (c *crowd) rest(m *member) {
	if !m.gone && m.inAll == nil {
		m.inAll, m.inOwn = c.idle.PushBack(m), c.of[m.address].idle.PushBack(m)
	}
}

// wake notes that a request of the connection is in progress. It requires c.mu.
func (c *crowd) wake(m *member) {
	if m.inAll != nil {
		c.idle.Remove(m.inAll)
		c.of[m.address].idle.Remove(m.inOwn)
		m.inAll, m.inOwn = nil, nil
	}
}

// remove counts a connection no more. It requires c.mu.
func (c *crowd) remove(m *member) {
	if m.gone {
		return
	}
	c.wake(m)
	m.gone = true
	c.open--
	own := c.of[m.address]
	if own.open--; own.open == 0 {
		delete(c.of, m.address)
	}
}

// member is a connection that counts until it is closed.
type member struct {
	net.Conn
	crowd   *crowd
	address string
	// inAll and inOwn are the places in the lists of the crowd and of the address while the connection is idle. The mutex of the crowd
	// guards them and gone.
	inAll, inOwn *list.Element
	gone         bool
	// begun says that an answer has begun since the connection was idle. framed says that the connection speaks HTTP/2: its first bytes
	// are no answer of HTTP/1, and later ones may be any part of a frame.
	begun, framed atomic.Bool
}

// Write puts X-Content-Type-Options into an answer that has none. net/http answers a request that it cannot read without a handler, and
// writes such an answer at once. A header that does not end in p is one of a handler: it is longer than the buffer of net/http, and
// noSniff has put X-Content-Type-Options into it, perhaps after the end of p. An answer begins with the first write after the connection
// was idle, so no bytes of a body are taken for one.
func (m *member) Write(p []byte) (int, error) {
	if m.framed.Load() || m.begun.Load() || bytes.HasPrefix(p, []byte("HTTP/1.1 1")) { // "100 Continue" comes before an answer
		return m.Conn.Write(p)
	}
	m.begun.Store(true)
	if !bytes.HasPrefix(p, []byte("HTTP/1.")) {
		m.framed.Store(true)
		return m.Conn.Write(p)
	}
	head, _, whole := bytes.Cut(p, []byte("\r\n\r\n"))
	line, _, _ := bytes.Cut(head, []byte("\r\n"))
	if !whole || bytes.Contains(head, []byte("\r\n"+noSniffName+":")) {
		return m.Conn.Write(p)
	}
	n, err := m.Conn.Write(slices.Concat(line, []byte("\r\n"+noSniffName+": nosniff"), p[len(line):]))
	if err == nil {
		return len(p), nil
	}
	return min(n, len(line)), err
}

// Close closes the connection.
func (m *member) Close() error {
	m.crowd.mu.Lock()
	m.crowd.remove(m)
	m.crowd.mu.Unlock()
	return m.Conn.Close()
}

// CloseWrite ends the answer while the caller still sends. net/http looks for this method when it refuses a request.
func (m *member) CloseWrite() error {
	if half, ok := m.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// NoteState is the hook of an http.Server whose listener is a crowd. net/http calls a connection active once it has a whole header, or
// a stream of HTTP/2, and idle once all answers are written.
func NoteState(conn net.Conn, state http.ConnState) {
	m := memberOf(conn)
	if m == nil {
		return
	}
	m.crowd.mu.Lock()
	defer m.crowd.mu.Unlock()
	switch state {
	case http.StateActive:
		m.crowd.wake(m)
	case http.StateIdle:
		m.begun.Store(false)
		m.crowd.rest(m)
	default: // a new connection is idle, and a closed one is removed by Close
	}
}

func memberOf(conn net.Conn) *member {
	for {
		switch c := conn.(type) {
		case *member:
			return c
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}
