package ingest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest"
)

// TestRefusalReachesSenderThatDoesNotListen: many clients send their whole body before they read the answer. A client with a body
// that is too large gets 413, not a broken connection. Exporters would take a broken connection as a reason to send the body
// again.
func TestRefusalReachesSenderThatDoesNotListen(t *testing.T) {
	const limit = 8 << 20 // more than socket buffers hold
	f := newFixture(t, ingest.Limits{Body: limit}, nil)
	s := httptest.NewServer(f.HTTPHandler())
	defer s.Close()
	body := make([]byte, limit+limit/2)
	chunked := func(c net.Conn) error {
		_, err := fmt.Fprintf(c, "Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(body), body)
		return err
	}
	for name, send := range map[string]func(net.Conn) error{
		"declared": func(c net.Conn) error {
			_, err := fmt.Fprintf(c, "Content-Length: %d\r\n\r\n%s", len(body), body)
			return err
		},
		"chunked":              chunked,
		"chunk of a recording": chunked,
	} {
		path := map[string]string{"declared": "/v1/traces", "chunked": "/v1/traces", "chunk of a recording": pathBlob}[name]
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			var head bytes.Buffer
			fmt.Fprintf(&head, "POST %s HTTP/1.1\r\nHost: svc\r\nAuthorization: Bearer %s\r\n", path, goodKey)
			if _, err := c.Write(head.Bytes()); err != nil {
				t.Fatal(err)
			}
			if err := send(c); err != nil {
				t.Fatalf("the connection broke while the body was sent: %v", err)
			}
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != http.StatusRequestEntityTooLarge {
				t.Errorf("status %d", res.StatusCode)
			}
		})
	}
}
