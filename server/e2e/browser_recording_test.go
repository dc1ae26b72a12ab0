package e2e

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/testkit"
)

// Kinds of rrweb events, and of the incremental ones among them.
const (
	rrwebFullSnapshot = 2
	rrwebIncremental  = 3

	rrwebMouseMove        = 1
	rrwebMouseInteraction = 2
	rrwebScroll           = 3
	rrwebInput            = 5
)

// checkRecording checks that the stored chunks, after inflation, equal byte for byte what the page recorded.
func checkRecording(t *testing.T, p *testkit.Process, v *visit) {
	t.Helper()
	rows := query(t, p, fmt.Sprintf(`SELECT ChunkSeq, EventCount, ByteSize, toUInt8(IsCheckpoint), hex(Payload) FROM session_replay_events FINAL WHERE SessionId = '%s' ORDER BY ChunkSeq`, v.Session))
	if len(rows) != len(v.Chunks) {
		t.Fatalf("%d chunks are stored, %d were sent", len(rows), len(v.Chunks))
	}
	sources, snapshots := map[int]int{}, 0
	for i, row := range rows {
		payload, err := hex.DecodeString(row[4])
		if err != nil {
			t.Fatal(err)
		}
		zr, err := gzip.NewReader(bytes.NewReader(payload))
		if err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		inflated, err := io.ReadAll(zr)
		if err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		sent := v.Chunks[i]
		if diff := cmp.Diff([]string{fmt.Sprint(sent.Sequence), fmt.Sprint(sent.Events), fmt.Sprint(sent.Bytes)}, row[:3]); diff != "" {
			t.Errorf("chunk %d (-sent +stored):\n%s", i, diff)
		}
		if hash := sha256.Sum256(inflated); hex.EncodeToString(hash[:]) != sent.SHA256 {
			t.Errorf("chunk %d differs from what was recorded", i)
		}
		var events []struct {
			Type int `json:"type"`
			Data struct {
				Source int    `json:"source"`
				Text   string `json:"text"`
			} `json:"data"`
		}
		if err := json.Unmarshal(inflated, &events); err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		checkpoint := "0"
		for _, e := range events {
			switch e.Type {
			case rrwebFullSnapshot:
				checkpoint = "1"
				snapshots++
			case rrwebIncremental:
				sources[e.Data.Source]++
				if e.Data.Source == rrwebInput && strings.Trim(e.Data.Text, "*") != "" {
					t.Errorf("an input was recorded as %q, not masked", e.Data.Text)
				}
			}
		}
		if row[3] != checkpoint {
			t.Errorf("chunk %d: checkpoint %s, want %s", i, row[3], checkpoint)
		}
		if bytes.Contains(inflated, []byte("SECRET")) {
			t.Errorf("chunk %d holds what was typed", i)
		}
	}
	for name, source := range map[string]int{
		"mouse moves": rrwebMouseMove, "clicks": rrwebMouseInteraction, "scrolls": rrwebScroll,
		"inputs": rrwebInput,
	} {
		if sources[source] == 0 {
			t.Errorf("the recording has no %s: %v", name, sources)
		}
	}
	if snapshots == 0 {
		t.Error("the recording has no full snapshot")
	}
}

// checkPlayback plays the recording from the API in the browser. At the end, the player must show what the person saw.
func checkPlayback(t *testing.T, dir, browser, address string, v *visit) {
	t.Helper()
	var shown struct {
		Events   int      `json:"events"`
		Chunks   int      `json:"chunks"`
		Pages    int      `json:"pages"`
		Title    string   `json:"title"`
		Cart     []string `json:"cart"`
		Voucher  string   `json:"voucher"`
		Scrolled float64  `json:"scrolled"`
		Problems []string `json:"problems"`
	}
	drive(t, dir, browser, "player", address, &shown)
	events := 0
	for _, c := range v.Chunks {
		events += c.Events
	}
	if shown.Events != events || shown.Chunks != len(v.Chunks) || shown.Pages < 2 || shown.Title != "Shop" || len(shown.Cart) != 2 ||
		shown.Voucher != strings.Repeat("*", len("SECRET-2026")) || shown.Scrolled == 0 {
		t.Errorf("the player shows %+v, of %d events", shown, events)
	}
	if len(shown.Problems) > 0 {
		t.Errorf("in the player: %q", shown.Problems)
	}
}
