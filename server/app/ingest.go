package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/logpush"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// openIngest opens the queue, resumes the batches that an earlier run acknowledged but did not store, and makes the two ingest
// doors.
func (a *App) openIngest(context.Context) error {
	if !a.cfg.Roles.Has(config.RoleIngest) {
		return nil
	}
	log, err := queue.Open(queue.Config{
		Dir: filepath.Join(a.cfg.DataDir, "queue"), SegmentBytes: int64(a.cfg.Limits.QueueSegmentBytes), MaxBytes: int64(a.cfg.Limits.QueueMaxBytes),
		MaxBytesPerOwner: int64(a.cfg.Limits.QueueMaxBytesPerOrg), Owner: ingest.RecordOwner, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.queue = log
	a.onClose("ingest queue", log.Close)
	if err := a.openUsage(log.ID()); err != nil {
		return err
	}
	decoder, err := ingest.NewDecoder()
	if err != nil {
		return err
	}
	sets := &blocks.Pool{}
	a.pipeline, err = pipeline.Start(pipeline.Config{
		Log: log, NewBatch: func() pipeline.Batch { return ingest.NewBatch(decoder) }, Inserter: inserter{a.warehouse},
		MaxRows: a.cfg.Limits.BatchMaxRows, MaxAge: a.cfg.Limits.BatchMaxAge,
		AttachmentBytes:   func(v any) int { return v.(*blocks.Set).Bytes() },
		ReleaseAttachment: func(v any) { sets.Put(v.(*blocks.Set)) },
		Logger:            a.log,
	})
	if err != nil {
		return err
	}
	a.onClose("ingest pipeline", a.pipeline.Close)
	a.registry.MustRegister(queueCollector{log, a.pipeline})
	keys := auth.NewIngest(auth.IngestConfig{Store: a.store, Hasher: a.hasher, Logger: a.log})
	a.onClose("ingest keys", func(context.Context) error { keys.Close(); return nil })
	connectors := auth.NewLogpush(auth.LogpushConfig{Store: a.store, Hasher: a.hasher, Logger: a.log})
	a.onClose("log push connectors", func(context.Context) error { connectors.Close(); return nil })
	gateway, err := ingest.New(ingest.Config{
		Keys: ingestKeys{keys}, Connectors: logpushConnectors{connectors}, Queue: log, Sets: sets, Logger: a.log, Metrics: a.registry, Region: a.cfg.Region,
		Usage: a.usage, Outcomes: a.outcomes, Nodes: a.cfg.IngestNodes,
		Limits: ingest.Limits{
			Body: int(a.cfg.Limits.IngestMaxBodyBytes), Decompressed: int(a.cfg.Limits.IngestMaxDecompressedBytes), GRPCMessage: int(a.cfg.Limits.GRPCMaxMessageBytes),
		},
	})
	if err != nil {
		return err
	}
	a.ingest = gateway.HTTPServer()
	a.onClose("ingest server", a.shutdown(a.ingest, "ingest"))
	a.otlp = gateway.GRPCServer()
	a.onClose("otlp grpc server", a.shutdown(a.otlp, "otlp grpc"))
	a.onClose("ingest health", func(context.Context) error { gateway.Drain(); return nil })
	return nil
}

// inserter posts a table to the warehouse while its columns are still being written.
type inserter struct{ warehouse *warehouse.Warehouse }

func (i inserter) Insert(ctx context.Context, t pipeline.Table, token string) error {
	return post(ctx, i.warehouse.Insert, t, token)
}

func (i inserter) InsertIgnoringViews(ctx context.Context, t pipeline.Table, token string) error {
	return post(ctx, i.warehouse.InsertIgnoringViews, t, token)
}

func post(ctx context.Context, insert func(ctx context.Context, table, columns string, body io.Reader, token string) error, t pipeline.Table, token string) error {
	r, w := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, err := t.WriteTo(w)
		w.CloseWithError(err)
	}()
	err := insert(ctx, t.Name(), t.Columns(), r, token)
	// The writer must not wait for a reader that has left, and the columns are reused as soon as this function returns.
	r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	<-written
	return err
}

// ingestKeys connects the doors to the credentials of package auth.
type ingestKeys struct{ keys *auth.IngestAuthenticator }

func (k ingestKeys) AuthenticateIngest(ctx context.Context, secret string) (ingest.Key, error) {
	found, err := k.keys.Lookup(ctx, secret)
	if err != nil {
		if errors.Is(err, auth.ErrUnknownKey) {
			var key ingest.Key
			var refused *auth.RefusedKeyError
			if errors.As(err, &refused) {
				key.Org, key.PublicID = refused.Org, refused.KeyID
			}
			cause := err
			if errors.Is(err, auth.ErrMalformedKey) {
				cause = fmt.Errorf("%w: %w", ingest.ErrMalformedKey, err)
			}
			return key, apierr.New(apierr.IngestUnauthorized, err.Error(), apierr.Cause(cause))
		}
		return ingest.Key{}, err
	}
	key := ingest.Key{Org: found.Org, PublicID: found.ID, Signals: found.Signals, RateLimit: found.RateLimit}
	switch found.Kind {
	case store.IngestKeyPublic:
		key.Type = otlp.KeyPublic
	case store.IngestKeyPrivate:
		key.Type = otlp.KeyPrivate
	case store.IngestKeyCustom:
		key.Type, key.ID = otlp.KeyCustom, found.ID
	}
	if policy := found.Policy; policy != nil {
		key.Sampling = samplingOf(policy.Sampling)
		for _, m := range policy.Mappings {
			key.Mappings = append(key.Mappings, mappingOf(m))
		}
	}
	for _, attribute := range found.ResourceAttributes {
		key.Attributes = append(key.Attributes, otlp.ResourceAttribute{
			Key: attribute.Key, Value: attribute.Value, IfMissing: attribute.Mode == store.AttributeIfMissing,
		})
	}
	return key, nil
}

func samplingOf(p store.SamplingPolicy) otlp.Sampling {
	out := otlp.Sampling{Ratio: p.TraceSampleRatio, KeepErrors: p.AlwaysKeepErrorSpans}
	if ms := p.AlwaysKeepSlowSpansMS; ms != nil {
		out.KeepSlowNano = uint64(*ms) * uint64(time.Millisecond)
	}
	return out
}

func mappingOf(m store.AttributeMapping) otlp.Mapping {
	out := otlp.Mapping{Source: m.SourceKey, Target: m.TargetKey, Move: m.Operation == store.AttributeMappingOperationMove}
	if m.SourceContext == store.AttributeMappingSourceContextResource {
		out.Context = otlp.ResourceContext
	}
	return out
}

// logpushConnectors connects the endpoints of log push connectors to their credentials.
type logpushConnectors struct{ connectors *auth.LogpushAuthenticator }

func (l logpushConnectors) AuthenticateConnector(ctx context.Context, id, secret string) (ingest.Connector, error) {
	found, err := l.connectors.Lookup(ctx, id, secret)
	if err != nil {
		if errors.Is(err, auth.ErrUnknownConnector) {
			return ingest.Connector{}, apierr.New(apierr.IngestUnauthorized, err.Error(), apierr.Cause(err))
		}
		return ingest.Connector{}, err
	}
	return ingest.Connector{Org: found.Org, ID: found.ID, Source: logpush.Source{ServiceName: found.ServiceName, ZoneName: found.ZoneName}}, nil
}

func (l logpushConnectors) Delivered(c ingest.Connector, problem string) {
	l.connectors.Delivered(auth.LogpushConnector{Org: c.Org, ID: c.ID}, problem)
}
