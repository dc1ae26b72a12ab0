package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

// floodArgs makes the share of an organization in the queue so small that a short flood fills it.
func floodArgs() []string {
	if os.Getenv(envAttack) != "" {
		return nil
	}
	return []string{"--queue-max-bytes-per-org", "4MiB"}
}

// floods sends finished requests, as many as the server takes: first with a private key, while nobody else sends, then with a public key.
// It must run before others have sent anything. What the other organization sends must be answered, and queryable in time, from its
// first record on. While the public key floods, so must the requests with the private key of the same organization.
func (a *attack) floods(t *testing.T) {
	flooder := a.p.NewOrganization(t, "Flood")
	d := 3 * time.Second
	if os.Getenv(envAttack) != "" {
		d = a.flood
	}
	for _, c := range []struct {
		name, key string
		beside    []string
	}{
		{"private key", flooder.PrivateKey, []string{a.victim.PrivateKey, a.victim.PublicKey}},
		{"public key", flooder.PublicKey, []string{flooder.PrivateKey, a.victim.PrivateKey, a.victim.PublicKey}},
	} {
		wait := startFlood(t, loadtest.Config{
			URL: a.p.IngestURL, Key: c.key, Protocol: loadtest.HTTPProtobuf, Signal: otlp.Logs, Gzip: true, Run: "flood",
			Workers: 16, Items: 512, Duration: d,
		}, 19)
		began, slowest, answers := time.Now(), time.Duration(0), 0
		time.Sleep(d / 2)
		for n := 0; n < 10 || time.Since(began) < d; n++ {
			if n%10 == 0 {
				a.storedInTime(t, fmt.Sprintf("%s %d", c.name, n/10))
			}
			time.Sleep(20 * time.Millisecond)
			for _, key := range c.beside {
				begun := time.Now()
				status, answer := a.ingest(t, key, oneLog("beside the flood"))
				if took := time.Since(begun); status != http.StatusOK || took > patience(2*time.Second) {
					t.Errorf("%s: %.10s is answered %d after %s: %s", c.name, key, status, took, answer)
				}
				slowest, answers = max(slowest, time.Since(begun)), answers+1
			}
		}
		t.Logf("%s: the slowest of %d answers to others took %s; %s", c.name, answers, slowest, wait())
	}
	waitStored(t, a.p, 10*time.Minute)
	eventually(t, "the merges of what was stored", func() bool { // the attacks that follow compare times
		pid, err := findChild(a.p.Pid())
		return err == nil && running(pid) <= 1
	})
}

// storedInTime sends a record of the other organization and waits until a search finds it. In CI, other tests run beside.
func (a *attack) storedInTime(t *testing.T, body string) {
	t.Helper()
	most := 5 * time.Second
	if os.Getenv(envAttack) == "" {
		most = 15 * time.Second
	}
	if status, answer := a.ingest(t, a.victim.PrivateKey, oneLog(body)); status != http.StatusOK {
		t.Fatalf("%s: %d %s", body, status, answer)
	}
	acknowledged := time.Now()
	eventually(t, "the record", func() bool {
		status, answer := a.search(t.Context(), a.victim, 1, body)
		return status == http.StatusOK && bytes.Contains(answer, []byte(body))
	})
	took := time.Since(acknowledged)
	if took > most {
		t.Errorf("%s: queryable after %s, want %s", body, took, most)
	}
	t.Logf("%s: queryable after %s; the flood is %.1f s behind", body, took.Round(time.Millisecond),
		metricValue(t, a.p, "svc_ingest_oldest_unflushed_seconds"))
}

// oneLog is a compressed request with one log record.
func oneLog(body string) []byte {
	text, err := json.Marshal(map[string]any{"resourceLogs": []any{map[string]any{"scopeLogs": []any{map[string]any{"logRecords": []any{
		map[string]any{"timeUnixNano": strconv.FormatInt(time.Now().UnixNano(), 10), "body": map[string]any{"stringValue": body}},
	}}}}}})
	if err != nil {
		panic(err)
	}
	return gzipped(text)
}
