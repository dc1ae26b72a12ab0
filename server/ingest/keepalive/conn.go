package keepalive

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// lingering is how long a dismissed client may take to read why: closing at once, with its last bytes unread, could destroy the GOAWAY on
// its way.
const lingering = time.Second

// conn is a connection of which one goroutine reads and one writes at a time, as HTTP/2 does.
type conn struct {
	net.Conn
	policy *Policy

	// What the reader knows: how much of the preface has come, or that there is none, and so nothing to follow.
	in       follower
	greeted  int
	foreign  bool
	lastPing time.Time
	strikes  int

	// lastStream is the newest stream of the client.
	lastStream atomic.Uint32
	// answered is set when the server writes of a stream: whoever is answered may ping, for example to measure the line.
	answered atomic.Bool
	// dismissed is set when the client has to go; said when it was told.
	dismissed, said atomic.Bool

	writing sync.Mutex
	out     follower
}

// Read reads as the connection does. Once the client is dismissed there is nothing more to read.
func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.said.Load() {
		return 0, c.drain(p, err)
	}
	if n > 0 && !c.foreign && !c.dismissed.Load() && c.tooManyPings(p[:n]) {
		c.policy.Logger.Debug("grpc client pings too often, connection ends", "remote", c.RemoteAddr().String())
		c.dismissed.Store(true)
		c.sayGoAway()
	}
	return n, err
}

// drain reads what the client still sends until it is gone or its time is over.
func (c *conn) drain(p []byte, err error) error {
	for err == nil {
		_, err = c.Conn.Read(p)
	}
	return io.EOF
}

// tooManyPings follows what the client sent.
func (c *conn) tooManyPings(p []byte) bool {
	if c.greeted < len(preface) {
		n := min(len(preface)-c.greeted, len(p))
		if string(p[:n]) != preface[c.greeted:c.greeted+n] {
			c.foreign = true
			return false
		}
		c.greeted += n
		p = p[n:]
	}
	for {
		rest, f, ok := c.in.next(p)
		if !ok {
			return false
		}
		p = rest
		switch {
		case f.kind == frameHeaders && f.stream > c.lastStream.Load():
			c.lastStream.Store(f.stream)
		case f.kind == framePing && f.flags&flagAck == 0 && c.strike(time.Now()):
			return true
		}
	}
}

// strike counts a ping, and reports whether it is one too many.
func (c *conn) strike(now time.Time) bool {
	early := now.Sub(c.lastPing) < c.policy.MinInterval-c.policy.MinInterval/10
	c.lastPing = now
	switch {
	case c.answered.Swap(false):
		c.strikes = 0
	case early:
		c.strikes++
	}
	return c.strikes > c.policy.MaxStrikes
}

// Write writes as the connection does. To a client that was told to go, nothing is written any more.
func (c *conn) Write(p []byte) (int, error) {
	n, err := c.write(p)
	if err == nil && c.dismissed.Load() {
		c.sayGoAway() // who dismissed the client may have found this goroutine in the middle of a frame
	}
	return n, err
}

func (c *conn) write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.said.Load() {
		return len(p), nil
	}
	q := p
	if c.dismissed.Load() {
		q = p[:c.out.untilEnd(p)] // the rest of the frame that has begun
	}
	n, err := c.Conn.Write(q)
	for rest := q[:n]; ; {
		var f frame
		var ok bool
		if rest, f, ok = c.out.next(rest); !ok {
			break
		}
		if (f.kind == frameData || f.kind == frameHeaders) && !c.answered.Load() {
			c.answered.Store(true)
		}
	}
	if err != nil {
		return n, err
	}
	return len(p), nil
}

// sayGoAway tells the client, unless a frame is being written: then whoever writes does it behind that frame.
func (c *conn) sayGoAway() {
	if !c.writing.TryLock() {
		return
	}
	defer c.writing.Unlock()
	if c.said.Load() || !c.out.atEnd() {
		return
	}
	deadline := time.Now().Add(lingering)
	_ = c.SetDeadline(deadline) // fails only when the connection is closed
	_, _ = c.Conn.Write(appendGoAway(nil, c.lastStream.Load()))
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // likewise
	}
	c.said.Store(true)
}
