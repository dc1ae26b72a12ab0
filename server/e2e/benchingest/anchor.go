package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

// referenceAnchor is the cost of gunzip (1,066 ns) and proto.Unmarshal (7,291 ns) for one span, on the machine on which the
// limits were set.
const referenceAnchor = 1066 + 7291

const (
	// anchorFor is how long the anchor is measured before and after each phase.
	anchorFor = 300 * time.Millisecond
	// anchorBodies are used in turn: together they are larger than the caches near a processor.
	anchorBodies = 16
	// anchorDrift is the largest difference between the anchors around a phase. Beyond it, the figures of the phase are doubtful.
	anchorDrift = 0.25
)

// anchor is the cost of a reference work before and after a phase, in ns of processor time per span. The work is to decompress
// and decode spans like those that are sent, with the standard library and the generated types. That code is not ours, so its
// cost only changes with the machine. A virtual machine does the work up to three times as fast in one hour as in another.
type anchor struct{ before, after float64 }

func (a anchor) mean() float64 { return (a.before + a.after) / 2 }

// scaled converts a processor time to the reference machine.
func (a anchor) scaled(raw float64) float64 { return raw * referenceAnchor / a.mean() }

// drift is the difference between the two anchors, as a fraction of the faster one.
func (a anchor) drift() float64 {
	return max(a.before, a.after)/min(a.before, a.after) - 1
}

// measure runs a phase of the measurement between two anchors.
func (o *options) measure(ctx context.Context, phase func() error) (a anchor, err error) {
	if a.before, err = childAnchor(ctx, o.anchorFor); err != nil {
		return a, err
	}
	if err := phase(); err != nil {
		return a, err
	}
	a.after, err = childAnchor(ctx, o.anchorFor)
	return a, err
}

// childAnchor measures the anchor in a separate process, so that the work of the garbage collector there does not depend on the
// loads that this process holds.
func childAnchor(ctx context.Context, d time.Duration) (float64, error) {
	program, err := os.Executable()
	if err != nil {
		return 0, err
	}
	out, err := exec.CommandContext(ctx, program, "-anchor", d.String()).Output() // this program
	if err != nil {
		return 0, fmt.Errorf("measure the anchor: %w", err)
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err == nil && !(ns > 0 && !math.IsInf(ns, 0)) {
		err = errors.New("it is not a processor time")
	}
	if err != nil {
		return 0, fmt.Errorf("measure the anchor: %q: %w", out, err)
	}
	return ns, nil
}

// measureAnchor runs in that process. For at least the given time, one thread decompresses and decodes bodies. It returns the
// processor time per span, including that of the garbage collector.
func measureAnchor(d time.Duration) (nsPerSpan float64, err error) {
	// A shorter time than usual, as in tests, uses fewer bodies: to make them all would take far longer than the measurement.
	bodies := min(anchorBodies, max(1, int(anchorBodies*d/anchorFor)))
	load, err := loadtest.Prepare(loadtest.Config{
		Protocol: loadtest.HTTPProtobuf, Signal: otlp.Traces, Gzip: true, Run: "bench", Varied: true, Items: itemsPerRequest, Requests: bodies,
	})
	if err != nil {
		return 0, err
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var (
		zr  gzip.Reader
		raw bytes.Buffer
	)
	round := func() error {
		for _, body := range load.Bodies() {
			raw.Reset()
			if err := zr.Reset(bytes.NewReader(body)); err != nil {
				return err
			}
			if _, err := io.Copy(&raw, &zr); err != nil {
				return err
			}
			if err := proto.Unmarshal(raw.Bytes(), &coltrace.ExportTraceServiceRequest{}); err != nil {
				return err
			}
		}
		return nil
	}
	if err := round(); err != nil { // the first round takes memory and sets up types
		return 0, err
	}
	runtime.GC()
	spans, before := 0, ownSeconds(syscall.RUSAGE_SELF)
	for started := time.Now(); spans == 0 || time.Since(started) < d; spans += bodies * itemsPerRequest {
		if err := round(); err != nil {
			return 0, err
		}
	}
	return (ownSeconds(syscall.RUSAGE_SELF) - before) / float64(spans) * 1e9, nil
}

// ownSeconds is the processor time of this program, or of its finished children.
func ownSeconds(who int) float64 {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0 // it fails only for an unknown argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
