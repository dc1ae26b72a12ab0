// Package credentials joins the ingest endpoints to the ingest keys and connectors of package auth.
package credentials

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/logpush"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/store"
)

// Keys authenticates ingest keys.
type Keys struct{ Keys *auth.IngestAuthenticator }

// AuthenticateIngest returns the key of a secret. An unknown or refused secret is the error IngestUnauthorized.
func (k Keys) AuthenticateIngest(ctx context.Context, secret string) (ingest.Key, error) {
	found, err := k.Keys.Lookup(ctx, secret)
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
	key := ingest.Key{Origin: otlp.Origin{Org: found.Org}, PublicID: found.PublicID, Signals: found.Signals}
	if found.RateLimit != nil {
		key.RateLimit = *found.RateLimit
	}
	switch found.Kind {
	case store.IngestKeyPublic:
		key.KeyType = otlp.KeyPublic
	case store.IngestKeyPrivate:
		key.KeyType = otlp.KeyPrivate
	case store.IngestKeyCustom:
		key.KeyType, key.KeyID = otlp.KeyCustom, found.PublicID
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

// Connectors authenticates the connectors of log push.
type Connectors struct{ Connectors *auth.LogpushAuthenticator }

// AuthenticateConnector returns the connector with an id and a secret.
func (l Connectors) AuthenticateConnector(ctx context.Context, id, secret string) (ingest.Connector, error) {
	found, err := l.Connectors.Lookup(ctx, id, secret)
	if err != nil {
		if errors.Is(err, auth.ErrUnknownConnector) {
			return ingest.Connector{}, apierr.New(apierr.IngestUnauthorized, err.Error(), apierr.Cause(err))
		}
		return ingest.Connector{}, err
	}
	return ingest.Connector{
		Org:    found.Org,
		ID:     found.ID,
		Source: logpush.Source{ServiceName: found.ServiceName, ZoneName: found.ZoneName},
	}, nil
}

// Delivered notes a delivery of the connector and its problem, if any.
func (l Connectors) Delivered(c ingest.Connector, problem string) {
	l.Connectors.Delivered(auth.LogpushConnector{Org: c.Org, ID: c.ID}, problem)
}
