package ingest_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// FuzzExport sends arbitrary data through the HTTP door. Every answer follows the contract, and data answered with 200 can be
// read back from the queue.
func FuzzExport(f *testing.F) {
	f.Add("/v1/traces", "application/x-protobuf", "gzip", gzipped(f, wire(f, spans(2))))
	f.Add("/v1/traces", "application/json", "", []byte(spanJSON()))
	f.Add("/v1/logs", "", "identity", wire(f, logRecords()))
	f.Add("/v1/metrics", "application/octet-stream", "", wire(f, points()))
	f.Add("/v1/metrics", "text/plain", "br", []byte("hello"))
	f.Fuzz(func(t *testing.T, path, media, encoding string, body []byte) {
		if path == "" || path[0] != '/' || len(path) > 200 || bytes.ContainsAny([]byte(path), "\x00 \r\n?#%\x7f") {
			path = "/v1/traces"
		}
		g := newFixture(t, ingest.Limits{Body: 1 << 20, Decompressed: 1 << 20}, nil)
		r, err := http.NewRequest("POST", "http://ingest"+path, nil)
		if err != nil {
			return
		}
		res := g.do("POST", r.URL.RequestURI(), body, "Authorization", "Bearer "+goodKey, "Content-Type", media, "Content-Encoding", encoding)
		switch res.StatusCode {
		case 200, 400, 404, 413, 415:
		default:
			t.Fatalf("%d: %s", res.StatusCode, text(t, res.Body))
		}
		_, rows := g.queue.count()
		if res.StatusCode != 200 && rows > 0 {
			t.Fatalf("%d, and %d rows were stored", res.StatusCode, rows)
		}
		if got := g.decoded(t); got != rows {
			t.Fatalf("%d rows were stored, %d are read back", rows, got)
		}
	})
}

// FuzzActivity sends arbitrary data through the endpoints for payloads other than OTLP. Every answer follows the contract, and
// data answered with 200 can be read back from the queue.
func FuzzActivity(f *testing.F) {
	for path, body := range lines {
		f.Add(path, "application/x-ndjson", "", "s_1", "0", []byte(body))
	}
	chunk := gzipped(f, []byte(recording))
	f.Add(pathBlob, "application/octet-stream", "", "s_1", "3", chunk)
	f.Add(pathBlob, "", "", "", "x", append(bytes.Clone(chunk), "x"...))
	f.Add(pathEvents, "text/plain", "gzip", "", "", append(gzipped(f, []byte(lines[pathEvents])), chunk...))
	f.Fuzz(func(t *testing.T, path, media, encoding, session, seq string, body []byte) {
		if lines[path] == "" {
			path = pathBlob
		}
		g := newFixture(t, ingest.Limits{Body: 1 << 20, Decompressed: 1 << 20, Recording: 1 << 20}, nil)
		res := g.send(path, body, "Content-Type", media, "Content-Encoding", encoding, "x-svc-session-id", session, "x-svc-chunk-seq", seq)
		switch res.StatusCode {
		case 200, 400, 413, 415:
		default:
			t.Fatalf("%d: %s", res.StatusCode, text(t, res.Body))
		}
		_, rows := g.queue.count()
		if res.StatusCode != 200 && rows > 0 {
			t.Fatalf("%d, and %d rows were stored", res.StatusCode, rows)
		}
		if got := g.decoded(t); got != rows {
			t.Fatalf("%d rows were stored, %d are read back", rows, got)
		}
		// A request with the test key always succeeds, and stores nothing.
		res = g.do("POST", path, body, append(bearer(ingest.TestKey), "Content-Type", media, "Content-Encoding", encoding, "x-svc-session-id",
			session, "x-svc-chunk-seq", seq)...)
		if _, after := g.queue.count(); res.StatusCode != 200 || after != rows {
			t.Fatalf("the test key: %d, and %d rows", res.StatusCode, after-rows)
		}
	})
}

// FuzzGunzip compares the bounded decompression with compress/gzip: both refuse the body, or the stored records are those that
// compress/gzip gives. An empty body is an empty request in any encoding.
func FuzzGunzip(f *testing.F) {
	one := gzipped(f, wire(f, logRecords()))
	f.Add(one)
	f.Add(append(bytes.Clone(one), one...))
	f.Add(one[:len(one)-5])
	f.Add(gzipped(f, make([]byte, 200<<10)))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		const limit = 64 << 10
		var plain []byte
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err == nil {
			plain, err = io.ReadAll(io.LimitReader(z, limit+1))
		}
		packed, unpacked := newFixture(t, ingest.Limits{Decompressed: limit}, nil),
			newFixture(t, ingest.Limits{Body: limit, Decompressed: limit}, nil)
		got := packed.do("POST", "/v1/logs", body, "Authorization", "Bearer "+goodKey, "Content-Encoding", "gzip").StatusCode
		want := unpacked.do("POST", "/v1/logs", plain, "Authorization", "Bearer "+goodKey).StatusCode
		if err != nil {
			want = 400
			if got == 413 && len(plain) <= limit {
				t.Fatalf("413 for a body of %d bytes that is damaged", len(plain))
			}
		}
		_, rows := packed.queue.count()
		_, wantRows := unpacked.queue.count()
		if err != nil {
			wantRows = 0
		}
		if got != want || rows != wantRows {
			t.Fatalf("status %d with %d rows, compress/gzip (%v) gives %d with %d", got, rows, err, want, wantRows)
		}
	})
}

// FuzzDecodeRecord reads damaged records. An error leaves the set unchanged.
func FuzzDecodeRecord(f *testing.F) {
	for _, h := range headers() {
		f.Add(h.Append(nil), wire(f, spans(1)))
	}
	gz := ingest.RecordHeader{Origin: otlp.Origin{Org: "o"}, Signal: otlp.Logs, Encoding: ingest.EncodingGzip}
	f.Add(gz.Append(nil), gzipped(f, wire(f, logRecords())))
	d, err := ingest.NewDecoder()
	if err != nil {
		f.Fatal(err)
	}
	var set blocks.Set
	f.Fuzz(func(t *testing.T, header, payload []byte) {
		set.Reset()
		if err := d.DecodeRecord(header, payload, &set); err != nil && set.Rows() > 0 {
			t.Fatalf("%v, and %d rows", err, set.Rows())
		}
	})
}
