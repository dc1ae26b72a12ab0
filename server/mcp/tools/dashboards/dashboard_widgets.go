package dashboards

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wirejson"
	"github.com/svc-observability/svc/server/wording"
)

// editWidgets reads a dashboard, changes its widgets and writes them back, unless another caller changed the dashboard in
// between.
func editWidgets(
	ctx context.Context, s *tool.Clients, id string, edit func([]*svcv2.Widget) ([]*svcv2.Widget, error),
) (*svcv2.DashboardMutationResponse, error) {
	d, err := s.Dashboards.GetDashboard(ctx, &svcv2.GetDashboardRequest{Id: id})
	if err != nil {
		return nil, err
	}
	widgets, err := edit(d.GetWidgets())
	if err != nil {
		return nil, err
	}
	return s.Dashboards.UpdateDashboard(ctx, &svcv2.UpdateDashboardRequest{
		Id: d.GetId(), Widgets: widgets, ExpectedUpdatedAt: d.GetUpdatedAt(), UpdateMask: &fieldmaskpb.FieldMask{Paths: []string{"widgets"}},
	})
}

// findWidget returns the position of a widget. If no widget has the id, the error names the widgets of the dashboard.
func findWidget(c *tool.Call, field any, widgets []*svcv2.Widget, id string) (int, error) {
	var ids []string
	for i, x := range widgets {
		if x.GetId() == id {
			return i, nil
		}
		ids = append(ids, x.GetId())
	}
	return 0, c.Bad(field,
		"is not a widget of this dashboard. Its widgets are: "+wording.Clip(strings.Join(ids, ", "), 1000)+".", "")
}

type addDashboardWidgetArgs struct {
	tool.Call
	ofDashboard
	PanelType          *panelType      `example:"line"`
	Visualization      *string         `doc:"Instead of panel_type."`
	SQL                *string         `doc:"Instead of data_source_json: one SELECT as in run_sql."`
	DisplayType        *string         `doc:"How to read the columns of sql; default panel_type."`
	GranularitySeconds *int            `doc:"Bucket of $__timeGroup in sql." of:"RunSqlRequest.granularity_seconds"`
	DataSourceJSON     json.RawMessage `type:"object"`
	Title              *string
	DisplayJSON        json.RawMessage `type:"object"`
	LayoutJSON         json.RawMessage `doc:"{\"x\":0,\"y\":0,\"w\":6,\"h\":4} on {GridColumns} columns." type:"object"`
	WidgetID           *string
	TimeRangeJSON      json.RawMessage `type:"object"`
}

func newAddDashboardWidget(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "add_dashboard_widget", View: "/dashboards/{dashboard_id}", Title: "Add a widget", Writes: true,
		Description: "Add a widget to a dashboard, below the others unless layout_json gives a place. See describe_dashboard_schema.",
		Run: tool.With(func(ctx context.Context, a *addDashboardWidgetArgs) (*tool.Answer, error) {
			panel, err := panel(a)
			if err != nil {
				return nil, err
			}
			x := &svcv2.Widget{Visualization: panel, Display: &svcv2.WidgetDisplay{}, Layout: &svcv2.WidgetLayout{}}
			display := map[string]any{}
			if raw := a.DisplayJSON; raw != nil && json.Unmarshal(raw, &display) != nil {
				return nil, a.Bad(&a.DisplayJSON, "must be an object.", `{"title":"Requests"}`)
			}
			if title := a.Title; title != nil {
				display["title"] = *title
			}
			if slices.Contains(drawings(), panel) {
				x.Visualization = "chart"
				if display["chart_id"] == nil {
					display["chart_id"] = chartPrefix + panel
				}
			}
			raw, err := json.Marshal(display)
			if err != nil {
				return nil, fmt.Errorf("encode a widget's display: %w", err)
			}
			if err := tool.DecodeJSON(a.NameOf(&a.DisplayJSON), raw, x.Display); err != nil {
				return nil, err
			}
			if x.DataSource, err = dataSource(a, panel); err != nil {
				return nil, err
			}
			if a.LayoutJSON != nil {
				if err := a.Decode(&a.LayoutJSON, x.Layout); err != nil {
					return nil, err
				}
			}
			if a.TimeRangeJSON != nil {
				x.TimeRange = &svcv2.TimeRange{}
				if err := a.Decode(&a.TimeRangeJSON, x.TimeRange); err != nil {
					return nil, err
				}
			}
			out, err := editWidgets(ctx, s, a.DashboardID, func(widgets []*svcv2.Widget) ([]*svcv2.Widget, error) {
				place(x, widgets, a.LayoutJSON == nil, tool.Or(a.WidgetID, ""))
				return append(widgets, x), nil
			})
			if err != nil {
				return nil, err
			}
			l := x.GetLayout()
			var own map[string]any
			if x.GetTimeRange() != nil {
				if own, err = toMap(x.GetTimeRange()); err != nil {
					return nil, err
				}
			}
			return changeAnswer(dashboardChange{
				Dashboard: changedRow(out), WidgetID: x.GetId(), PanelType: panelOf(x), Visualization: x.GetVisualization(),
				Layout:          &gridPlace{l.GetX(), l.GetY(), l.GetW(), l.GetH()},
				WidgetTimeRange: own,
				Validation:      validateWidgets(ctx, s, out.GetId(), []*svcv2.Widget{x}), RenderWarnings: renderWarnings(x),
			}, "The widget "+x.GetId()+" was added."), nil
		}),
	}, "widgetId", "panelType", "visualization", "layout", "widgetTimeRange", "validation", "renderWarnings")
}

// panelType is a panel type in the words of agents.
type panelType string

// Choices are the panel types.
func (panelType) Choices() []string { return allPanels() }

// panel is the panel type of a new widget: panel_type or visualization. Without these the columns of its SQL decide.
func panel(a *addDashboardWidgetArgs) (string, error) {
	panel := strings.ToLower(tool.Or(a.Visualization, string(tool.Or(a.PanelType, panelType(tool.Or(a.DisplayType, ""))))))
	if known := append(allPanels(), "chart"); !slices.Contains(known, panel) {
		field := any(&a.PanelType)
		if a.Visualization != nil {
			field = &a.Visualization
		}
		return "", a.Bad(field, "must be one of "+strings.Join(known, ", ")+".", "line")
	}
	return panel, nil
}

// dataSource is the source of a new widget's data: data_source_json or sql. A text widget needs none.
func dataSource(a *addDashboardWidgetArgs, panel string) (*svcv2.WidgetDataSource, error) {
	out := &svcv2.WidgetDataSource{}
	raw, sql := a.DataSourceJSON, a.SQL
	switch {
	case raw != nil && sql != nil:
		return nil, a.Bad(&a.SQL, "cannot be given together with data_source_json.", "")
	case raw != nil:
		return out, a.Decode(&a.DataSourceJSON, out)
	case sql != nil:
		display := strings.ToLower(tool.Or(a.DisplayType, panel))
		if display == "chart" {
			display = "line"
		}
		known := contract.Rules(out.ProtoReflect().Descriptor().Fields().ByName("display_type")).GetString().GetIn()
		if !slices.Contains(known, display) {
			return nil, a.Bad(&a.DisplayType, "must be one of "+strings.Join(known, ", ")+".", "line")
		}
		source := &svcv2.WidgetDataSource{Kind: "raw_sql", Sql: sql, DisplayType: &display}
		if a.GranularitySeconds != nil {
			source.GranularitySeconds = new(float64(*a.GranularitySeconds))
		}
		return source, nil
	case panel == "markdown":
		return &svcv2.WidgetDataSource{Kind: "static"}, nil
	default:
		return nil, a.Bad(&a.DataSourceJSON, "or sql is required: the source of the data.",
			`{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"traces","aggregation":"count"}]}`)
	}
}

// place gives a new widget an unused id, and a place below the others.
func place(x *svcv2.Widget, widgets []*svcv2.Widget, below bool, id string) {
	bottom := 0.0
	for _, o := range widgets {
		bottom = max(bottom, o.GetLayout().GetY()+o.GetLayout().GetH())
	}
	if x.Id = id; id == "" {
		x.Id = freeID(widgets)
	}
	if below {
		x.Layout = &svcv2.WidgetLayout{X: new(0.0), Y: &bottom, W: new(6.0), H: new(4.0)}
	}
}

type updateDashboardWidgetArgs struct {
	tool.Call
	ofDashboard
	WidgetID   string          `required:"true"`
	WidgetJSON json.RawMessage `type:"object"`
	PatchJSON  json.RawMessage `doc:"For example {\"display\":{\"title\":\"Errors\"}}." type:"object"`
	Title      *string
	ChartID    *string `of:"WidgetDisplay.chart_id" open:"true"`
}

func newUpdateDashboardWidget(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "update_dashboard_widget", View: "/dashboards/{dashboard_id}?widget={widget_id}", Title: "Change a widget", Writes: true,
		Destroys: true, Repeatable: true,
		Description: "Replace one widget (widget_json), or change parts of it (patch_json, a JSON merge patch: null removes a field).",
		Run: tool.With(func(ctx context.Context, a *updateDashboardWidgetArgs) (*tool.Answer, error) {
			whole, patch := a.WidgetJSON != nil, a.PatchJSON != nil
			if whole && patch || !whole && !patch && a.Title == nil && a.ChartID == nil {
				return nil, a.Bad(&a.PatchJSON, "or widget_json, title or chart_id is required. Do not give both patch_json and widget_json.",
					`{"display":{"title":"Errors"}}`)
			}
			id := a.WidgetID
			changed, repaired := &svcv2.Widget{}, false
			out, err := editWidgets(ctx, s, a.DashboardID, func(widgets []*svcv2.Widget) ([]*svcv2.Widget, error) {
				i, err := findWidget(&a.Call, &a.WidgetID, widgets, id)
				if err != nil {
					return nil, err
				}
				x, err := changedWidget(widgets[i], a)
				if err != nil {
					return nil, err
				}
				repaired = repairScalar(x)
				x.Id, changed = id, x
				widgets = slices.Clone(widgets)
				widgets[i] = x
				return widgets, nil
			})
			if err != nil {
				return nil, err
			}
			done := "The widget " + id + " was changed."
			if repaired {
				done += " " + repairOf(changed)
			}
			return changeAnswer(dashboardChange{
				Dashboard: changedRow(out), WidgetID: id, PanelType: panelOf(changed), Visualization: changed.GetVisualization(),
				RepairedScalar: &repaired,
				Validation:     validateWidgets(ctx, s, out.GetId(), only(out.GetWidgets(), id)), RenderWarnings: renderWarnings(changed),
			}, done), nil
		}),
	}, "widgetId", "panelType", "visualization", "validation", "repairedScalar", "renderWarnings")
}

// only returns the widget with the id, as a list.
func only(widgets []*svcv2.Widget, id string) []*svcv2.Widget {
	i := slices.IndexFunc(widgets, func(x *svcv2.Widget) bool { return x.GetId() == id })
	if i < 0 {
		return nil
	}
	return widgets[i : i+1]
}

func changedWidget(old *svcv2.Widget, a *updateDashboardWidgetArgs) (*svcv2.Widget, error) {
	raw, parameter := a.WidgetJSON, a.NameOf(&a.WidgetJSON)
	if raw == nil {
		before, err := wirejson.Marshal(old)
		if err != nil {
			return nil, fmt.Errorf("encode a widget: %w", err)
		}
		raw, parameter = before, a.NameOf(&a.PatchJSON)
	}
	var whole, patch any
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, tool.BadInput(parameter, "must be JSON.", "")
	}
	if p := a.PatchJSON; p != nil {
		if err := json.Unmarshal(p, &patch); err != nil {
			return nil, a.Bad(&a.PatchJSON, "must be JSON.", "")
		}
		whole = merge(whole, patch)
	}
	if display := a.Chosen(&a.Title, &a.ChartID); len(display) > 0 { // the display has the same field names
		whole = merge(whole, map[string]any{"display": display})
	}
	if m, ok := whole.(map[string]any); ok {
		m["id"] = old.GetId()
	}
	merged, err := json.Marshal(whole)
	if err != nil {
		return nil, fmt.Errorf("encode a widget: %w", err)
	}
	x := &svcv2.Widget{}
	return x, tool.DecodeJSON(parameter, withPanel(merged), x)
}

// merge applies a JSON merge patch (RFC 7396).
func merge(target, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	t, ok := target.(map[string]any)
	if !ok {
		t = map[string]any{}
	}
	for k, v := range p {
		if v == nil {
			delete(t, k)
		} else {
			t[k] = merge(t[k], v)
		}
	}
	return t
}

type removeDashboardWidgetArgs struct {
	tool.Call
	ofDashboard
	WidgetID string `required:"true"`
	confirmation
}

func newRemoveDashboardWidget(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "remove_dashboard_widget", View: "/dashboards/{dashboard_id}", Title: "Remove a widget", Writes: true, Destroys: true,
		Description: "Remove one widget. The previous version of the dashboard is kept.",
		Run: tool.With(func(ctx context.Context, a *removeDashboardWidgetArgs) (*tool.Answer, error) {
			if err := a.confirmed(a, "removes the widget "+a.WidgetID); err != nil {
				return nil, err
			}
			id := a.WidgetID
			out, err := editWidgets(ctx, s, a.DashboardID, func(widgets []*svcv2.Widget) ([]*svcv2.Widget, error) {
				i, err := findWidget(&a.Call, &a.WidgetID, widgets, id)
				if err != nil {
					return nil, err
				}
				return slices.Delete(slices.Clone(widgets), i, i+1), nil
			})
			if err != nil {
				return nil, err
			}
			return changeAnswer(dashboardChange{Dashboard: changedRow(out), RemovedWidgetID: id}, "The widget "+id+" was removed."), nil
		}),
	}, "removedWidgetId")
}

// confirmation is the argument by which a caller can say that nothing may be deleted. An earlier version of the dashboard can be restored,
// so the tools ask for no confirmation.
type confirmation struct {
	Confirm bool `doc:"false: change nothing." default:"true"`
}

func (c *confirmation) confirmed(call interface {
	Bad(field any, message, example string) error
}, what string,
) error {
	if c.Confirm {
		return nil
	}
	return call.Bad(&c.Confirm, "is false, so nothing was changed: this "+what+".", "true")
}

type reorderDashboardWidgetsArgs struct {
	tool.Call
	ofDashboard
	LayoutsJSON json.RawMessage `doc:"[{\"i\":\"w1\",\"x\":0,\"y\":0,\"w\":6,\"h\":4}]" required:"true"`
}

func newReorderDashboardWidgets(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "reorder_dashboard_widgets", View: "/dashboards/{dashboard_id}", Title: "Arrange widgets", Writes: true, Repeatable: true,
		Description: "Move and resize widgets on the grid of " + limits.Number(limits.GridColumns) + " columns.",
		Run: tool.With(func(ctx context.Context, a *reorderDashboardWidgetsArgs) (*tool.Answer, error) {
			var layouts []struct {
				I          string
				X, Y, W, H *float64
			}
			if err := json.Unmarshal(a.LayoutsJSON, &layouts); err != nil || len(layouts) == 0 {
				return nil, a.Bad(&a.LayoutsJSON, "must be a list of layouts.", `[{"i":"w1","x":0,"y":0,"w":6,"h":4}]`)
			}
			var moved []string
			out, err := editWidgets(ctx, s, a.DashboardID, func(widgets []*svcv2.Widget) ([]*svcv2.Widget, error) {
				for _, l := range layouts {
					i, err := findWidget(&a.Call, &a.LayoutsJSON, widgets, l.I)
					if err != nil {
						return nil, a.Bad(&a.LayoutsJSON, "names "+l.I+", which is not a widget of this dashboard.", "")
					}
					to := widgets[i].GetLayout()
					if to == nil {
						to = &svcv2.WidgetLayout{}
						widgets[i].Layout = to
					}
					for field, v := range map[**float64]*float64{&to.X: l.X, &to.Y: l.Y, &to.W: l.W, &to.H: l.H} {
						if v != nil {
							*field = v
						}
					}
					moved = append(moved, l.I)
				}
				return widgets, nil
			})
			if err != nil {
				return nil, err
			}
			return changeAnswer(dashboardChange{Dashboard: changedRow(out), UpdatedWidgetIDs: moved},
				fmt.Sprintf("%d widgets have a new place.", len(moved))), nil
		}),
	}, "updatedWidgetIds")
}

type replaceDashboardWidgetsArgs struct {
	tool.Call
	ofDashboard
	WidgetsJSON json.RawMessage `doc:"List of widgets." required:"true"`
	confirmation
}

func newReplaceDashboardWidgets(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "replace_dashboard_widgets", View: "/dashboards/{dashboard_id}", Title: "Replace all widgets", Writes: true, Destroys: true,
		Description: "Replace all widgets of a dashboard. The previous version is kept.",
		Run: tool.With(func(ctx context.Context, a *replaceDashboardWidgetsArgs) (*tool.Answer, error) {
			if err := a.confirmed(a, "replaces every widget of the dashboard"); err != nil {
				return nil, err
			}
			widgets, err := decodeWidgets(a.NameOf(&a.WidgetsJSON), a.WidgetsJSON)
			if err != nil {
				return nil, err
			}
			repaired, done := []string{}, ""
			for _, x := range widgets {
				if repairScalar(x) {
					repaired, done = append(repaired, x.GetId()), done+" "+repairOf(x)
				}
			}
			out, err := editWidgets(ctx, s, a.DashboardID, func([]*svcv2.Widget) ([]*svcv2.Widget, error) { return widgets, nil })
			if err != nil {
				return nil, err
			}
			res := dashboardChange{
				Dashboard: changedRow(out), WidgetIDs: []string{}, RepairedScalarIDs: repaired,
				Validation: validateWidgets(ctx, s, out.GetId(), out.GetWidgets()), RenderWarnings: renderWarnings(out.GetWidgets()...),
			}
			for _, x := range out.GetWidgets() {
				res.WidgetIDs = append(res.WidgetIDs, x.GetId())
			}
			return changeAnswer(res, fmt.Sprintf("The dashboard now has these %d widgets.", len(res.WidgetIDs))+done), nil
		}),
	}, "widgetIds", "validation", "repairedScalarIds", "renderWarnings")
}
