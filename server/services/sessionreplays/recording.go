package sessionreplays

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// These are the limits of reads of a recording.
const (
	maxManifest = limits.RecordingManifest
	maxChunks   = limits.RecordingPage
	maxPayload  = limits.RecordingPayload
	maxEncoded  = limits.RecordingAnswer
	// chunkOverhead is more than a chunk takes in the body besides its events.
	chunkOverhead = 256
)

// GetSessionReplayManifest returns the chunks of a recording without their events.
func (s *Service) GetSessionReplayManifest(
	ctx context.Context, req *svcv2.GetSessionReplayManifestRequest,
) (*svcv2.SessionReplayManifest, error) {
	org, session, err := target(ctx, req)
	if err != nil {
		return nil, err
	}
	received, err := bounds(req.GetWindowStart(), req.GetWindowEnd())
	if err != nil {
		return nil, err
	}
	if _, err := s.extent(ctx, org, session); err != nil {
		return nil, err
	}
	rows, err := read.All[reads.ChunkRow](ctx, s.warehouse, org, reads.SessionManifest(reads.ChunkRange{
		SessionID: session, Received: received, To: maxSeq, Limit: maxManifest + 1,
	}))
	if err != nil {
		return nil, err
	}
	res := &svcv2.SessionReplayManifest{
		Object: "session_replay.manifest", SessionId: formatID(session), MaxChunksPerRequest: maxChunks, MaxBytesPerRequest: maxPayload,
		Truncated: len(rows) > maxManifest,
	}
	if res.Truncated {
		rows = rows[:maxManifest]
	}
	for _, row := range rows {
		res.Chunks = append(res.Chunks, &svcv2.SessionReplayChunk{
			ChunkSeq: row.ChunkSeq, Timestamp: timestamppb.New(row.Timestamp), DurationMs: row.DurationMs, EventCount: row.EventCount,
			ByteSize: float64(row.ByteSize), IsCheckpoint: row.IsCheckpoint,
		})
		res.TotalByteSize += float64(row.ByteSize)
	}
	res.ChunkCount = uint32(len(rows))
	if err := s.audit(ctx, org, "getSessionReplayManifest", formatID(session), nil); err != nil {
		return nil, err
	}
	return res, nil
}

// GetSessionReplayEvents returns a page of chunks with their events. It checks the sizes first, so that chunks that are too large
// are refused without being inflated.
func (s *Service) GetSessionReplayEvents(
	ctx context.Context, req *svcv2.GetSessionReplayEventsRequest,
) (*svcv2.GetSessionReplayEventsResponse, error) {
	org, session, err := target(ctx, req)
	if err != nil {
		return nil, err
	}
	limit := min(paging.Limit(req.Limit), maxChunks)
	from, err := paging.ParseChunk(req.Cursor)
	if err != nil {
		return nil, err
	}
	received, err := bounds(req.GetWindowStart(), req.GetWindowEnd())
	if err != nil {
		return nil, err
	}
	part := reads.ChunkRange{
		SessionID: session, Received: received, From: max(from, uint32(req.GetFromChunkSeq())), To: maxSeq, Limit: limit + 1,
	}
	if req.ToChunkSeq != nil {
		if part.To = uint32(req.GetToChunkSeq()); req.FromChunkSeq != nil && req.GetToChunkSeq() < req.GetFromChunkSeq() {
			return nil, apierr.New(apierr.ParameterInvalid, "to_chunk_seq must not be below from_chunk_seq.", apierr.Param("to_chunk_seq"))
		}
	}
	if _, err := s.extent(ctx, org, session); err != nil {
		return nil, err
	}
	sizes, err := read.All[reads.ChunkRow](ctx, s.warehouse, org, reads.SessionManifest(part))
	if err != nil {
		return nil, err
	}
	res := &svcv2.GetSessionReplayEventsResponse{Object: "list", HasMore: len(sizes) > limit}
	if res.HasMore {
		next := paging.FormatChunk(sizes[limit].ChunkSeq)
		res.NextCursor = &next
		sizes = sizes[:limit]
	}
	if err := checkSize(sizes); err != nil {
		return nil, err
	}
	if len(sizes) > 0 {
		// Include a chunk that arrived in the meantime.
		part.To, part.Limit = sizes[len(sizes)-1].ChunkSeq, maxManifest
		rows, err := read.All[reads.ChunkRow](ctx, s.warehouse, org, reads.SessionChunks(part))
		if err != nil {
			return nil, err
		}
		if res.Data, err = toChunks(rows); err != nil {
			return nil, err
		}
	}
	if err := s.audit(ctx, org, "getSessionReplayEvents", formatID(session), map[string]any{"chunks": len(res.GetData())}); err != nil {
		return nil, err
	}
	return res, nil
}

func checkSize(rows []reads.ChunkRow) error {
	var total uint64
	for _, row := range rows {
		total += row.ByteSize + chunkOverhead
	}
	if total > maxEncoded {
		return tooLarge(len(rows))
	}
	return nil
}

func tooLarge(chunks int) error {
	if chunks == 1 {
		return apierr.New(apierr.SessionReplayRangeTooLarge,
			fmt.Sprintf("This chunk is larger than %s, the limit of an answer. Skip it with from_chunk_seq.", limits.Size(maxEncoded)),
			apierr.Param("from_chunk_seq"))
	}
	return apierr.New(
		apierr.SessionReplayRangeTooLarge,
		fmt.Sprintf(
			"The %d chunks are larger than the %s that an answer may have. Ask for fewer chunks: the manifest has their sizes.",
			chunks,
			limits.Size(maxEncoded),
		),
		apierr.Param("limit"),
	)
}

func toChunks(rows []reads.ChunkRow) ([]*svcv2.SessionReplayEventChunk, error) {
	var out []*svcv2.SessionReplayEventChunk
	encoded := 0
	for _, row := range rows {
		events, err := inflate(row.Payload, maxEncoded-encoded)
		if errors.Is(err, errLong) {
			return nil, tooLarge(len(rows))
		}
		if err != nil {
			return nil, apierr.New(apierr.WarehouseResultDecode, fmt.Sprintf("The chunk %d of the recording cannot be read.", row.ChunkSeq),
				apierr.Cause(err))
		}
		if encoded += encodedLength(events) + chunkOverhead; encoded > maxEncoded {
			return nil, tooLarge(len(rows))
		}
		out = append(out, &svcv2.SessionReplayEventChunk{
			Object: "session_replay.event_chunk", ChunkSeq: row.ChunkSeq, Timestamp: timestamppb.New(row.Timestamp), DurationMs: row.DurationMs,
			EventCount: row.EventCount, ByteSize: float64(row.ByteSize), IsCheckpoint: row.IsCheckpoint, Events: events,
		})
	}
	return out, nil
}

var errLong = errors.New("longer than allowed")

// inflate unpacks a chunk of at most limit bytes. Text in a recording may be invalid UTF-8, but text in JSON may not.
func inflate(payload string, limit int) (string, error) {
	zr, err := gzip.NewReader(strings.NewReader(payload))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	n, err := io.Copy(&b, io.LimitReader(zr, int64(limit)+1))
	if err != nil {
		return "", err
	}
	if n > int64(limit) {
		return "", errLong
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD"), nil
}

// encodedLength is the length of a text as a JSON string.
func encodedLength(s string) int {
	n := len(s) + 2
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t', c == '\b', c == '\f':
			n++
		case c < 0x20:
			n += 5
		}
	}
	return n
}
