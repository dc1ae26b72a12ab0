package framing

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// BenchmarkScan follows requests as an exporter and a client of the API send them.
func BenchmarkScan(b *testing.B) {
	for name, head := range map[string]string{"ingest": exporterHead(2000), "read": readHead} {
		input := []byte(head + strings.Repeat("x", map[string]int{"ingest": 2000}[name]))
		b.Run(name, func(b *testing.B) {
			s := &scanner{}
			b.ReportAllocs()
			for b.Loop() {
				if s.scan(input) != len(input) || s.at != requestLine {
					b.Fatal("refused")
				}
			}
		})
	}
}

const readHead = "GET /v2/services?start_time=2026-11-22T00:00:00Z&end_time=2026-11-23T00:00:00Z HTTP/1.1\r\nHost: api.example.com\r\n" +
	"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\nAccept: application/json\r\n" +
	"Authorization: Bearer svc_0123456789abcdef0123456789abcdef\r\nAccept-Encoding: gzip, deflate, br\r\nX-Request-Id: 0123456789\r\n\r\n"

func exporterHead(n int) string {
	return fmt.Sprintf("POST /v1/traces HTTP/1.1\r\nHost: ingest.example.com:4318\r\nUser-Agent: "+
		"OTel-OTLP-Exporter-Go/1.38.0\r\nContent-Length: %d\r\n"+
		"Authorization: Bearer svc_0123456789abcdef0123456789abcdef\r\nContent-Encoding: gzip\r\nContent-Type: application/x-protobuf\r\n"+
		"Accept-Encoding: gzip\r\n\r\n", n)
}

// BenchmarkServe sends one request after the other over loopback to a handler that reads the body.
func BenchmarkServe(b *testing.B) {
	for _, strict := range []bool{false, true} {
		for name, request := range map[string]string{"ingest": exporterHead(2000) + strings.Repeat("x", 2000), "read": readHead} {
			b.Run(fmt.Sprintf("%s/strict=%t", name, strict), func(b *testing.B) {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					b.Fatal(err)
				}
				if strict {
					l = Listen(l, false)
				}
				s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					w.WriteHeader(http.StatusNoContent)
				})}
				go func() { _ = s.Serve(l) }()
				defer s.Close()
				c, err := net.Dial("tcp", l.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close()
				r := bufio.NewReader(c)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := io.WriteString(c, request); err != nil {
						b.Fatal(err)
					}
					for line := ""; line != "\r\n"; {
						if line, err = r.ReadString('\n'); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
