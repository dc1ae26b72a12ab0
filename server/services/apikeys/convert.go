package apikeys

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func toProto(k store.ApiKey) *svcv2.ApiKey {
	return &svcv2.ApiKey{
		Id: publicid.Encode(publicid.APIKey, k.ID), Object: "api_key", Name: k.Name, Description: k.Description, KeyPrefix: k.KeyPrefix,
		Kind: string(k.Kind), Scopes: k.Scopes, Revoked: k.RevokedAt != nil, RevokedAt: timestamp(k.RevokedAt),
		LastUsedAt: timestamp(k.LastUsedAt),
		ExpiresAt:  timestamp(k.ExpiresAt), CreatedAt: timestamppb.New(k.CreatedAt), CreatedBy: string(k.CreatedBy),
		CreatedByEmail: k.CreatedByEmail,
	}
}

func withSecret(k store.ApiKey, secret, txid string) *svcv2.ApiKeyWithSecret {
	p := toProto(k)
	return &svcv2.ApiKeyWithSecret{
		Id: p.Id, Object: p.Object, Name: p.Name, Description: p.Description, KeyPrefix: p.KeyPrefix, Kind: p.Kind, Scopes: p.Scopes,
		Revoked: p.Revoked, RevokedAt: p.RevokedAt, LastUsedAt: p.LastUsedAt, ExpiresAt: p.ExpiresAt, CreatedAt: p.CreatedAt,
		CreatedBy: p.CreatedBy, CreatedByEmail: p.CreatedByEmail, Secret: secret, Txid: &txid,
	}
}

func mutation(k store.ApiKey, txid string) *svcv2.ApiKeyMutationResponse {
	p := toProto(k)
	return &svcv2.ApiKeyMutationResponse{
		Id: p.Id, Object: p.Object, Name: p.Name, Description: p.Description, KeyPrefix: p.KeyPrefix, Kind: p.Kind, Scopes: p.Scopes,
		Revoked: p.Revoked, RevokedAt: p.RevokedAt, LastUsedAt: p.LastUsedAt, ExpiresAt: p.ExpiresAt, CreatedAt: p.CreatedAt,
		CreatedBy: p.CreatedBy, CreatedByEmail: p.CreatedByEmail, Txid: &txid,
	}
}

func timestamp(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}
