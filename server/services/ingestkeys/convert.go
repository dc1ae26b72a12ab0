package ingestkeys

import (
	"cmp"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func toPair(public, private store.IngestKey) *svcv2.IngestKeys {
	return &svcv2.IngestKeys{
		Object: "ingest_keys", PublicKey: cmp.Or(public.PublicText, public.KeyPrefix), PrivateKey: private.KeyPrefix,
		PublicRotatedAt: timestamppb.New(rotated(public)), PrivateRotatedAt: timestamppb.New(rotated(private)),
	}
}

func rotated(k store.IngestKey) time.Time {
	if k.RotatedAt != nil {
		return *k.RotatedAt
	}
	return k.CreatedAt
}

// ToProto returns a key as the API shows it.
func ToProto(k store.IngestKey) *svcv2.IngestKey {
	signals := k.Signals
	if signals == nil {
		signals = store.Signals()
	}
	return &svcv2.IngestKey{
		Id: publicid.Encode(publicid.IngestKey, k.ID), Object: "ingest_key", Name: k.Name, Description: k.Description, KeyPrefix: k.KeyPrefix,
		Enabled: k.DisabledAt == nil, AllowedSignals: signals, RateLimitPerSecond: k.RateLimit,
		ResourceAttributes: toAttributes(k.ResourceAttributes),
		ExpiresAt:          optional(k.ExpiresAt), CreatedAt: timestamppb.New(k.CreatedAt), UpdatedAt: timestamppb.New(k.UpdatedAt),
		CreatedBy:  string(k.CreatedBy),
		LastUsedAt: optional(k.LastUsedAt), RotatedAt: optional(k.RotatedAt),
	}
}

func withSecret(k store.IngestKey, secret string) *svcv2.IngestKeyWithSecret {
	p := ToProto(k)
	return &svcv2.IngestKeyWithSecret{
		Id: p.Id, Object: p.Object, Name: p.Name, Description: p.Description, KeyPrefix: p.KeyPrefix, Enabled: p.Enabled,
		AllowedSignals:     p.AllowedSignals,
		RateLimitPerSecond: p.RateLimitPerSecond, ResourceAttributes: p.ResourceAttributes, ExpiresAt: p.ExpiresAt, CreatedAt: p.CreatedAt,
		UpdatedAt: p.UpdatedAt, CreatedBy: p.CreatedBy, LastUsedAt: p.LastUsedAt, RotatedAt: p.RotatedAt, Secret: secret,
	}
}

func optional(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}

func toAttributes(list []store.ResourceAttribute) []*svcv2.IngestKeyAttribute {
	var out []*svcv2.IngestKeyAttribute
	for _, a := range list {
		out = append(out, &svcv2.IngestKeyAttribute{Key: a.Key, Value: a.Value, Mode: string(a.Mode)})
	}
	return out
}

func fromAttributes(list []*svcv2.IngestKeyAttribute) []store.ResourceAttribute {
	out := make([]store.ResourceAttribute, 0, len(list))
	for _, a := range list {
		out = append(out, store.ResourceAttribute{Key: a.GetKey(), Value: a.GetValue(), Mode: store.AttributeMode(a.GetMode())})
	}
	return out
}
