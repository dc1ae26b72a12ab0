// Package attributes answers the methods of svc.v2.AttributesService: it lists the keys and values of attributes that were sent.
package attributes

import (
	"cmp"
	"context"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// Service implements svcv2connect.AttributesServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse read.Warehouse
}

// New returns the service.
func New(w read.Warehouse) *Service { return &Service{warehouse: w} }

const (
	// maxRows is the number of rows from which a list of values is made.
	maxRows = limits.AttributeRows
	// maxDistinct is the number of values through which a caller can page.
	maxDistinct = limits.AttributeValues
)

// ListAttributeKeys lists keys from the rollup. For one service it lists the keys of its latest rows.
func (s *Service) ListAttributeKeys(ctx context.Context, req *svcv2.ListAttributeKeysRequest) (*svcv2.ListAttributeKeysResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.AttributeWindow)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	res := &svcv2.ListAttributeKeysResponse{Object: "list"}
	var rows []*svcv2.AttributeKey
	if req.ServiceName != nil {
		all, err := s.keysOfService(ctx, org, window, req)
		if err != nil {
			return nil, err
		}
		rows, res.NextCursor = paging.Part(page, all)
	} else {
		found, err := read.All[reads.AttributeKeyRow](ctx, s.warehouse, org, reads.ListAttributeKeys(reads.AttributeKeyList{
			Window: window, Signal: req.GetSignal(), Scope: req.Scope, Search: search(req.Search), Offset: page.Offset, Limit: page.Want(),
		}))
		if err != nil {
			return nil, err
		}
		var all []*svcv2.AttributeKey
		for _, row := range found {
			all = append(all, &svcv2.AttributeKey{
				Object: "attribute_key", Key: row.Key, Scope: row.Scope, ValueTypes: row.Types, Count: float64(row.Uses),
			})
		}
		rows, res.NextCursor = paging.Cut(page, all)
	}
	res.Data, res.HasMore = rows, res.NextCursor != nil
	return res, nil
}

// search is nil if there is no text.
func search(text *string) *string {
	if text != nil && *text == "" {
		return nil
	}
	return text
}

func (s *Service) keysOfService(
	ctx context.Context, org principal.OrgID, window query.Window, req *svcv2.ListAttributeKeysRequest,
) ([]*svcv2.AttributeKey, error) {
	scopes := map[string]query.Scope{"resource": query.ResourceAttribute, query.Source(req.GetSignal()).OwnScope(): query.OwnAttribute}
	if req.GetSignal() == "traces" {
		scopes["event"] = query.EventAttribute
	}
	var all []*svcv2.AttributeKey
	for name, scope := range scopes {
		if req.Scope != nil && req.GetScope() != name {
			continue
		}
		found, _, err := s.latest(ctx, org, window, reads.AttributeValueList{
			Source: query.Source(req.GetSignal()), Scope: scope, Search: req.GetSearch(), ServiceName: req.GetServiceName(),
		})
		if err != nil {
			return nil, err
		}
		for _, v := range found {
			all = append(all, &svcv2.AttributeKey{Object: "attribute_key", Key: v.Value, Scope: name, Count: v.Uses})
		}
	}
	slices.SortFunc(all, func(a, b *svcv2.AttributeKey) int {
		return cmp.Or(cmp.Compare(b.GetCount(), a.GetCount()), cmp.Compare(a.GetScope(), b.GetScope()), cmp.Compare(a.GetKey(), b.GetKey()))
	})
	return all, nil
}

// ListAttributeValues lists the values of a field from the latest rows that have it.
func (s *Service) ListAttributeValues(
	ctx context.Context, req *svcv2.ListAttributeValuesRequest,
) (*svcv2.ListAttributeValuesResponse, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	window, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.AttributeWindow)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	field, err := fieldOf(req)
	if err != nil {
		return nil, err
	}
	source := query.Source(req.GetSignal())
	if req.MetricName != nil && source != query.Metrics {
		return nil, apierr.New(apierr.ParameterInvalid, "`metric_name` belongs to the signal metrics.", apierr.Param("metric_name"))
	}
	filter, err := query.Narrowed(source, query.Filter{}, req.GetWhere(), apierr.ParameterInvalid)
	if err != nil {
		return nil, err
	}
	if !query.InEvents(filter) {
		return nil, apierr.New(apierr.ParameterInvalid, "`where` names a person, which events alone do not have.", apierr.Param("where"))
	}
	list := reads.AttributeValueList{
		Source: source, Field: &field, Search: req.GetSearch(), ServiceName: req.GetServiceName(), Metric: req.GetMetricName(), Filter: filter,
	}
	values, sampled, err := s.values(ctx, org, window, list)
	if err != nil {
		return nil, err
	}
	res := &svcv2.ListAttributeValuesResponse{Object: "list", Sampled: sampled}
	var rows []reads.AttributeValueRow
	rows, res.NextCursor = paging.Part(page, values)
	for _, v := range rows {
		res.Data = append(res.Data, &svcv2.AttributeValue{Object: "attribute_value", Value: v.Value, Count: v.Uses})
	}
	res.HasMore = res.NextCursor != nil
	return res, nil
}

func (s *Service) values(
	ctx context.Context, org principal.OrgID, window query.Window, list reads.AttributeValueList,
) ([]reads.AttributeValueRow, bool, error) {
	if query.RollupColumn(list.Source, *list.Field) == "" || !query.InValueRollup(list.Source, list.Filter) {
		return s.latest(ctx, org, window, list)
	}
	list.Slice, list.MaxDistinct = window, maxDistinct
	rows, err := read.All[reads.AttributeValueRow](ctx, s.warehouse, org, reads.RolledUpValues(list))
	return rows, false, err
}

// fieldOf reads the key. With a scope it is an attribute's own name, otherwise a field of the query language.
func fieldOf(req *svcv2.ListAttributeValuesRequest) (query.Field, error) {
	source := query.Source(req.GetSignal())
	own := source.OwnScope()
	switch {
	case req.Scope == nil:
		f, err := query.ParseField(source, req.GetKey())
		if err != nil {
			return f, apierr.New(apierr.ParameterInvalid, "`key` cannot be read: "+err.Error()+".", apierr.Param("key"))
		}
		m := query.Filter{Match: &query.Match{Field: f, Op: query.OpEqual, Values: []string{"1"}}}
		if f.Scope == query.Builtin && f.Key == "duration" || m.Validate("key", source) != nil || !query.InEvents(m) {
			return f, apierr.New(apierr.ParameterInvalid, "`key` names a field whose values are not listed.", apierr.Param("key"))
		}
		return f, nil
	case req.GetScope() == own:
		return query.Field{Scope: query.OwnAttribute, Key: req.GetKey()}, nil
	case req.GetScope() == "resource":
		return query.Field{Scope: query.ResourceAttribute, Key: req.GetKey()}, nil
	case req.GetScope() == "event" && source == query.Traces:
		return query.Field{Scope: query.EventAttribute, Key: req.GetKey()}, nil
	default:
		return query.Field{}, apierr.New(apierr.ParameterInvalid, "`scope` is not one of the signal "+req.GetSignal()+".", apierr.Param("scope"))
	}
}

const (
	// The first slice of a read is this part of the window. Each later slice is longer by sliceGrowth.
	firstSlice    = 64
	sliceGrowth   = 4
	shortestSlice = 5 * time.Minute
)

// latest reads the window backwards in slices until it has enough rows, and adds up their values.
func (s *Service) latest(
	ctx context.Context, org principal.OrgID, w query.Window, list reads.AttributeValueList,
) (values []reads.AttributeValueRow, sampled bool, err error) {
	uses := map[string]float64{}
	length := max(w.Length()/firstSlice, shortestSlice)
	left := maxRows
	for end := w.End; !end.Before(w.Start); length *= sliceGrowth {
		start := end.Add(-length)
		if start.Before(w.Start) {
			start = w.Start
		}
		list.Slice, list.MaxRows, list.MaxDistinct = query.Window{Start: start, End: end}, left, maxDistinct
		rows, err := read.All[reads.AttributeValueRow](ctx, s.warehouse, org, reads.AttributeValues(list))
		if err != nil {
			return nil, false, err
		}
		for _, row := range rows {
			uses[row.Value] += row.Uses
		}
		if len(rows) > 0 {
			left -= int(min(rows[0].Rows, uint64(left)))
		}
		if left == 0 {
			sampled = true
			break
		}
		end = start.Add(-1)
	}
	for value, n := range uses {
		values = append(values, reads.AttributeValueRow{Value: value, Uses: n})
	}
	slices.SortFunc(values, func(a, b reads.AttributeValueRow) int {
		return cmp.Or(cmp.Compare(b.Uses, a.Uses), cmp.Compare(a.Value, b.Value))
	})
	return values[:min(len(values), maxDistinct)], sampled, nil
}
