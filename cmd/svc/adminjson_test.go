package main

import (
	"time"

	"github.com/svc-observability/svc/server/store"
)

// ingestKeyJSON is an ingest key with the field names of the API.
type ingestKeyJSON struct {
	Object             string              `json:"object"`
	ID                 string              `json:"id"`
	Kind               store.IngestKeyKind `json:"kind"`
	Name               string              `json:"name"`
	Description        *string             `json:"description"`
	KeyPrefix          string              `json:"key_prefix"`
	Enabled            bool                `json:"enabled"`
	AllowedSignals     []string            `json:"allowed_signals"`
	RateLimitPerSecond *float64            `json:"rate_limit_per_second"`
	ResourceAttributes []attributeJSON     `json:"resource_attributes"`
	ExpiresAt          *time.Time          `json:"expires_at"`
	CreatedAt          time.Time           `json:"created_at"`
	UpdatedAt          time.Time           `json:"updated_at"`
	CreatedBy          *string             `json:"created_by"`
	LastUsedAt         *time.Time          `json:"last_used_at"`
	RotatedAt          *time.Time          `json:"rotated_at"`
	Secret             string              `json:"secret,omitempty"` // only after create and roll
}

type attributeJSON struct {
	Key   string              `json:"key"`
	Value string              `json:"value"`
	Mode  store.AttributeMode `json:"mode"`
}

// mappingJSON is an attribute mapping as the API shows it.
type mappingJSON struct {
	Object        string    `json:"object"`
	ID            string    `json:"id"`
	Name          string    `json:"name"`
	SourceContext string    `json:"source_context"`
	SourceKey     string    `json:"source_key"`
	TargetKey     string    `json:"target_key"`
	Operation     string    `json:"operation"`
	Enabled       bool      `json:"enabled"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
}

// samplingJSON is a sampling policy with the field names of the API.
type samplingJSON struct {
	Object                string     `json:"object"`
	TraceSampleRatio      float64    `json:"trace_sample_ratio"`
	AlwaysKeepErrorSpans  bool       `json:"always_keep_error_spans"`
	AlwaysKeepSlowSpansMS *int64     `json:"always_keep_slow_spans_ms"`
	CreatedAt             *time.Time `json:"created_at"`
	UpdatedAt             *time.Time `json:"updated_at"`
}
