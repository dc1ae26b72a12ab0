package logs

import (
	"cmp"
	"context"
	"math"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// GetLogContext reads a record with those before and after it.
func (s *Service) GetLogContext(ctx context.Context, req *svcv2.GetLogContextRequest) (*svcv2.LogContext, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	row, err := s.record(ctx, org, req.GetId())
	if err != nil {
		return nil, err
	}
	filter, err := scopeOf(row, req.GetScope())
	if err != nil {
		return nil, err
	}
	// Each side has records that are equal in every column at one end only: copies come after the record.
	side := func(ascending bool, most *int32) (rows []reads.LogRow, more bool, err error) {
		want := limits.DefaultLogContext
		if most != nil {
			want = int(*most)
		}
		place := placeOf(row, ascending)
		w := query.Window{Start: row.Timestamp, End: row.Timestamp.Add(limits.LogContextReach)}
		if !ascending {
			place.Copy = math.MaxUint32
			w = query.Window{Start: row.Timestamp.Add(-limits.LogContextReach), End: row.Timestamp}
		}
		rows, err = s.walk(ctx, org, reads.LogSearch{Window: w, Ascending: ascending, Before: &place, Filter: filter, Limit: want + 1})
		return rows[:min(len(rows), want)], len(rows) > want || cut(rows), err
	}
	res := &svcv2.LogContext{Object: "log_context"}
	before, more, err := side(false, req.Before)
	if err != nil {
		return nil, err
	}
	res.HasMoreBefore, res.Position = more, int32(len(before))
	after, more, err := side(true, req.After)
	if err != nil {
		return nil, err
	}
	res.HasMoreAfter = more
	slices.Reverse(before)
	for _, r := range slices.Concat(before, []reads.LogRow{row}, after) {
		p, err := toProto(r)
		if err != nil {
			return nil, err
		}
		res.Data = append(res.Data, p)
	}
	return res, nil
}

// scopeOf is the property that the neighbours of a record share with it.
func scopeOf(row reads.LogRow, scope string) (query.Filter, error) {
	equal := func(of query.Scope, key, value string) query.Filter {
		return query.Filter{Match: &query.Match{Field: query.Field{Scope: of, Key: key}, Op: query.OpEqual, Values: []string{value}}}
	}
	service := equal(query.Builtin, "service.name", row.ServiceName)
	key, value := "", ""
	switch scope = cmp.Or(scope, "service"); scope {
	case "service":
		return service, nil
	case "trace":
		if row.TraceID != "" {
			return equal(query.Builtin, "trace.id", row.TraceID), nil
		}
	case "pod":
		key = "k8s.pod.name"
	case "instance":
		key = "service.instance.id"
	}
	if key != "" {
		value = row.ResourceAttributes[key]
	}
	if value == "" {
		return query.Filter{}, apierr.New(apierr.LogQueryInvalid, "`scope` cannot be "+scope+": the record has none. Ask for another scope.",
			apierr.Param("scope"))
	}
	return query.And(service, equal(query.ResourceAttribute, key, value)), nil
}
