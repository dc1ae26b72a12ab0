// Package sqlapi answers the methods of svc.v2.SqlService.
package sqlapi

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/rawsql"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/confine"
)

const (
	defaultWindow = limits.DefaultSQLWindow
	maxWindow     = limits.SQLWindow
)

// Service implements svcv2connect.SqlServiceHandler. It is safe for concurrent use.
type Service struct {
	warehouse rawsql.Warehouse
	now       func() time.Time
}

// New returns the service.
func New(w rawsql.Warehouse, now func() time.Time) *Service { return &Service{w, now} }

// RunSql runs one SELECT over the rows of the organization.
func (s *Service) RunSql(ctx context.Context, req *svcv2.RunSqlRequest) (*svcv2.SqlResult, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	start, end := req.GetStartTime(), req.GetEndTime()
	if end == nil {
		end = timestamppb.New(s.now().UTC())
	}
	if start == nil {
		start = timestamppb.New(end.AsTime().Add(-defaultWindow))
	}
	window, err := query.NewWindow(start, end, maxWindow)
	if err != nil {
		return nil, err
	}
	result, err := rawsql.Run(ctx, s.warehouse, org, rawsql.Request{
		SQL: req.GetSql(), Window: window, Interval: time.Duration(req.GetGranularitySeconds()) * time.Second, MaxRows: int(req.GetMaxRows()),
	})
	if err != nil {
		return nil, err
	}
	out := &svcv2.SqlResult{
		Object: "sql_result", RowCount: int32(len(result.Rows)), Truncated: result.Truncated, ExpandedSql: result.ExpandedSQL,
		StartTime: timestamppb.New(window.Start), EndTime: timestamppb.New(window.End), GranularitySeconds: int32(result.Interval / time.Second),
		UsesWindow: ofWindow(req.GetSql()), Warnings: warnings(req.GetSql()),
		Statistics: &svcv2.SqlStatistics{
			RowsRead: float64(result.ReadRows), BytesRead: float64(result.ReadBytes), ElapsedMs: float64(result.Elapsed.Microseconds()) / 1000,
		},
	}
	for _, c := range result.Columns {
		out.Columns = append(out.Columns, &svcv2.SqlResultColumn{Name: c.Name, Type: c.Type})
	}
	for _, row := range result.Rows {
		var list structpb.ListValue
		if err := protojson.Unmarshal(row, &list); err != nil {
			return nil, read.Unreadable(err)
		}
		out.Rows = append(out.Rows, &list)
	}
	return out, nil
}

// ListSqlTables describes the tables.
func (s *Service) ListSqlTables(ctx context.Context, req *svcv2.ListSqlTablesRequest) (*svcv2.ListSqlTablesResponse, error) {
	tables, err := rawsql.Tables(ctx, s.warehouse)
	if err != nil {
		return nil, err
	}
	if req.Table != nil {
		var names []string
		for _, t := range tables {
			names = append(names, t.Name)
		}
		if !slices.Contains(names, req.GetTable()) {
			return nil, apierr.New(apierr.ParameterInvalid,
				"There is no such table."+confine.DidYouMean(req.GetTable(), names)+" Tables: "+strings.Join(names, ", ")+".", apierr.Param("table"))
		}
		tables = slices.DeleteFunc(tables, func(t warehouse.SQLSchema) bool { return t.Name != req.GetTable() })
	}
	res := &svcv2.ListSqlTablesResponse{Object: "list"}
	for _, t := range tables {
		p := &svcv2.SqlTable{
			Object: "sql_table", Name: t.Name, Description: t.Description, SortKey: t.SortKey(), Notes: t.Notes, Example: t.Example,
		}
		for _, c := range t.Columns {
			p.Columns = append(p.Columns, &svcv2.SqlTableColumn{Name: c.Name, Type: c.Type})
		}
		res.Data = append(res.Data, p)
	}
	return res, nil
}
