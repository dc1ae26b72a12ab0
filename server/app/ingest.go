package app

import (
	"cmp"
	"context"
	"path/filepath"
	"runtime"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/browsersdk"
	"github.com/svc-observability/svc/server/ingest/credentials"
	"github.com/svc-observability/svc/server/ingest/errorsums"
	"github.com/svc-observability/svc/server/ingest/marks"
	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// openQueue opens the queue of this node.
func (a *App) openQueue(ctx context.Context) error {
	if !a.cfg.Roles.Has(config.RoleIngest) {
		return nil
	}
	log, err := queue.Open(queue.Config{
		Dir:          filepath.Join(a.cfg.DataDir, "queue"),
		SegmentBytes: int64(a.cfg.Limits.QueueSegmentBytes), MaxBytes: int64(a.cfg.Limits.QueueMaxBytes),
		MaxBytesPerOwner: int64(a.cfg.Limits.QueueMaxBytesPerOrg), Owner: ingest.RecordOwner, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.queue = log
	a.onClose("ingest queue", log.Close)
	return a.owner().ClaimQueue(ctx, log)
}

// openIngest resumes the batches that an earlier run acknowledged but did not store, and makes the two ingest doors.
func (a *App) openIngest(context.Context) error {
	if !a.cfg.Roles.Has(config.RoleIngest) {
		return nil
	}
	log := a.queue
	if err := a.openUsage(log.ID()); err != nil {
		return err
	}
	decoder, err := ingest.NewDecoder()
	if err != nil {
		return err
	}
	ledger, err := errorsums.Open(errorsums.Config{Dir: log.Dir(), Node: log.ID(), Database: a.store, Logger: a.log})
	if err != nil {
		return err
	}
	sets := &blocks.Pool{}
	a.pipeline, err = pipeline.Start(pipeline.Config{
		Log: log, NewBatch: func() pipeline.Batch { return ingest.NewBatch(decoder) }, Inserter: pipeline.Posting{To: a.warehouse},
		Ledger:  ledger,
		MaxRows: a.cfg.Limits.BatchMaxRows, MaxAge: a.cfg.Limits.BatchMaxAge,
		Parallel: cmp.Or(a.cfg.Limits.InsertParallelism, runtime.GOMAXPROCS(0)/limits.CoresOfInsert),
		Logger:   a.log,
	})
	if err != nil {
		return err
	}
	go ledger.Run()
	a.onClose("sums of errors", ledger.Close)
	a.onCloseUntil("ingest pipeline", limits.StopBacklog, a.stopPipeline)
	a.registry.MustRegister(ingest.QueueCollector{Log: log, Pipeline: a.pipeline})
	keys := auth.NewIngest(auth.IngestConfig{Store: a.store, Hasher: a.hasher, Logger: a.log})
	a.onClose("ingest keys", func(context.Context) error { keys.Close(); return nil })
	connectors := auth.NewLogpush(auth.LogpushConfig{Store: a.store, Hasher: a.hasher, Logger: a.log})
	a.onClose("log push connectors", func(context.Context) error { connectors.Close(); return nil })
	sdk, err := browsersdk.Built()
	if err != nil {
		return err
	}
	gateway, err := ingest.New(ingest.Config{
		Keys: credentials.Keys{Keys: keys}, Connectors: credentials.Connectors{Connectors: connectors},
		Queue: log, Sets: sets, Usage: a.usage, Outcomes: a.outcomes, Logger: a.log, Metrics: a.registry,
		Region: a.cfg.Region, SDK: sdk, Nodes: a.cfg.IngestNodes,
		Limits: ingest.Limits{
			Body:         int(a.cfg.Limits.IngestMaxBodyBytes),
			Decompressed: int(a.cfg.Limits.IngestMaxDecompressedBytes),
			GRPCMessage:  int(a.cfg.Limits.GRPCMaxMessageBytes),
		},
	})
	if err != nil {
		return err
	}
	a.gateway = gateway
	a.ingest = gateway.HTTPServer()
	a.onCloseDoor("ingest server", a.shutdown(a.ingest, "ingest"))
	a.otlp = gateway.GRPCServer()
	stop := a.shutdown(a.otlp, "otlp grpc")
	a.onCloseDoor("otlp grpc server", func(ctx context.Context) error {
		gateway.Drain()
		return stop(ctx)
	})
	return nil
}

// openMarks lets alert rules know how far this node's telemetry is stored.
func (a *App) openMarks(context.Context) error {
	c := marks.Config{Store: a.store, Queue: a.queue, Pipeline: a.pipeline, Logger: a.log}
	if a.gateway != nil && a.cfg.IngestNodes == 0 {
		c.Nodes = a.gateway.SetNodes
	}
	a.marks = marks.New(c)
	a.marks.Start()
	a.onClose("ingest mark", a.marks.Close)
	return nil
}
