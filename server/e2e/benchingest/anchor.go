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

// referenceAnchor is what a span's gunzip (1,066 ns) and proto.Unmarshal (7,291 ns) cost on the machine that the limits were set on.
const referenceAnchor = 1066 + 7291

const (
	// anchorFor is how long the anchor is measured before and after each phase.
	anchorFor = 300 * time.Millisecond
	// anchorBodies are gone through in turns: together they are larger than the caches near a processor.
	anchorBodies = 16
	// anchorDrift is how far the anchors around a phase may lie apart before its figures are doubtful.
	anchorDrift = 0.25
)

// anchor is what the work that the machine's speed is told by costs before and after a phase, in ns of processor time a span: decompressing
// and decoding spans like those that are sent, by the standard library and by the generated types. That code is not ours, so it only changes
// with the machine. A virtual machine does that work up to three times as fast in one hour as in another.
type anchor struct{ before, after float64 }

func (a anchor) mean() float64 { return (a.before + a.after) / 2 }

// scaled is a processor time as it would be on the reference machine.
func (a anchor) scaled(raw float64) float64 { return raw * referenceAnchor / a.mean() }

// drift is how much slower the slower of both was.
func (a anchor) drift() float64 {
	return max(a.before, a.after)/min(a.before, a.after) - 1
}

// measure does a phase of the measurement between two anchors.
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

// childAnchor measures the anchor in a process of its own: what the garbage collector does there does not depend on the loads that this one
// holds.
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
		err = errors.New("it is no processor time")
	}
	if err != nil {
		return 0, fmt.Errorf("measure the anchor: %q: %w", out, err)
	}
	return ns, nil
}

// measureAnchor is that process: for at least so long, one thread decompresses and decodes bodies. It returns the processor time for a span,
// that of the garbage collector included.
func measureAnchor(d time.Duration) (nsPerSpan float64, err error) {
	// A time shorter than the usual one, as tests take, goes through fewer bodies: to make them all would take far longer than it.
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
	if err := round(); err != nil { // memory is taken, types are set up
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

// ownSeconds is the processor time of this program, or of its children that have ended.
func ownSeconds(who int) float64 {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return 0 // it fails for an unknown who alone
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
