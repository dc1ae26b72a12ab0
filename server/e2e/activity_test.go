package e2e

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/testkit"
)

// sendActivity posts a body to an ingest endpoint and returns the answer to a success.
func sendActivity(t *testing.T, p *testkit.Process, path string, body []byte, headers ...string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.IngestURL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-svc-ingest-key", p.PublicKey)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	status, answer := roundTrip(t, req)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, answer)
	}
	return string(answer)
}

// TestActivityIsKept sends to every endpoint other than OTLP, kills the server as soon as it has acknowledged, and reads the rows
// from the restarted server. Each must be there once.
func TestActivityIsKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir)
	now := time.Now().UTC().Add(-time.Minute).Format("2006-01-02 15:04:05.000")
	recording := `[{"type":4,"data":{"href":"https://shop.example/"},"timestamp":1}]`
	var chunk bytes.Buffer
	zw := gzip.NewWriter(&chunk)
	if _, err := zw.Write([]byte(recording)); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	// One request of the largest allowed size, with bytes that do not compress.
	large := []byte(`[{"data":"` + strings.NewReplacer(`"`, "-", `\`, "-").Replace(noise(15<<20)) + `"}]`)
	var stored bytes.Buffer
	zw = gzip.NewWriter(&stored)
	if _, err := zw.Write(large); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	sendActivity(t, p, "/v1/sessionReplays/blob", stored.Bytes(), "x-svc-session-id", "large", "x-svc-chunk-seq", "0")
	const rounds = 3
	for round := range rounds {
		session := fmt.Sprintf("session-%d", round)
		for path, body := range map[string]string{
			"/v1/sessionReplays/meta": `{"session_id":"` + session + `","start_time":"` + now + `","status":"active"}` + "\n" + `{"session_id":"` +
				session + `","start_time":"` + now + `","status":"ended","version":2}`,
			"/v1/sessionEvents": `{"session_id":"` + session + `","timestamp":"` + now +
				`","seq":1,"type":"navigation","url":"https://shop.example/cart"}` + "\n" +
				`{"session_id":"` + session + `","timestamp":"` + now + `","seq":2,"type":"click"}`,
			"/v1/events": `{"name":"order placed","timestamp":"` + now + `","session_id":"` + session + `"}` + "\n" +
				`{"name":"refund","session_id":"` + session + `"}`,
		} {
			if got := sendActivity(t, p, path, []byte(body), "Content-Type", "application/x-ndjson"); got != `{"accepted":2}` {
				t.Errorf("%s: %s", path, got)
			}
		}
		if got := sendActivity(t, p, "/v1/sessionReplays/blob", chunk.Bytes(), "Content-Type", "application/octet-stream", "x-svc-session-id",
			session, "x-svc-chunk-seq", "0", "x-svc-is-checkpoint", "1", "x-svc-event-count", "1", "x-svc-duration-ms", "5000"); got != "" {
			t.Errorf("chunk: %q", got)
		}
		p.Kill()
		p = testkit.StartProcess(t, dir)
	}
	waitFlushed(t, p)
	var want strings.Builder
	for round := range rounds {
		fmt.Fprintf(&want, "chunk\tsession-%d\t0\t1\t%d\t%X\t1\n", round, len(recording), chunk.Bytes())
	}
	for sql, rows := range map[string]string{
		`SELECT 'chunk', SessionId, ChunkSeq, IsCheckpoint = true, ByteSize, hex(Payload), count() FROM session_replay_events WHERE SessionId != 'large' GROUP BY ALL ORDER BY SessionId`:      want.String(),
		`SELECT SessionId, Status, Version FROM session_replays FINAL ORDER BY SessionId`:                                                                                                      "session-0\tended\t2\nsession-1\tended\t2\nsession-2\tended\t2\n",
		`SELECT Type, count(), uniqExact(SessionId), any(ResourceAttributes['svc_ingest_key_type']) FROM session_events GROUP BY Type ORDER BY Type`:                                           "click\t3\t3\tpublic\nnavigation\t3\t3\tpublic\n",
		`SELECT Name, Kind, Source, any(PagePath), count(), uniqExact(SessionId) FROM product_events WHERE OrgId = ResourceAttributes['svc_org_id'] GROUP BY Name, Kind, Source ORDER BY Name`: "$pageview\tnavigation\tbrowser\t/cart\t3\t3\norder placed\tcustom\tserver\t\t3\t3\nrefund\tcustom\tserver\t\t3\t3\n",
		`SELECT length(Payload), ByteSize, lower(hex(MD5(Payload))) FROM session_replay_events WHERE SessionId = 'large'`:                                                                      fmt.Sprintf("%d\t%d\t%x\n", stored.Len(), len(large), md5.Sum(stored.Bytes())),
	} {
		out, err := testkit.Command(t, "admin", "sql", sql, "--data-dir", dir).Output()
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		if string(out) != rows {
			t.Errorf("%s\ngot\n%s\nwant\n%s", sql, out, rows)
		}
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}
