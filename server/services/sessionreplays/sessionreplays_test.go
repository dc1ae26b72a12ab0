package sessionreplays

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

type fixture struct {
	*Service
	store *store.Store
	org   principal.OrgID
	ctx   context.Context
	start time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() }) // closed early by the test of a broken store
	created, err := st.CreateOrganization(t.Context(), store.NewOrganization{
		Name: t.Name(), Admin: &store.NewUser{Email: "admin@example.com", Name: "Admin", PasswordHash: "x"},
	})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{
		Service: New(warehousetest.Shared(t), st), store: st, org: created.Organization.ID,
		start: time.Now().UTC().Truncate(24 * time.Hour).Add(-36 * time.Hour),
	}
	f.ctx = principal.WithResult(t.Context(), principal.Result{
		Principal: &principal.Principal{Org: f.org, Kind: principal.KindAPIKey, CredentialID: "key_1"},
	})
	return f
}

// session stores a session and chunks of the given texts.
func (f *fixture) session(t *testing.T, id string, at time.Time, chunks ...string) {
	t.Helper()
	w := warehousetest.Shared(t)
	if err := w.InsertRows(t.Context(), "session_replays", []string{"OrgId", "SessionId", "Version", "StartTime", "Status"},
		[][]any{{string(f.org), id, uint32(1), at, "active"}}, ""); err != nil {
		t.Fatal(err)
	}
	var rows [][]any
	for i, text := range chunks {
		var b bytes.Buffer
		zw := gzip.NewWriter(&b)
		if _, err := zw.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := zw.Close(); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, []any{string(f.org), id, uint32(2 * i), at.Add(time.Duration(i) * time.Second), uint64(len(text)), b.String()})
	}
	if len(rows) > 0 {
		if err := w.InsertRows(t.Context(), "session_replay_events",
			[]string{"OrgId", "SessionId", "ChunkSeq", "Timestamp", "ByteSize", "Payload"}, rows, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func (f *fixture) entries(t *testing.T) (out []string) {
	t.Helper()
	rows, err := f.store.ListAuditLogEntries(t.Context(), f.org, store.AuditFilter{Action: readAction}, 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		id := ""
		if row.ResourceID != nil {
			id = *row.ResourceID
		}
		out = append(out, fmt.Sprintf("%s %s %s %s", *row.ResourceType, row.Metadata["operation_id"], id, *row.ActorID))
	}
	slices.Reverse(out)
	return out
}

func wantError(t *testing.T, err error, tag apierr.Tag, param string) {
	t.Helper()
	var e *apierr.Error
	if !errors.As(err, &e) || e.Tag != tag || e.Param != param {
		t.Errorf("error = %v, want %v with param %q", err, tag, param)
	}
}

// Each read adds an audit entry. A read that finds nothing or is refused adds none, because nothing was read.
func TestReadsAreAudited(t *testing.T) {
	f := setup(t)
	f.session(t, "s", f.start, "[]")
	id := formatID("s")
	start, end := timestamppb.New(f.start.Add(-time.Hour)), timestamppb.New(f.start.Add(time.Hour))
	for name, call := range map[string]func() error{
		"search": func() error {
			_, err := f.SearchSessionReplays(f.ctx, &svcv2.SearchSessionReplaysRequest{StartTime: start, EndTime: end})
			return err
		},
		"facets": func() error {
			_, err := f.SearchSessionReplayFacets(f.ctx, &svcv2.SearchSessionReplayFacetsRequest{StartTime: start, EndTime: end})
			return err
		},
		"for trace": func() error {
			_, err := f.ListSessionReplaysForTrace(f.ctx, &svcv2.ListSessionReplaysForTraceRequest{
				StartTime: start, EndTime: end, TraceId: strings.Repeat("A", 32),
			})
			return err
		},
		"detail": func() error { _, err := f.GetSessionReplay(f.ctx, &svcv2.GetSessionReplayRequest{Id: id}); return err },
		"manifest": func() error {
			_, err := f.GetSessionReplayManifest(f.ctx, &svcv2.GetSessionReplayManifestRequest{Id: id})
			return err
		},
		"events": func() error {
			_, err := f.GetSessionReplayEvents(f.ctx, &svcv2.GetSessionReplayEventsRequest{Id: id})
			return err
		},
		"transcript": func() error {
			_, err := f.GetSessionReplayTranscript(f.ctx, &svcv2.GetSessionReplayTranscriptRequest{Id: id})
			return err
		},
		"traces": func() error {
			_, err := f.ListSessionReplayTraces(f.ctx, &svcv2.ListSessionReplayTracesRequest{Id: id})
			return err
		},
	} {
		if err := call(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := f.GetSessionReplay(f.ctx, &svcv2.GetSessionReplayRequest{Id: formatID("nobody's")})
	wantError(t, err, apierr.SessionReplayNotFound, "id")
	got := f.entries(t)
	slices.Sort(got)
	want := []string{
		"session_replay getSessionReplay " + id + " key_1", "session_replay getSessionReplayEvents " + id + " key_1",
		"session_replay getSessionReplayManifest " + id + " key_1", "session_replay getSessionReplayTranscript " + id + " key_1",
		"session_replay listSessionReplayTraces " + id + " key_1", "session_replay listSessionReplaysForTrace  key_1",
		"session_replay searchSessionReplayFacets  key_1", "session_replay searchSessionReplays  key_1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	// If the entry cannot be added, the read returns nothing.
	if err := f.store.Close(); err != nil {
		t.Fatal(err)
	}
	res, err := f.GetSessionReplay(f.ctx, &svcv2.GetSessionReplayRequest{Id: id})
	if res != nil {
		t.Errorf("a read without an entry: %v", res)
	}
	wantError(t, err, apierr.AuditLogPersistence, "")
}

// Every chunk is returned once and in order, whatever the pages. A page holds at most 40.
func TestEventsPages(t *testing.T) {
	f := setup(t)
	var texts []string
	for i := range 90 {
		texts = append(texts, fmt.Sprintf(`[{"type":3,"timestamp":%d,"data":{"text":"\"<&>\" žluť \u2028"}}]`, i))
	}
	f.session(t, "long", f.start, texts...)
	for _, limit := range []int32{1, 7, 40, 100} {
		var got []string
		var cursor *string
		for page := 0; ; page++ {
			res, err := f.GetSessionReplayEvents(f.ctx, &svcv2.GetSessionReplayEventsRequest{Id: formatID("long"), Limit: &limit, Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			if len(res.GetData()) > min(int(limit), maxChunks) || page > len(texts) {
				t.Fatalf("limit %d: %d chunks on page %d", limit, len(res.GetData()), page)
			}
			for _, c := range res.GetData() {
				if int(c.GetChunkSeq()) != 2*len(got) {
					t.Fatalf("chunk %d in place %d", c.GetChunkSeq(), len(got))
				}
				got = append(got, c.GetEvents())
			}
			if res.GetHasMore() != (res.NextCursor != nil) {
				t.Fatal("has_more and next_cursor disagree")
			}
			if cursor = res.NextCursor; cursor == nil {
				break
			}
		}
		if diff := cmp.Diff(texts, got); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
	res, err := f.GetSessionReplayEvents(f.ctx, &svcv2.GetSessionReplayEventsRequest{
		Id: formatID("long"), FromChunkSeq: new(int32(10)), ToChunkSeq: new(int32(14)),
		WindowStart: timestamppb.New(f.start.Add(6 * time.Second)),
	})
	if err != nil || len(res.GetData()) != 2 || res.GetData()[0].GetChunkSeq() != 12 {
		t.Errorf("a part: %v, %v", res, err)
	}
}

// A page of more than 8 MB is refused, whether the chunk sizes already exceed that or only their escaped form. A smaller page is
// not.
func TestEventsTooLarge(t *testing.T) {
	f := setup(t)
	megabyte := `["` + strings.Repeat("x", 1<<20) + `"]`
	quotes := `["` + strings.Repeat(`\"`, 1<<20) + `"]`
	f.session(t, "large", f.start, megabyte, megabyte, megabyte, megabyte, megabyte, megabyte, megabyte, megabyte)
	f.session(t, "escaped", f.start, quotes, quotes, quotes)
	f.session(t, "one", f.start, `["`+strings.Repeat("x", maxEncoded)+`"]`, "[]")
	f.session(t, "control", f.start, strings.Repeat("\x01", 2_000_000))
	get := func(id string, limit int32, from *int32) (*svcv2.GetSessionReplayEventsResponse, error) {
		return f.GetSessionReplayEvents(f.ctx, &svcv2.GetSessionReplayEventsRequest{Id: formatID(id), Limit: &limit, FromChunkSeq: from})
	}
	_, err := get("large", 8, nil)
	wantError(t, err, apierr.SessionReplayRangeTooLarge, "limit")
	_, err = get("escaped", 3, nil)
	wantError(t, err, apierr.SessionReplayRangeTooLarge, "limit")
	_, err = get("one", 1, nil)
	wantError(t, err, apierr.SessionReplayRangeTooLarge, "from_chunk_seq")
	_, err = get("control", 1, nil)
	wantError(t, err, apierr.SessionReplayRangeTooLarge, "from_chunk_seq")
	if res, err := get("one", 1, new(int32(1))); err != nil || len(res.GetData()) != 1 {
		t.Errorf("past the large chunk: %v, %v", res, err)
	}
	for id, limit := range map[string]int32{"large": 7, "escaped": 1} {
		res, err := get(id, limit, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		counted := 0
		for _, c := range res.GetData() {
			counted += encodedLength(c.GetEvents()) + chunkOverhead
		}
		if len(body) > counted+1024 || len(body) > maxEncoded {
			t.Errorf("%s: the body has %d bytes, %d were counted", id, len(body), counted)
		}
	}
}

func TestRefuses(t *testing.T) {
	f := setup(t)
	id := formatID("s")
	at := func(hours int) *timestamppb.Timestamp {
		return timestamppb.New(f.start.Add(time.Duration(hours) * time.Hour))
	}
	for name, c := range map[string]struct {
		call  func() error
		tag   apierr.Tag
		param string
	}{
		"window too long": {func() error {
			_, err := f.SearchSessionReplays(f.ctx, &svcv2.SearchSessionReplaysRequest{StartTime: at(-32 * 24), EndTime: at(0)})
			return err
		}, apierr.TelemetryRangeTooLarge, "start_time"},
		"hints turned around": {func() error {
			_, err := f.GetSessionReplay(f.ctx, &svcv2.GetSessionReplayRequest{Id: id, WindowStart: at(1), WindowEnd: at(0)})
			return err
		}, apierr.ParameterInvalid, "window_end"},
		"a hint before 1970": {func() error {
			_, err := f.GetSessionReplayManifest(f.ctx, &svcv2.GetSessionReplayManifestRequest{
				Id:          id,
				WindowStart: &timestamppb.Timestamp{Seconds: -1},
			})
			return err
		}, apierr.ParameterInvalid, "window_start"},
		"chunks of an unknown session": {func() error {
			_, err := f.GetSessionReplayEvents(f.ctx, &svcv2.GetSessionReplayEventsRequest{Id: id})
			return err
		}, apierr.SessionReplayNotFound, "id"},
		"cursor of a search": {func() error {
			_, err := f.GetSessionReplayEvents(f.ctx, &svcv2.GetSessionReplayEventsRequest{Id: id, Cursor: new("off_1")})
			return err
		}, apierr.ParameterInvalid, "cursor"},
	} {
		t.Run(name, func(t *testing.T) { wantError(t, c.call(), c.tag, c.param) })
	}
	if got := f.entries(t); len(got) != 0 {
		t.Errorf("refused reads are entered: %q", got)
	}
}
