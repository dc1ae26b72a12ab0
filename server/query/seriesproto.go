package query

import (
	"math"
	"strconv"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// SeriesProto converts the result of one query for the signals' own timeseries methods.
func (t *Timeseries) SeriesProto() []*svcv2.TelemetrySeries {
	out := make([]*svcv2.TelemetrySeries, len(t.Series))
	for i, s := range t.Series {
		out[i] = &svcv2.TelemetrySeries{Other: s.Other, Points: t.points(s.Values)}
		if s.Other || s.Group != nil {
			name := s.Name
			out[i].Group = &name
		}
	}
	return out
}

// points leaves out buckets without a value.
func (t *Timeseries) points(values []float64) []*svcv2.TelemetryPoint {
	out := []*svcv2.TelemetryPoint{}
	for i, v := range values {
		if !math.IsNaN(v) {
			out = append(out, &svcv2.TelemetryPoint{Timestamp: timestamppb.New(t.Buckets[i]), Value: v})
		}
	}
	return out
}

// GroupsProto converts the result of one query for the signals' own breakdown methods. It leaves out groups without a value.
func (b *Breakdown) GroupsProto() []*svcv2.TelemetryGroup {
	out := []*svcv2.TelemetryGroup{}
	for _, g := range b.Groups {
		if !math.IsNaN(g.Values[0]) {
			out = append(out, &svcv2.TelemetryGroup{Name: g.Name, Value: g.Values[0], Other: g.Other})
		}
	}
	return out
}

// Proto converts a result for svc.v2.QueryService.
func (t *Timeseries) Proto() *svcv2.QueryTimeseriesResponse {
	out := &svcv2.QueryTimeseriesResponse{
		Object:        "query_timeseries",
		StartTime:     timestamppb.New(t.Window.Start),
		EndTime:       timestamppb.New(t.Window.End),
		BucketSeconds: int32(t.Bucket.Seconds()),
		Truncated:     t.Truncated,
		Warnings:      t.Warnings,
	}
	for _, s := range t.Series {
		p := &svcv2.QuerySeries{Query: s.Query, Name: s.Name, Group: s.Group, Other: s.Other, Unit: s.Unit, Points: t.points(s.Values)}
		if s.Previous != nil {
			p.PreviousPoints = t.points(s.Previous)
		}
		if s.Change != nil {
			p.PercentChangePoints = t.points(s.Change)
		}
		out.Series = append(out.Series, p)
	}
	return out
}

// Proto converts a result for svc.v2.QueryService.
func (b *Breakdown) Proto() *svcv2.QueryBreakdownResponse {
	out := &svcv2.QueryBreakdownResponse{
		Object:    "query_breakdown",
		StartTime: timestamppb.New(b.Window.Start),
		EndTime:   timestamppb.New(b.Window.End),
		Truncated: b.Truncated,
		Warnings:  b.Warnings,
	}
	for _, c := range b.Columns {
		out.Columns = append(out.Columns, &svcv2.QueryColumn{Query: c.Query, Name: c.Name, Unit: c.Unit})
	}
	for _, g := range b.Groups {
		row := &svcv2.QueryRow{Name: g.Name, Group: g.Group, Other: g.Other}
		for i, v := range g.Values {
			cell := &svcv2.QueryCell{Value: number(v)}
			if g.Previous != nil {
				cell.Previous = number(g.Previous[i])
			}
			if g.Change != nil {
				cell.PercentChange = number(g.Change[i])
			}
			row.Values = append(row.Values, cell)
		}
		out.Data = append(out.Data, row)
	}
	return out
}

// number is nil if there is no value.
func number(v float64) *float64 {
	if math.IsNaN(v) {
		return nil
	}
	return &v
}

// valueText is a filter's value in the form that ParseWhere reads.
func valueText(v *structpb.Value) (string, bool) {
	switch k := v.GetKind().(type) {
	case *structpb.Value_StringValue:
		return k.StringValue, true
	case *structpb.Value_NumberValue:
		if math.IsNaN(k.NumberValue) || math.IsInf(k.NumberValue, 0) {
			return "", false
		}
		return numberText(k.NumberValue), true
	case *structpb.Value_BoolValue:
		return strconv.FormatBool(k.BoolValue), true
	default:
		return "", false
	}
}

// numberText is a number in the form in which ingest writes numbers of attributes.
func numberText(n float64) string {
	if a := math.Abs(n); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(n, 'e', -1, 64)
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
