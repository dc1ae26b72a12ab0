package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// Options bound and control a run.
type Options struct {
	Config
	Target
	// From and To bound the back-fill. If they are equal, there is no back-fill. Following begins at To.
	From, To time.Time
	// Follow continues live until the context ends.
	Follow bool
	// Progress is called during the run, from one goroutine.
	Progress func(Progress)
}

// Progress is the progress of a run.
type Progress struct {
	Totals
	// At is the end of the telemetry made so far. Done is the finished share of the back-fill.
	At   time.Time
	Done float64
	Live bool
}

// Result is the result of a run.
type Result struct {
	Totals
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Stopped says that the run ended before the back-fill was complete.
	Stopped bool    `json:"stopped"`
	Seconds float64 `json:"seconds"`
	Seed    uint64  `json:"seed"`
	Rate    float64 `json:"rate"`
	Faults  []Fault `json:"faults"`
}

// MaxBack bounds how far back a run may begin. The server refuses telemetry that is older than its retention, and a session begins up to
// 15 minutes before its first row.
const MaxBack = limits.TraceRetention - time.Hour

// ProgressEvery is the time between two lines about the progress where there is no terminal.
const ProgressEvery = 10 * time.Second

// MaxRate is the highest rate of a run, in requests of the shop a second.
const MaxRate = limits.DemoRate

const (
	perRequest = 2000
	liveStep   = time.Second
)

// Run sends telemetry. It returns the result even with an error. The end of the context is not an error.
func Run(ctx context.Context, o Options) (Result, error) {
	began := time.Now()
	if o.Rate <= 0 {
		o.Rate = DefaultRate
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if back := time.Since(o.From); back > MaxBack {
		return Result{}, fmt.Errorf("the back-fill begins %s ago; telemetry older than %s is not taken in", back.Round(time.Hour),
			limits.Days(limits.TraceRetention))
	}
	box, wait := newOutbox(ctx, o.Target)
	r := runner{Options: o, box: box, batch: batch{most: perRequest, send: box.submit}, stream: NewStream(o.Config, o.From), at: o.From}
	err := r.backfill(ctx)
	stopped := r.at.Before(o.To)
	if err == nil && o.Follow && ctx.Err() == nil {
		err = r.follow(ctx)
	}
	// The error of a sender is the cause. The other errors only follow from it.
	if sendErr := wait(); sendErr != nil {
		err = sendErr
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = fmt.Errorf("the server did not answer within %s of the stop: what was under way may be lost", grace)
	}
	return Result{
		Totals: box.Totals(), From: o.From.UTC(), To: r.at.UTC(), Stopped: stopped, Seconds: time.Since(began).Seconds(), Seed: o.Seed,
		Rate:   o.Rate,
		Faults: o.Faults(o.From, r.at),
	}, err
}

type runner struct {
	Options
	box    *outbox
	batch  batch
	stream *Stream
	at     time.Time
}

// step sends all units that are due up to a time. If a stop is requested while the units are made, it sends none.
func (r *runner) step(ctx context.Context, until time.Time) error {
	units := r.stream.Take(until)
	select {
	case <-ctx.Done():
		return nil
	default:
	}
	for _, u := range units {
		if err := r.batch.add(u); err != nil {
			return err
		}
	}
	r.at = until
	return nil
}

func (r *runner) backfill(ctx context.Context) error {
	for r.at.Before(r.To) && ctx.Err() == nil {
		next := r.at.Add(time.Minute)
		if next.After(r.To) {
			next = r.To
		}
		if err := r.step(ctx, next); err != nil {
			return err
		}
		r.Progress(Progress{Totals: r.box.Totals(), At: r.at, Done: float64(r.at.Sub(r.From)) / float64(r.To.Sub(r.From))})
	}
	return r.batch.flush(1)
}

func (r *runner) follow(ctx context.Context) error {
	tick := time.NewTicker(liveStep)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.box.broken.Done():
			return r.box.broken.Err()
		case now := <-tick.C:
			// A long back-fill leaves minutes to catch up with.
			for r.at.Before(now) && ctx.Err() == nil {
				next := r.at.Add(time.Minute)
				if next.After(now) {
					next = now
				}
				if err := r.step(ctx, next); err != nil {
					return err
				}
			}
			if err := r.batch.flush(1); err != nil {
				return err
			}
			r.Progress(Progress{Totals: r.box.Totals(), At: r.at, Done: 1, Live: true})
		}
	}
}
