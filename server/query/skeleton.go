package query

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/paging"
)

// Skeleton asks for a part of a trace without what its spans carry.
type Skeleton struct {
	TraceID string
	// Window is when the spans begin.
	Window Window
	// After continues a skeleton: only spans that come after this one in the order of start and id.
	After      *paging.SpanKey
	ParentID   *string
	ErrorsOnly bool
	Limit      int
}

// SkeletonRow is a row of TraceSkeleton.
type SkeletonRow struct {
	SpanID       string    `ch:"SpanId"`
	ParentSpanID string    `ch:"ParentSpanId"`
	Timestamp    time.Time `ch:"Timestamp"`
	DurationNano uint64    `ch:"DurationNano"`
	SpanName     string    `ch:"SpanName"`
	SpanKind     string    `ch:"SpanKind"`
	ServiceName  string    `ch:"ServiceName"`
	StatusCode   string    `ch:"StatusCode"`
	HasError     bool      `ch:"HasError"`
}

// TraceSkeleton gives SkeletonRow rows in the order of start and id. It reads no attributes, which are most of a span.
func TraceSkeleton(s Skeleton) Statement {
	b := &builder{}
	c := where().with("TraceId = "+b.bind("trace_id", "String", s.TraceID),
		"Timestamp >= "+b.time("start", s.Window.Start), "Timestamp <= "+b.time("end", s.Window.End))
	c.optional(b, "ParentSpanId", "parent_span_id", s.ParentID)
	if s.ErrorsOnly {
		c.add("HasError")
	}
	if s.After != nil {
		c.add("(Timestamp, SpanId) > (%s, %s)", b.time("after_start", s.After.Start), b.bind("after_span", "String", s.After.SpanID))
	}
	return b.statement(fmt.Sprintf(`SELECT SpanId, ParentSpanId, Timestamp, DurationNano, SpanName, SpanKind, ServiceName, StatusCode, HasError
FROM spans
WHERE %s
ORDER BY Timestamp, SpanId
LIMIT %s`, c.join(4), b.bind("limit", "UInt32", int64(s.Limit))))
}
