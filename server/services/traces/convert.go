package traces

import (
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/reads"
)

func toSummary(row reads.TraceRow) *svcv2.TraceSummary {
	p := &svcv2.TraceSummary{
		Id: row.TraceID, Object: "trace", StartTime: timestamppb.New(row.Start), DurationMs: float64(row.DurationNano) / 1e6,
		RootSpanName: reads.DisplayName(row.SpanName, row.HTTPMethod, row.HTTPRoute), RootSpanKind: row.SpanKind,
		RootServiceName: row.ServiceName, RootStatusCode: row.StatusCode, RootHasError: row.HasError,
		DeploymentEnvironment: text(row.Environment), ServiceNamespace: text(row.ServiceNamespace),
		HttpMethod: text(row.HTTPMethod), HttpRoute: text(row.HTTPRoute),
	}
	if row.HTTPStatusCode != 0 {
		p.HttpStatusCode = text(strconv.Itoa(int(row.HTTPStatusCode)))
	}
	return p
}

func toTrace(id string, extent reads.TraceExtentRow, rows []reads.SpanRow) *svcv2.Trace {
	p := &svcv2.Trace{
		Id: id, Object: "trace", StartTime: timestamppb.New(extent.Start), EndTime: timestamppb.New(extent.End),
		DurationMs: float64(extent.End.Sub(extent.Start)) / float64(time.Millisecond), SpanCount: int32(extent.SpanCount),
		ServiceCount: int32(extent.ServiceCount), Truncated: extent.SpanCount > uint64(len(rows)),
		Spans: make([]*svcv2.Span, len(rows)),
	}
	for i, row := range rows {
		p.Spans[i] = toSpan(id, row)
	}
	return p
}

func toSpan(traceID string, row reads.SpanRow) *svcv2.Span {
	p := &svcv2.Span{
		Id: row.SpanID, Object: "span", TraceId: traceID, ParentSpanId: text(row.ParentSpanID), Name: row.SpanName, ServiceName: row.ServiceName,
		Kind: row.SpanKind, StartTime: timestamppb.New(row.Timestamp), DurationMs: float64(row.DurationNano) / 1e6, StatusCode: row.StatusCode,
		StatusMessage: text(row.StatusMessage), Attributes: row.SpanAttributes, ResourceAttributes: row.ResourceAttributes,
		TraceState: text(row.TraceState), ScopeName: text(row.ScopeName), ScopeVersion: text(row.ScopeVersion),
	}
	for i, at := range row.EventsTimestamp {
		p.Events = append(p.Events, &svcv2.SpanEvent{
			Timestamp: timestamppb.New(at), Name: row.EventsName[i], Attributes: row.EventsAttributes[i],
		})
	}
	for i, linked := range row.LinksTraceID {
		p.Links = append(p.Links, &svcv2.SpanLink{
			TraceId: linked, SpanId: row.LinksSpanID[i], TraceState: text(row.LinksTraceState[i]), Attributes: row.LinksAttributes[i],
		})
	}
	return p
}

// text is nil for an empty column.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
