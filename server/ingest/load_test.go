package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc/codes"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// slowDisk is the real disk. It can be made to fail or hang.
type slowDisk struct {
	queue.OSFilesystem
	failing atomic.Bool
	hang    atomic.Pointer[chan struct{}]
}

func (d *slowDisk) Create(path string) (queue.File, error) {
	f, err := d.OSFilesystem.Create(path)
	return &slowFile{f, d}, err
}

type slowFile struct {
	queue.File
	disk *slowDisk
}

func (f *slowFile) Sync() error {
	if hang := f.disk.hang.Load(); hang != nil {
		<-*hang
	}
	if f.disk.failing.Load() {
		return syscall.EIO
	}
	return f.File.Sync()
}

// realQueue is a gateway with the durable queue. The test is the queue's consumer.
type realQueue struct {
	*fixture
	log  *queue.Log
	disk *slowDisk
}

func newRealQueue(t *testing.T, limits ingest.Limits, cfg queue.Config) *realQueue {
	t.Helper()
	r := &realQueue{fixture: &fixture{}, disk: &slowDisk{}}
	cfg.Dir, cfg.Filesystem, cfg.MinFreeBytes, cfg.Owner = filepath.Join(t.TempDir(), "queue"), r.disk, -1, ingest.RecordOwner
	var err error
	if r.log, err = queue.Open(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.log.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	r.Gateway, err = ingest.New(ingest.Config{Keys: keys{}, Queue: r.log, Sets: &blocks.Pool{}, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fill adds a record of an organization to the queue.
func (r *realQueue) fill(t *testing.T, owner string, size int) {
	t.Helper()
	h := ingest.RecordHeader{Origin: otlp.Origin{Org: "org_one"}, Encoding: ingest.EncodingNone}
	if _, err := r.log.Append(t.Context(), queue.Record{Header: h.Append(nil), Owner: owner, Payload: make([]byte, size)}); err != nil {
		t.Fatal(err)
	}
}

// TestOrderOfQueueRefusals puts the real queue into each state that refuses, and into every pair of them, on both doors. The
// order is the organization's share, then the backlog of all, then the disk. A refused record is not stored, and the queue
// accepts records again once the cause is gone.
func TestOrderOfQueueRefusals(t *testing.T) {
	states := []apierr.Tag{apierr.IngestOrgQueueThrottled, apierr.IngestExportLaneBackpressure, apierr.IngestQueueUnavailable}
	for i, first := range states {
		for _, second := range states[i:] {
			t.Run(fmt.Sprintf("%s before %s", apierr.Spec(first).GetCode(), apierr.Spec(second).GetCode()), func(t *testing.T) {
				r := newRealQueue(t, ingest.Limits{}, queue.Config{MaxBytes: 1 << 20, MaxBytesPerOwner: 300 << 10})
				for _, s := range []apierr.Tag{first, second} {
					switch s {
					case apierr.IngestOrgQueueThrottled:
						if r.log.Stats().LargestOwnerBytes == 0 {
							r.fill(t, org, 300<<10-100)
						}
					case apierr.IngestExportLaneBackpressure:
						if have := int(r.log.Stats().Bytes); have < 800<<10 {
							r.fill(t, "", 890<<10-have)
						}
					default:
						r.disk.failing.Store(true)
					}
				}
				tail := r.log.Tail()
				body := wire(t, spans(100))
				e := refused(t, r.do("POST", "/v1/traces", body, bearer(goodKey)...), first)
				if strings.Contains(e.Message, "bytes") {
					t.Errorf("message %q tells what the queue holds of others", e.Message)
				}
				client := coltrace.NewTraceServiceClient(dial(t, r.listenGRPC(t)))
				_, err := client.Export(withKey(t, goodKey), spans(100))
				refusedGRPC(t, err, codes.Unavailable, first)
				if r.log.Tail() != tail {
					t.Error("a refused request was written")
				}
				r.disk.failing.Store(false)
				if err := r.log.Release(tail); err != nil {
					t.Fatal(err)
				}
				if res := r.do("POST", "/v1/traces", body, bearer(goodKey)...); res.StatusCode != 200 {
					t.Errorf("afterwards: %d %s", res.StatusCode, text(t, res.Body))
				}
				if _, err := client.Export(withKey(t, goodKey), spans(100)); err != nil {
					t.Errorf("afterwards: %v", err)
				}
			})
		}
	}
}

// TestOtherOrganizationsShare: the full share of one organization does not affect others.
func TestOtherOrganizationsShare(t *testing.T) {
	r := newRealQueue(t, ingest.Limits{}, queue.Config{MaxBytes: 1 << 20, MaxBytesPerOwner: 100 << 10})
	r.fill(t, org, 100<<10)
	refused(t, r.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...), apierr.IngestOrgQueueThrottled)
	if res := r.do("POST", "/v1/traces", wire(t, spans(1)), bearer(otherKey)...); res.StatusCode != 200 {
		t.Errorf("another organization: %d", res.StatusCode)
	}
}

// TestHangingDisk: a request answers at its time limit even if the disk hangs, both the request that the disk is writing and the
// one behind it. Once the disk works again, so does the gateway.
func TestHangingDisk(t *testing.T) {
	r := newRealQueue(t, ingest.Limits{Request: 300 * time.Millisecond}, queue.Config{})
	hang := make(chan struct{})
	r.disk.hang.Store(&hang)
	client := coltrace.NewTraceServiceClient(dial(t, r.listenGRPC(t)))
	overGRPC := make(chan error, 1)
	overHTTP := make(chan struct{})
	began := time.Now()
	go func() {
		defer close(overHTTP)
		refused(t, r.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...), apierr.IngestRequestTimeout)
	}()
	go func() {
		_, err := client.Export(withKey(t, goodKey), spans(1))
		overGRPC <- err
	}()
	refusedGRPC(t, <-overGRPC, codes.DeadlineExceeded, apierr.IngestRequestTimeout)
	<-overHTTP
	if took := time.Since(began); took > 15*time.Second {
		t.Errorf("answered after %s", took)
	}
	close(hang)
	r.disk.hang.Store(nil)
	eventually(t, "the gateway is back", func() bool {
		return r.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...).StatusCode == 200
	})
	if err := r.log.Release(r.log.Tail()); err != nil {
		t.Fatal(err)
	}
	if s := r.log.Stats(); s.HeldBytes != 0 || s.WaitingBytes != 0 {
		t.Errorf("left behind: %+v", s)
	}
}

// TestRecordOwner reads the organization back from a stored header.
func TestRecordOwner(t *testing.T) {
	h := ingest.RecordHeader{Origin: otlp.Origin{Org: "org_somebody", KeyType: "private"}, Encoding: ingest.EncodingNone}
	b := h.Append(nil)
	if got := string(ingest.RecordOwner(b)); got != "org_somebody" {
		t.Errorf("owner %q", got)
	}
	for n := range 11 + 1 + len("org_somebody") {
		if got := ingest.RecordOwner(b[:n]); len(got) > 0 {
			t.Errorf("owner %q from %d bytes", got, n)
		}
	}
}

// TestRefusalsAreCheapForWhoDoesNotWait: the first refusal comes after every check of the body, as the contract requires. A
// sender that repeats the request before Retry-After is over is refused before the body is decoded. It is served as soon as there
// is room.
func TestRefusalsAreCheapForWhoDoesNotWait(t *testing.T) {
	r := newRealQueue(t, ingest.Limits{}, queue.Config{MaxBytes: 1 << 20, MaxBytesPerOwner: 100 << 10})
	r.fill(t, org, 100<<10)
	broken := []byte("this is no protobuf")
	refused(t, r.do("POST", "/v1/traces", broken, bearer(goodKey)...), apierr.IngestBadRequest)
	refused(t, r.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...), apierr.IngestOrgQueueThrottled)
	refused(t, r.do("POST", "/v1/traces", broken, bearer(goodKey)...), apierr.IngestOrgQueueThrottled)
	refused(t, r.do("POST", "/v1/traces", broken, bearer(otherKey)...), apierr.IngestBadRequest)
	if err := r.log.Release(r.log.Tail()); err != nil {
		t.Fatal(err)
	}
	refused(t, r.do("POST", "/v1/traces", broken, bearer(goodKey)...), apierr.IngestBadRequest)
	if res := r.do("POST", "/v1/traces", wire(t, spans(1)), bearer(goodKey)...); res.StatusCode != 200 {
		t.Errorf("with room again: %d", res.StatusCode)
	}
}

// TestRefusedLargeBodyHasItsAnswer: a sender that is still writing its body when it is asked to wait sees that answer, not a
// reset.
func TestRefusedLargeBodyHasItsAnswer(t *testing.T) {
	gate := make(chan struct{})
	f := newFixture(t, ingest.Limits{InFlight: 1}, gate)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.do("POST", "/v1/logs", wire(t, logRecords()), bearer(goodKey)...)
	}()
	f.queue.awaitWaiting(t, 1)
	s := httptest.NewServer(f.HTTPHandler())
	defer s.Close()
	for range 5 {
		req, err := http.NewRequestWithContext(t.Context(), "POST", s.URL+"/v1/traces", io.MultiReader(bytes.NewReader(make([]byte, 15<<20))))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+goodKey)
		res, err := s.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		refused(t, res, apierr.IngestRateLimited)
		_ = res.Body.Close()
	}
	close(gate)
	<-done
}
