package port

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/framing"
)

// crowded starts a server behind a crowd. Requests of /wait end when the test ends.
func crowded(t *testing.T, each, all int) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{
		ConnState: NoteState, Protocols: protocols, ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/wait" {
				w.WriteHeader(http.StatusOK)
				_ = http.NewResponseController(w).Flush()
				<-r.Context().Done()
			}
		}),
	}
	go func() { _ = s.Serve(framing.Listen(newCrowd(ln, each, all), true)) }()
	t.Cleanup(func() { _ = s.Close() })
	return ln.Addr().String()
}

// visitor is a connection from an address of this machine.
type visitor struct {
	net.Conn
	r *bufio.Reader
}

func visit(t *testing.T, from, to string) *visitor {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(t.Context(), "tcp", to)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &visitor{conn, bufio.NewReader(conn)}
}

// get reports whether a request is answered. It reads the header of the answer.
func (v *visitor) get(path string) bool {
	fmt.Fprintf(v, "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path)
	ok := false
	for {
		line, err := v.r.ReadString('\n')
		if err != nil || line == "\r\n" {
			return ok && err == nil
		}
		ok = ok || strings.HasPrefix(line, "HTTP/1.1 200")
	}
}

// closed reports whether the server has closed the connection.
func (v *visitor) closed() bool {
	_ = v.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	_, err := v.r.ReadByte()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// TestCrowdGivesWay: on a full port, the connection that is idle for the longest time gives way: one that has sent nothing, half a
// header, or a whole request that is answered. Connections with a request in progress stay.
func TestCrowdGivesWay(t *testing.T) {
	t.Parallel()
	to := crowded(t, 0, 6)
	busy := visit(t, "127.0.0.1", to)
	if !busy.get("/wait") {
		t.Fatal("the first request is not answered")
	}
	silent, half, rested := visit(t, "127.0.0.2", to), visit(t, "127.0.0.3", to), visit(t, "127.0.0.4", to)
	fmt.Fprint(half, "GET / HTTP/1.1\r\nHost: x\r\n")
	if !rested.get("/") {
		t.Fatal("a request is not answered")
	}
	two := visit(t, "127.0.0.5", to)
	fmt.Fprint(two, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	if _, err := two.r.Peek(9); err != nil { // its settings
		t.Fatal(err)
	}
	last := visit(t, "127.0.0.6", to)
	if !last.get("/wait") {
		t.Fatal("the last place is not served")
	}
	for i, v := range []*visitor{silent, half, rested, two} {
		next := visit(t, fmt.Sprintf("127.0.0.%d", 10+i), to)
		if !next.get("/wait") {
			t.Errorf("connection %d is not served on a full port", 7+i)
		}
		if !eventuallyClosed(v) {
			t.Errorf("idle connection %d stays", 2+i)
		}
	}
	if next := visit(t, "127.0.0.20", to); next.get("/") {
		t.Error("a connection is served beyond the bound")
	}
	if busy.closed() || last.closed() {
		t.Error("a connection with a request in progress is closed")
	}
	_ = busy.Close()
	for end := time.Now().Add(5 * time.Second); !visit(t, "127.0.0.21", to).get("/"); {
		if time.Now().After(end) {
			t.Fatal("a closed connection makes no room")
		}
	}
}

// eventuallyClosed waits for the end of a connection, and passes over what the server still says (frames of HTTP/2).
func eventuallyClosed(v *visitor) bool {
	_ = v.SetReadDeadline(time.Now().Add(5 * time.Second))
	for {
		if _, err := v.r.ReadByte(); err != nil {
			return !errors.Is(err, os.ErrDeadlineExceeded)
		}
	}
}

// TestCrowdShares: while a port is crowded, an address with half of the connections or more gets a new one only in place of an idle one
// of its own, never of another address. Before the port is crowded, it may have more. A fixed bound of an address holds always.
func TestCrowdShares(t *testing.T) {
	t.Parallel()
	to := crowded(t, 0, 8)
	other := visit(t, "127.0.0.2", to)
	if !other.get("/") {
		t.Fatal("a request is not answered")
	}
	var own []*visitor
	for i := range 5 { // one more than half: the port is not crowded yet
		v := visit(t, "127.0.0.1", to)
		if !v.get("/wait") {
			t.Fatalf("connection %d of an address is not served", i+1)
		}
		own = append(own, v)
	}
	if v := visit(t, "127.0.0.1", to); v.get("/") {
		t.Error("one address has more than half of a crowded port")
	}
	if v := visit(t, "127.0.0.3", to); !v.get("/") {
		t.Error("another address is not served")
	}
	if other.closed() {
		t.Error("the idle connection of another address gave way")
	}
	for _, v := range own {
		if v.closed() {
			t.Error("a connection with a request in progress is closed")
		}
	}

	to = crowded(t, 2, 8)
	first := visit(t, "127.0.0.1", to)
	if !first.get("/") {
		t.Fatal("a request is not answered")
	}
	second, third := visit(t, "127.0.0.1", to), visit(t, "127.0.0.1", to)
	if !second.get("/wait") || !third.get("/wait") || !eventuallyClosed(first) {
		t.Error("the idle connection of an address does not give way to its third one")
	}
	if visit(t, "127.0.0.1", to).get("/") {
		t.Error("an address has more connections than its bound")
	}
}

// TestNoSniffEverywhere: answers of net/http itself have the header, also behind an answer of a handler, and bytes of a body are left
// alone. An answer whose headers are longer than the buffer of net/http has the header once.
func TestNoSniffEverywhere(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	looksLikeAnAnswer := strings.Repeat("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n", 1000)
	s := &http.Server{ConnState: NoteState, Handler: noSniff(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/long" {
			w.Header().Set("A-Long-Text", strings.Repeat("a", 6000)) // net/http writes it before the header of noSniff
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(looksLikeAnAnswer)))
		_, _ = io.WriteString(w, looksLikeAnAnswer)
	}))}
	go func() { _ = s.Serve(framing.Listen(newCrowd(ln, 0, 10), false)) }()
	defer s.Close()
	c := visit(t, "127.0.0.1", ln.Addr().String())
	for _, request := range []string{
		"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi",
		"GET /long HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
	} {
		if _, err := io.WriteString(c, request); err != nil {
			t.Fatal(err)
		}
		res, err := http.ReadResponse(c.r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode == http.StatusContinue {
			if res, err = http.ReadResponse(c.r, nil); err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(res.Body)
		if err != nil || len(res.Header["X-Content-Type-Options"]) != 1 {
			t.Errorf("%q: %d %v %v", request, res.StatusCode, res.Header, err)
		}
		if res.StatusCode == http.StatusOK && string(text) != looksLikeAnAnswer {
			t.Errorf("%q: the body is changed", request)
		}
		if strings.Contains(request, "Host") != (res.StatusCode == http.StatusOK) {
			t.Errorf("%q: %d", request, res.StatusCode)
		}
	}
}
