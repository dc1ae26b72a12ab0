package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

const (
	itemsPerRequest = 512
	senders         = 16
	storeLimit      = 5 * time.Minute
	mergeLimit      = 2 * time.Minute
)

// result is a row of the table. Processor times are µs per item.
type result struct {
	combination
	// ack is the usage of the server until the durable acknowledgement, with the engine halted.
	ack       float64
	ackAnchor anchor
	// stored means that the fields below were measured.
	stored         bool
	server, engine float64
	storedAnchor   anchor
	// merges is how many times a row was merged on average.
	merges float64
	disk   float64
	// acked and storedRate are in items per second: until all items were acknowledged, and until the last one was stored.
	acked, storedRate float64
	p50, p99          time.Duration // under a load beyond saturation
	// serverPeak and enginePeak are the peak resident memory of each process, in bytes. They need not occur at the same time.
	serverPeak, enginePeak int64
	halved                 bool
	halfP50, halfP99       time.Duration
	halfRate               float64
}

func (r result) total() float64 { return r.server + r.engine }

// measureAll measures every combination. Each load that is stored has its own server. The loads that are only acknowledged share
// one server for each signal.
func measureAll(ctx context.Context, o options) ([]result, error) {
	var rows []result
	for _, s := range o.signals {
		var mine []result
		for _, c := range combinations(s) {
			r := result{combination: c}
			if c.usual() || c.newSeries || c.fleet || o.every {
				if err := measureStored(ctx, o, &r); err != nil {
					return nil, fmt.Errorf("%s: %w", c, err)
				}
			}
			mine = append(mine, r)
		}
		if err := measureAcks(ctx, o, mine); err != nil {
			return nil, err
		}
		rows = append(rows, mine...)
	}
	return rows, nil
}

// onServer runs a part of the measurement on a server with an empty data folder. The server has received a little of the signal
// before, to warm up pools and caches.
func onServer(ctx context.Context, o options, s otlp.Signal, do func(*process) error) (err error) {
	p, err := startProcess(ctx, o.program, filepath.Join(o.dir, "data"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if _, err := send(ctx, p.load(combination{signal: s, protocol: loadtest.HTTPProtobuf, gzip: true}, o.warmItems)); err != nil {
		return err
	}
	if err := p.waitStored(ctx); err != nil {
		return err
	}
	return do(p)
}

// measureStored sends the load as fast as the server accepts it, and waits until all of it is stored and merged. Then it sends
// half as many items per second as were stored.
func measureStored(ctx context.Context, o options, r *result) error {
	return onServer(ctx, o, r.signal, func(p *process) error {
		cfg := p.load(r.combination, o.items)
		say(o, "%s: %d items, stored and merged", r.combination, cfg.Requests*cfg.Items)
		load, err := loadtest.Prepare(cfg)
		if err != nil {
			return err
		}
		if err := p.waitMerged(ctx); err != nil {
			return err
		}
		sent := 0
		r.storedAnchor, err = o.measure(ctx, func() error {
			sent, err = p.storeAll(ctx, load, r)
			return err
		})
		if err != nil {
			return err
		}
		bytes, rows, err := p.disk(ctx, r.signal)
		if err != nil {
			return err
		}
		r.disk = bytes / rows
		if err := checkStored(r.signal, sent+o.warmItems/itemsPerRequest*itemsPerRequest, rows); err != nil {
			return err
		}
		if o.half > 0 {
			if err := p.half(ctx, o, r); err != nil {
				return err
			}
		}
		r.serverPeak, r.enginePeak, err = p.peaks()
		return err
	})
}

// storeAll sends a load and waits until all of it is stored and merged.
func (p *process) storeAll(ctx context.Context, load *loadtest.Load, r *result) (sent int, err error) {
	before, merged, err := p.used(ctx)
	if err != nil {
		return 0, err
	}
	started := time.Now()
	report, err := acknowledged(load.Run(ctx))
	if err != nil {
		return 0, err
	}
	if err := p.waitStored(ctx); err != nil {
		return 0, err
	}
	stored := time.Since(started)
	if err := p.waitMerged(ctx); err != nil {
		return 0, err
	}
	after, mergedAfter, err := p.used(ctx)
	if err != nil {
		return 0, err
	}
	items := float64(report.AcknowledgedItems())
	r.stored = true
	r.server, r.engine = (after.server-before.server)/items*1e6, (after.engine-before.engine)/items*1e6
	r.merges = (mergedAfter - merged) / items
	r.acked, r.storedRate = items/report.Elapsed.Seconds(), items/stored.Seconds()
	r.p50, r.p99 = report.P50, report.P99
	return report.AcknowledgedItems(), nil
}

// half sends half as many items a second as were stored.
func (p *process) half(ctx context.Context, o options, r *result) error {
	r.halfRate = r.storedRate / 2
	cfg := p.load(r.combination, int(r.halfRate*o.half.Seconds()))
	cfg.Rate, cfg.Run = r.halfRate/itemsPerRequest, "half"
	say(o, "%s: half of saturation, %.0f items/s for %s", r.combination, r.halfRate, o.half)
	report, err := send(ctx, cfg)
	if err != nil {
		return err
	}
	r.halved, r.halfP50, r.halfP99 = true, report.P50, report.P99
	return p.waitStored(ctx)
}

// measureAcks measures only the cost of the acknowledgement. The engine is halted meanwhile, so it uses no processor time. The
// server only receives, walks and writes to its queue. The load is small enough for the columns to wait in memory.
func measureAcks(ctx context.Context, o options, rows []result) error {
	return onServer(ctx, o, rows[0].signal, func(p *process) error {
		// The first load takes memory that later loads find ready.
		first := rows[0]
		if err := p.acknowledge(ctx, o, &first); err != nil {
			return err
		}
		for i := range rows {
			say(o, "%s: acknowledgement alone", rows[i].combination)
			if err := p.acknowledge(ctx, o, &rows[i]); err != nil {
				return fmt.Errorf("%s: %w", rows[i].combination, err)
			}
		}
		return nil
	})
}

// acknowledge measures the server's usage per item while the engine is halted.
func (p *process) acknowledge(ctx context.Context, o options, r *result) error {
	load, err := loadtest.Prepare(p.load(r.combination, o.ackItems))
	if err != nil {
		return err
	}
	if err := p.halt(); err != nil {
		return err
	}
	r.ackAnchor, err = o.measure(ctx, func() error {
		before, err := cpuSeconds(p.pid())
		if err != nil {
			return err
		}
		report, err := acknowledged(load.Run(ctx))
		if err != nil {
			return err
		}
		after, err := cpuSeconds(p.pid())
		r.ack = (after - before) / float64(report.AcknowledgedItems()) * 1e6
		return err
	})
	if err := errors.Join(err, p.resume()); err != nil {
		return err
	}
	return p.waitStored(ctx)
}

// repeatedSeries is the number of series that data points belong to: 40 processes with 512 series each report again and again.
const repeatedSeries = 40 * itemsPerRequest

// load imitates real data: no id, path or user repeats more often than in reality, and every request has its own body.
func (p *process) load(c combination, items int) loadtest.Config {
	series := 0
	if c.signal == otlp.Metrics && !c.newSeries {
		series = repeatedSeries
	}
	return loadtest.Config{
		Series: series,
		URL:    p.keys.IngestURL, Addr: p.keys.OTLPGRPCAddr, Key: p.keys.PrivateKey, Protocol: c.protocol, Signal: c.signal, Gzip: c.gzip,
		Run: "bench", Varied: true, Fleet: c.fleet, Workers: senders, Items: itemsPerRequest, Requests: max(1, items/itemsPerRequest),
		Seed: p.seed(),
	}
}

// send runs a load. Everything in it must be acknowledged.
func send(ctx context.Context, cfg loadtest.Config) (*loadtest.Report, error) {
	return acknowledged(loadtest.Run(ctx, cfg))
}

func acknowledged(r *loadtest.Report, err error) (*loadtest.Report, error) {
	switch {
	case err != nil:
		return r, err
	case r.Acknowledged == 0 || r.Failed > 0 || r.Refused > 0:
		return r, fmt.Errorf("not everything was acknowledged: %s (%w)", r, r.Failure)
	default:
		return r, nil
	}
}

func say(o options, format string, args ...any) {
	fmt.Fprintf(o.log, time.Now().Format(time.TimeOnly)+"  "+format+"\n", args...)
}

// checkStored checks the count: a cost per item is worthless if items are missing.
func checkStored(s otlp.Signal, sent int, rows float64) error {
	if rows != float64(sent) {
		return fmt.Errorf("%.0f %s are stored, %d were acknowledged", rows, s, sent)
	}
	return nil
}
