package port

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// patientServer answers three paths. /echo returns the length of the body. /large returns more than the buffers of a connection
// hold. /stream returns five parts, which together take longer than the time limit of one part.
func patientServer(t *testing.T, body, answer time.Duration) (s *httptest.Server, failed *atomic.Int64) {
	failed = &atomic.Int64{}
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			failed.Add(1)
			http.Error(w, "slow", http.StatusRequestTimeout)
			return
		}
		// The time for the body must not end the request afterwards.
		select {
		case <-time.After(2 * body):
			fmt.Fprint(w, n)
		case <-r.Context().Done():
			failed.Add(1)
		}
	})
	mux.HandleFunc("/large", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 64<<20)); err != nil {
			failed.Add(1)
		}
	})
	mux.HandleFunc("/stream", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 5 {
			fmt.Fprintln(w, i)
			w.(http.Flusher).Flush()
			time.Sleep(answer * 3 / 2)
		}
	})
	s = httptest.NewUnstartedServer(patient(mux, body, answer))
	s.Config.Protocols = &http.Protocols{}
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	t.Cleanup(s.Close)
	return s, failed
}

func clients() map[string]*http.Client {
	two := &http.Protocols{}
	two.SetUnencryptedHTTP2(true)
	return map[string]*http.Client{"HTTP/1.1": {Transport: &http.Transport{}}, "HTTP/2": {Transport: &http.Transport{Protocols: two}}}
}

// slowReader returns one byte after each pause.
type slowReader struct {
	pause time.Duration
	left  int
}

func (r *slowReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	r.left--
	time.Sleep(r.pause)
	p[0] = 'x'
	return 1, nil
}

// TestSlowBodies: a body that arrives too slowly is cut off. The answer to a complete body may take any time. A large body has
// more time.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	s, failed := patientServer(t, 2*time.Second, time.Minute)
	for name, c := range clients() {
		failed.Store(0)
		begun := time.Now()
		res, err := c.Post(s.URL+"/echo", "", &slowReader{pause: 50 * time.Millisecond, left: 1000})
		if err == nil {
			_ = res.Body.Close()
		}
		if took := time.Since(begun); failed.Load() != 1 || took > 30*time.Second {
			t.Errorf("%s: a slow body ended %d times, after %s", name, failed.Load(), took)
		}
		for size, r := range map[int]io.Reader{
			5:       strings.NewReader("whole"),
			200_000: io.MultiReader(strings.NewReader(strings.Repeat("x", 199_990)), &slowReader{pause: 50 * time.Millisecond, left: 10}),
		} {
			failed.Store(0)
			res, err := c.Post(s.URL+"/echo", "", r)
			if err != nil {
				t.Fatalf("%s: %d bytes: %v", name, size, err)
			}
			text, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if err != nil || string(text) != fmt.Sprint(size) || failed.Load() != 0 {
				t.Errorf("%s: %d bytes: %q, %v", name, size, text, err)
			}
		}
		c.CloseIdleConnections()
	}
}

// TestStreamsGoOn: each part of an answer has a time limit of its own.
func TestStreamsGoOn(t *testing.T) {
	t.Parallel()
	s, _ := patientServer(t, time.Minute, 200*time.Millisecond)
	for name, c := range clients() {
		res, err := c.Get(s.URL + "/stream")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || string(text) != "0\n1\n2\n3\n4\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		c.CloseIdleConnections()
	}
}

// TestCallersThatDoNotRead: if a caller does not read the answer, the answer is cut off and the handler ends.
func TestCallersThatDoNotRead(t *testing.T) {
	t.Parallel()
	s, failed := patientServer(t, time.Minute, 300*time.Millisecond)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
	for end := time.Now().Add(10 * time.Second); failed.Load() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the answer does not end")
		}
	}
	// HTTP/2: the client holds its window shut by not reading the body.
	c := clients()["HTTP/2"]
	defer c.CloseIdleConnections()
	res, err := c.Get(s.URL + "/large")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	for end := time.Now().Add(10 * time.Second); failed.Load() == 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the answer over HTTP/2 does not end")
		}
	}
}
