// Package benchdiagnose measures how well find_incidents finds planted faults; `make bench-diagnose` runs it. It fills a server with hours
// of the demo, each with a fault of another seed, and with quiet days. Then it asks for incidents as a caller does and compares the answers
// with what was planted. docs/incidents.md has the method and the measured figures.
package benchdiagnose

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/demo"
	"github.com/svc-observability/svc/server/testkit"
)

// BenchmarkDiagnose fills and asks. Its settings are variables of the environment, as the Makefile documents them.
func BenchmarkDiagnose(b *testing.B) {
	before := time.Now().UTC().Truncate(day)
	if text := os.Getenv("SVC_DIAGNOSE_BEFORE"); text != "" {
		var err error
		if before, err = time.Parse(time.DateOnly, text); err != nil {
			b.Fatal(err)
		}
	}
	quiet, err := strconv.Atoi(or(os.Getenv("SVC_DIAGNOSE_QUIET"), "1"))
	if err != nil {
		b.Fatal(err)
	}
	list, err := runs(or(os.Getenv("SVC_DIAGNOSE_SEEDS"), tuning+":13"), before, quiet)
	if err != nil {
		b.Fatal(err)
	}
	dir := os.Getenv("SVC_DIAGNOSE_DATA")
	if dir == "" {
		dir = b.TempDir()
	}
	p := testkit.StartProcess(b, filepath.Join(dir, "data"))
	began := time.Now()
	fill(b, p, filepath.Join(dir, "filled.json"), list)
	filled := time.Since(began)
	s := score{wrong: map[uint64][]*svcv2.Incident{}}
	began = time.Now()
	for _, r := range list {
		answer := ask(b, p, r)
		verdicts, wrong := judge(r, r.config().Faults(r.asked, r.to), answer.GetData())
		s.verdicts = append(s.verdicts, verdicts...)
		if len(wrong) > 0 {
			s.wrong[r.seed] = wrong
		}
		if r.kind == demo.PlantNone {
			s.days = append(s.days, r)
		}
	}
	fmt.Fprintf(os.Stdout, "telemetry before %s\n", before.Format(time.DateOnly))
	s.print(os.Stdout, os.Getenv("SVC_DIAGNOSE_DETAIL") != "")
	fmt.Fprintf(os.Stdout, "filled in %s, asked in %s\n", filled.Round(time.Second), time.Since(began).Round(time.Second))
	b.ReportMetric(100*s.share(), "%right")
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

func (r run) config() demo.Config {
	return demo.Config{Seed: r.seed, Rate: demo.DefaultRate, Plant: r.kind}
}

// fill sends the telemetry of all runs that a folder does not hold already, and waits until it is stored.
func fill(b *testing.B, p *testkit.Process, record string, list []run) {
	b.Helper()
	held := map[string]bool{}
	if text, err := os.ReadFile(record); err == nil {
		if err := json.Unmarshal(text, &held); err != nil {
			b.Fatal(err)
		}
	}
	for i, r := range list {
		key := fmt.Sprintf("%d %s", r.seed, r.from.Format(time.RFC3339))
		if held[key] {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench-diagnose: filling %d of %d: seed %d, %s\n", i+1, len(list), r.seed, r.kind)
		result, err := demo.Run(b.Context(), demo.Options{
			Config: r.config(), Target: demo.Target{URL: p.IngestURL, Key: p.PrivateKey}, From: r.from, To: r.to,
		})
		if err != nil || len(result.Reasons) > 0 {
			b.Fatalf("seed %d: %v, refused: %v\n%s", r.seed, err, result.Reasons, p.Log())
		}
		held[key] = true
	}
	for unflushed(b, p) {
		time.Sleep(200 * time.Millisecond)
	}
	text, err := json.Marshal(held)
	if err == nil {
		err = os.WriteFile(record, text, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// unflushed tells whether telemetry still waits to be stored.
func unflushed(b *testing.B, p *testkit.Process) bool {
	b.Helper()
	res, err := http.Get(p.BaseURL + "/metrics")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // only read
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "svc_ingest_oldest_unflushed_seconds "); ok {
			return text != "0"
		}
	}
	b.Fatalf("/metrics does not tell what waits: %v", lines.Err())
	return false
}

// ask searches incidents in the window of a run.
func ask(b *testing.B, p *testkit.Process, r run) *svcv2.IncidentSearch {
	b.Helper()
	body, err := json.Marshal(map[string]string{"start_time": r.asked.Format(time.RFC3339), "end_time": r.to.Format(time.RFC3339)})
	if err != nil {
		b.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, p.BaseURL+"/v2/services/incidents", bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.APIKey)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }() // only read
	text, err := io.ReadAll(res.Body)
	answer := &svcv2.IncidentSearch{}
	if err == nil {
		err = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(text, answer)
	}
	if err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("seed %d: status %d, %v\n%s", r.seed, res.StatusCode, err, text)
	}
	return answer
}
