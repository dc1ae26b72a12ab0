package ingest

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

const (
	mediaProtobuf = "application/x-protobuf"
	mediaJSON     = "application/json"
)

// writeError answers with the JSON envelope for every media type of request. Exporters treat it as text, and people can read it.
func writeError(w http.ResponseWriter, fail *apierr.Error) {
	d := fail.Detail()
	retryAfter := fail.RetryAfterSeconds()
	body := apierr.Envelope(d, true)
	h := w.Header()
	h.Set("Content-Type", mediaJSON)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	w.WriteHeader(int(d.GetStatus()))
	_, _ = w.Write(body) // a failed write means that the sender is gone
}

// writeSuccess answers in the media type of the request, or in JSON if that is unknown: an empty message, or one with the rejected items.
func writeSuccess(w http.ResponseWriter, signal otlp.Signal, media string, rejected int, message string) {
	var body []byte
	if media == mediaJSON || media == "" {
		media = mediaJSON
		body = jsonResponse(signal, rejected, message)
	} else {
		body = protoResponse(nil, rejected, message)
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body)
}

// protoResponse appends an Export…ServiceResponse. All three have the same wire format: partial_success = 1, and in it the rejected count =
// 1 and error_message = 2.
func protoResponse(b []byte, rejected int, message string) []byte {
	if rejected == 0 && message == "" {
		return b
	}
	var partial []byte
	if rejected != 0 {
		partial = protowire.AppendTag(partial, 1, protowire.VarintType)
		partial = protowire.AppendVarint(partial, uint64(rejected))
	}
	if message != "" {
		partial = protowire.AppendTag(partial, 2, protowire.BytesType)
		partial = protowire.AppendString(partial, message)
	}
	b = protowire.AppendTag(b, 1, protowire.BytesType)
	return protowire.AppendBytes(b, partial)
}

// jsonResponse is the same message in proto3 JSON, where a 64-bit integer is a string.
func jsonResponse(signal otlp.Signal, rejected int, message string) []byte {
	if rejected == 0 && message == "" {
		return []byte("{}")
	}
	partial := map[string]string{}
	if rejected != 0 {
		partial[rejectedField(signal)] = strconv.Itoa(rejected)
	}
	if message != "" {
		partial["errorMessage"] = message
	}
	b, _ := json.Marshal(map[string]any{"partialSuccess": partial}) // texts cannot fail to encode
	return b
}

func rejectedField(signal otlp.Signal) string {
	switch signal {
	case otlp.Logs:
		return "rejectedLogRecords"
	case otlp.Metrics:
		return "rejectedDataPoints"
	default:
		return "rejectedSpans"
	}
}

// warnings keeps an outage from filling the log. It passes one line per second, with the number of suppressed ones.
type warnings struct {
	last    atomic.Int64
	skipped atomic.Int64
}

// report logs failures of this server, with their cause. Errors of senders are counted, not logged.
func (g *Gateway) report(signal fmt.Stringer, d door, requestID string, fail *apierr.Error) {
	if apierr.Spec(fail.Tag).GetStatus() < 500 {
		return
	}
	now := time.Now().UnixNano()
	last := g.warnings.last.Load()
	if now-last < int64(time.Second) || !g.warnings.last.CompareAndSwap(last, now) {
		g.warnings.skipped.Add(1)
		return
	}
	g.logger.Warn("ingest request failed",
		slog.String("signal", signal.String()), slog.String("door", d.String()), slog.String("request_id", requestID),
		slog.String("tag", apierr.Spec(fail.Tag).GetTag()), slog.Any("error", fail), slog.Int64("others_not_logged", g.warnings.skipped.Swap(0)))
}
