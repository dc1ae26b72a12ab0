// Package widget resolves the widgets of dashboards to data. It turns a widget into requests of the query language, statements,
// funnels and lists, and runs them within one organization. It gives the result the shape that the visualization draws.
package widget

import (
	"context"
	"errors"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/rawsql"
	"github.com/svc-observability/svc/server/query/read"
)

// Warehouse is the part of *warehouse.Warehouse that a Resolver needs.
type Warehouse interface {
	read.Warehouse
	rawsql.Warehouse
}

// Resolver is safe for concurrent use.
type Resolver struct {
	engine    *engine.Engine
	warehouse Warehouse
	now       func() time.Time
}

// New returns a resolver.
func New(e *engine.Engine, w Warehouse, now func() time.Time) *Resolver {
	return &Resolver{engine: e, warehouse: w, now: now}
}

// Request is a widget with everything that is needed to read its data.
type Request struct {
	Widget *svcv2.Widget
	// Override is the window that the caller asks for. If it is nil, the window of the widget applies, or else Dashboard.
	Override, Dashboard *svcv2.TimeRange
	Variables           []*svcv2.DashboardVariable
	// Values are the values of variables; see Choose.
	Values map[string]string
	// Sparkline asks for the small chart behind a number.
	Sparkline bool
	// Points is the approximate number of buckets of a chart. 0 means the default.
	Points int
	// Fallback lets a chart without data show a longer window.
	Fallback bool
}

// These are the kinds of data sources of widgets.
const (
	SourceQuery  = "query"
	SourceSQL    = "raw_sql"
	SourceRoute  = "route"
	SourceStatic = "static"
)

// job is one resolution.
type job struct {
	*Resolver
	org    principal.OrgID
	req    *Request
	source *svcv2.WidgetDataSource
	// visual is the visualization, `chart` for a sparkline.
	visual string
	window query.Window
	values values
	out    *svcv2.WidgetData
}

// Data reads the data of a widget. Errors are *apierr.Error, or a *BadVariable.
func (r *Resolver) Data(ctx context.Context, org principal.OrgID, req Request) (*svcv2.WidgetData, error) {
	window, source, err := Window(req.Override, req.Widget.GetTimeRange(), req.Dashboard, r.now())
	if err != nil {
		return nil, err
	}
	chosen, err := Choose(req.Variables, req.Values)
	if err != nil {
		return nil, err
	}
	j := &job{
		Resolver: r, org: org, req: &req, source: req.Widget.GetDataSource(), visual: req.Widget.GetVisualization(), window: window,
		values: values{byName: chosen, variables: req.Variables},
		out:    &svcv2.WidgetData{Object: "widget_data", WidgetId: req.Widget.GetId(), RangeSource: source},
	}
	if req.Sparkline {
		if own := req.Widget.GetDisplay().GetSparkline().GetDataSource(); own != nil {
			j.source = own
		}
		j.visual = "chart"
	}
	if err := j.run(read.AllowStale(ctx, snap)); err != nil {
		return nil, query.ExplainAll(err)
	}
	j.out.StartTime, j.out.EndTime = timestamppb.New(j.window.Start), timestamppb.New(j.window.End)
	return j.out, nil
}

// narrow shortens the window to the longest that may be read for the data. It keeps the end.
func (j *job) narrow(longest time.Duration) {
	if j.window.Length() <= longest {
		return
	}
	j.window.Start = j.window.End.Add(-longest)
	seconds := longest.Seconds()
	j.out.NarrowedToSeconds = &seconds
}

// warn adds a warning, once.
func (j *job) warn(text string) {
	if !slices.Contains(j.out.Warnings, text) {
		j.out.Warnings = append(j.out.Warnings, text)
	}
}

func (j *job) run(ctx context.Context) error {
	display := j.req.Widget.GetDisplay()
	switch {
	case j.visual == "markdown":
		j.out.Kind = "none"
		return nil
	case j.visual == "paths":
		return j.paths(ctx, display.GetPaths())
	case j.visual == "funnel" && len(display.GetFunnel().GetSteps()) > 0:
		return j.funnel(ctx, display.GetFunnel())
	}
	switch j.source.GetKind() {
	case SourceSQL, SourceRoute:
		return j.statement(ctx)
	case SourceStatic:
		if j.visual == "list" {
			return j.list(ctx)
		}
		j.out.Kind = "none"
		return nil
	}
	if showsList(j.visual, j.source) {
		return j.list(ctx)
	}
	return j.query(ctx)
}

// tagged reports whether an error has a tag.
func tagged(err error, tag apierr.Tag) bool {
	var e *apierr.Error
	return errors.As(err, &e) && e.Tag == tag
}
