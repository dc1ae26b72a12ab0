package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/paging"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// Skeleton asks for a part of a trace without the contents of its spans.
type Skeleton struct {
	TraceID string
	// Window is the time in which the spans begin.
	Window query.Window
	// After continues a skeleton: it keeps only spans that come after this one in the order of start and id.
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

// TraceSkeleton gives SkeletonRow rows in the order of start and id. It reads no attributes, which are the largest part of a
// span.
func TraceSkeleton(s Skeleton) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("TraceId = "+b.Bind("trace_id", "String", s.TraceID),
		"Timestamp >= "+b.Time("start", s.Window.Start), "Timestamp <= "+b.Time("end", s.Window.End))
	c.Optional(b, "ParentSpanId", "parent_span_id", s.ParentID)
	if s.ErrorsOnly {
		c.Add("HasError")
	}
	if s.After != nil {
		c.Add("(Timestamp, SpanId) > (%s, %s)", b.Time("after_start", s.After.Start), b.Bind("after_span", "String", s.After.SpanID))
	}
	return b.Statement(fmt.Sprintf(`SELECT SpanId, ParentSpanId, Timestamp, DurationNano, SpanName, SpanKind, ServiceName, StatusCode, HasError
FROM spans
WHERE %s
ORDER BY Timestamp, SpanId
LIMIT %s`, c.Join(4), b.Bind("limit", "UInt32", int64(s.Limit))))
}
