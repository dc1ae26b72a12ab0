package ingest_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// TestErrorTable causes every error of the ingest table and compares the whole answer with the table: status, type, code, title,
// recovery, retryable, and retry_after_seconds with Retry-After. An error without a cause here must have a reason for that.
func TestErrorTable(t *testing.T) {
	// The contract has these errors, and they stay for senders that know them.
	noCause := map[apierr.Tag]string{
		apierr.IngestCollectorUnavailable: "nothing stands between the gateway and its own durable queue",
		apierr.IngestPayloadEncodeFailed:  "a batch is queued as it came, so that there is nothing to encode",
	}
	traces := func(f *fixture, key string, body []byte, headers ...string) *http.Response {
		return f.do("POST", "/v1/traces", body, append(bearer(key), headers...)...)
	}
	full := func(err error) func(*fixture) *http.Response {
		return func(f *fixture) *http.Response {
			f.queue.fail(err)
			return traces(f, goodKey, wire(t, spans(1)))
		}
	}
	causes := map[apierr.Tag]func(*fixture) *http.Response{
		apierr.IngestRouteNotFound:    func(f *fixture) *http.Response { return f.do("POST", "/v1/profiles", nil) },
		apierr.IngestMethodNotAllowed: func(f *fixture) *http.Response { return f.do("PUT", "/v1/traces", nil) },
		apierr.IngestUnauthorized:     func(f *fixture) *http.Response { return traces(f, "svc_pk_unknown", nil) },
		apierr.IngestSignalNotAllowed: func(f *fixture) *http.Response { return traces(f, logsKey, nil) },
		apierr.IngestRateLimited: func(f *fixture) *http.Response {
			return traces(f, plan{paced: true}.use(f, goodKey), nil)
		},
		apierr.IngestPayloadTooLarge:      func(f *fixture) *http.Response { return traces(f, goodKey, make([]byte, 9<<10)) },
		apierr.IngestUnsupportedMediaType: func(f *fixture) *http.Response { return traces(f, goodKey, nil, "Content-Encoding", "zstd") },
		apierr.IngestBadRequest:           func(f *fixture) *http.Response { return traces(f, goodKey, []byte("nonsense")) },
		apierr.IngestReplayBodyNotGzip: func(f *fixture) *http.Response {
			return f.do("POST", "/v1/sessionReplays/blob", []byte("{"), append(bearer(goodKey), "x-svc-session-id", "s", "x-svc-chunk-seq", "0")...)
		},
		apierr.IngestPlanLimitReached:       func(f *fixture) *http.Response { return traces(f, spentKey, wire(t, spans(1))) },
		apierr.IngestOrgQueueThrottled:      full(queue.ErrOwnerFull),
		apierr.IngestExportLaneBackpressure: full(queue.ErrBackedUp),
		apierr.IngestQueueUnavailable:       full(errors.New("disk full")),
		apierr.IngestServiceUnavailable:     func(f *fixture) *http.Response { return traces(f, outageKey, nil) },
		apierr.IngestRequestTimeout: func(f *fixture) *http.Response {
			f.queue.gate = make(chan struct{}) // is never opened
			return traces(f, goodKey, wire(t, spans(1)))
		},
		apierr.IngestInternal: func(f *fixture) *http.Response {
			g, err := ingest.New(ingest.Config{Keys: keys{}, Queue: panickingQueue{}, Sets: &blocks.Pool{}})
			if err != nil {
				t.Fatal(err)
			}
			f.Gateway = g
			return traces(f, goodKey, wire(t, spans(1)))
		},
	}
	for _, tag := range apierr.All() {
		name, ok := strings.CutPrefix(apierr.Spec(tag).GetTag(), "@svc/ingest/")
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			cause := causes[tag]
			if why := noCause[tag]; (cause == nil) == (why == "") {
				t.Fatal("an error needs either a request that it answers, or a reason why there is none")
			}
			if cause == nil {
				return
			}
			f := newFixture(t, ingest.Limits{Body: 8 << 10, Request: 200 * time.Millisecond}, nil)
			refused(t, cause(f), tag)
			if records, _ := f.queue.count(); records != 0 {
				t.Errorf("%d records were written", records)
			}
		})
	}
}
