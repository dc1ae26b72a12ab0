package e2e

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// smuggling sends requests that two servers could read in two ways, each with a second request behind it. The second must not be
// answered, and the connection must close.
func (a *attack) smuggling(t *testing.T) {
	const (
		chunked = "Transfer-Encoding: chunked\r\n\r\n"
		second  = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	)
	head := "POST /v1/logs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + a.attacker.PrivateKey + "\r\n"
	for _, url := range []string{a.p.BaseURL, a.p.IngestURL} {
		for name, rest := range map[string]string{
			"two lengths":                "Content-Length: 5\r\nContent-Length: 6\r\n\r\n0\r\n\r\n",
			"a sign in the length":       "Content-Length: +5\r\n\r\n0\r\n\r\n",
			"a list of lengths":          "Content-Length: 5, 6\r\n\r\n0\r\n\r\n",
			"a length and a coding":      "Content-Length: 20\r\n" + chunked + "0\r\n\r\n",
			"a coding and a length":      "Transfer-Encoding: chunked\r\nContent-Length: 20\r\n\r\n0\r\n\r\n",
			"a blank before a colon":     "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
			"a folded coding":            "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
			"an unknown coding":          "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
			"a NUL in a header":          "X-A: \x00\r\n\r\n",
			"a bare line feed":           "X-A: b\nContent-Length: 0\r\n\r\n",
			"a bare carriage return":     "X-A: b\rContent-Length: 5\r\n\r\n",
			"a folded line":              "X-A: b\r\n c\r\n\r\n",
			"a prefix of a chunk size":   chunked + "0x0\r\n\r\n",
			"a bare line feed, chunk":    chunked + "0\n\r\n",
			"a bare line feed, trailers": chunked + "0\r\nX-A: b\n\n",
			"a length in the trailers":   chunked + "0\r\nContent-Length: 5\r\n\r\n",
		} {
			begun := time.Now()
			text := sendBytes(t, url, head+rest+second)
			want := "HTTP/1.1 400"
			switch {
			case name == "an unknown coding":
				want = "HTTP/1.1 501"
			case strings.HasPrefix(rest, chunked): // the endpoint may answer before it reads the body
				want = "HTTP/1.1 4"
			}
			if n := bytes.Count(text, []byte("HTTP/1.1 ")); n != 1 || !bytes.HasPrefix(text, []byte(want)) || time.Since(begun) > 5*time.Second {
				t.Errorf("%s at %s: %d answers after %s: %.60q", name, url, n, time.Since(begun), text)
			}
			if !bytes.Contains(text, []byte("\r\nX-Content-Type-Options: nosniff\r\n")) {
				t.Errorf("%s at %s: nosniff is missing: %q", name, url, text)
			}
		}
		for name, request := range map[string]string{
			"no request line":        "nothing\r\n\r\n",
			"no host":                "GET /v2/session HTTP/1.1\r\n\r\n",
			"an unknown version":     "GET /v2/session HTTP/3.0\r\nHost: x\r\n\r\n",
			"a large header":         "GET /v2/session HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("x", 80<<10) + "\r\n\r\n",
			"an unknown expectation": "GET /v2/session HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n",
			"options of the server":  "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		} {
			text := sendBytes(t, url, request)
			if bytes.Count(text, []byte("\r\nX-Content-Type-Options: nosniff\r\n")) != 1 {
				t.Errorf("%s at %s: %q", name, url, text)
			}
		}
		// Requests that are strict share a connection, however they give their length.
		text := sendBytes(t, url, head+chunked+"2;a=b\r\n{}\r\n0\r\nX-A: b\r\n\r\n"+head+"Content-Length: 2\r\n\r\n{}"+
			"GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
		if n := bytes.Count(text, []byte("HTTP/1.1 ")); n != 3 {
			t.Errorf("three strict requests at %s: %q", url, text)
		}
	}
}

// sendBytes sends bytes on a connection of their own, and returns everything that comes back until the connection closes.
func sendBytes(t *testing.T, url, request string) []byte {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	text, _ := io.ReadAll(conn)
	return text
}
