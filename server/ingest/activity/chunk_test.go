package activity_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

func header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func TestParseChunk(t *testing.T) {
	const session, seq = "x-svc-session-id", "x-svc-chunk-seq"
	for _, c := range []struct {
		headers http.Header
		want    activity.Chunk
		refused string
	}{
		{headers: header(session, "aZ09_-", seq, "0"), want: activity.Chunk{SessionID: "aZ09_-"}},
		{
			headers: header(session, "s", seq, "4294967295", "x-svc-is-checkpoint", "1", "x-svc-event-count", "12", "x-svc-duration-ms", "5000"),
			want:    activity.Chunk{SessionID: "s", Seq: 4294967295, IsCheckpoint: true, EventCount: 12, DurationMs: 5000},
		},
		{
			headers: header(session, strings.Repeat("s", 128), seq, "1", "x-svc-is-checkpoint", "True"),
			want:    activity.Chunk{SessionID: strings.Repeat("s", 128), Seq: 1, IsCheckpoint: true},
		},
		{headers: header(session, "s", seq, "1", "x-svc-is-checkpoint", "false"), want: activity.Chunk{SessionID: "s", Seq: 1}},
		{headers: header(seq, "1"), refused: "x-svc-session-id is required"},
		{headers: header(session, "a b", seq, "1"), refused: "x-svc-session-id must be 1 to 128 letters"},
		{headers: header(session, "ä", seq, "1"), refused: "x-svc-session-id must be"},
		{headers: header(session, strings.Repeat("s", 129), seq, "1"), refused: "x-svc-session-id must be"},
		{headers: header(session, "s"), refused: "x-svc-chunk-seq is required"},
		{headers: header(session, "s", seq, "-1"), refused: "x-svc-chunk-seq must be a whole number from 0 to 4294967295"},
		{headers: header(session, "s", seq, "1.5"), refused: "x-svc-chunk-seq must be"},
		{headers: header(session, "s", seq, "4294967296"), refused: "x-svc-chunk-seq must be"},
		{headers: header(session, "s", seq, "1", "x-svc-event-count", "many"), refused: "x-svc-event-count must be"},
		{headers: header(session, "s", seq, "1", "x-svc-duration-ms", "5s"), refused: "x-svc-duration-ms must be"},
		{headers: header(session, "s", seq, "1", "x-svc-is-checkpoint", "yes"), refused: "x-svc-is-checkpoint must be"},
	} {
		got, err := activity.ParseChunk(c.headers)
		if c.refused != "" {
			var bad *activity.Error
			if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.refused) || !strings.HasPrefix(c.refused, bad.Field+" ") {
				t.Errorf("%v: %v, want %q", c.headers, err, c.refused)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
			t.Errorf("%v: %v (-want +got):\n%s", c.headers, err, diff)
		}
	}
}

func TestChunkRow(t *testing.T) {
	var set blocks.Set
	c := activity.Chunk{SessionID: "s", Seq: 3, IsCheckpoint: true, EventCount: 12, DurationMs: 5000, ByteSize: 1 << 30}
	c.Append([]byte("\x1f\x8b\x00"), stamp(), &set)
	want := []row{{
		"OrgId": "org_one", "SessionId": "s", "ChunkSeq": uint32(3), "Timestamp": received.UnixNano(), "DurationMs": uint32(5000),
		"EventCount": uint32(12),
		"ByteSize":   uint64(1 << 30), "IsCheckpoint": true, "Payload": "\x1f\x8b\x00", "ResourceAttributes": stamps,
	}}
	if diff := cmp.Diff(want, rows(t, &set)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
