package dashboards

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wirejson"
)

// editWidgets reads a dashboard, changes its widgets and writes them back, unless somebody else changed it between.
func editWidgets(ctx context.Context, s *tool.Clients, a *tool.Arguments, edit func([]*svcv2.Widget) ([]*svcv2.Widget, error)) (*svcv2.DashboardMutationResponse, error) {
	d, err := s.Dashboards.GetDashboard(ctx, &svcv2.GetDashboardRequest{Id: *a.Text("dashboard_id")})
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

// findWidget names the widgets that there are when there is none with the id.
func findWidget(widgets []*svcv2.Widget, id string) (int, error) {
	var ids []string
	for i, x := range widgets {
		if x.GetId() == id {
			return i, nil
		}
		ids = append(ids, x.GetId())
	}
	return 0, tool.BadInput("widget_id", "is no widget of this dashboard. It has: "+tool.Clip(strings.Join(ids, ", "), 1000)+".", "")
}

func widgetIDParam(required bool) tool.Param {
	return tool.Param{Name: "widget_id", Kind: tool.KindText, Required: required}
}

func newAddDashboardWidget(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "add_dashboard_widget", Title: "New widget", Writes: true,
		Description: "Add a widget to a dashboard, below the others unless layout_json says where. See describe_dashboard_schema.",
		Params: []tool.Param{
			dashboardIDParam(),
			{Name: "panel_type", Kind: tool.KindText, Enum: allPanels(), Example: "line"},
			{Name: "visualization", Kind: tool.KindText, Description: "Instead of panel_type."},
			{Name: "sql", Kind: tool.KindText, Description: "Instead of data_source_json: one SELECT as in run_sql."},
			{Name: "display_type", Kind: tool.KindText, Description: "How its columns are read; default panel_type."},
			{Name: "granularity_seconds", Kind: tool.KindInteger, Description: "Its bucket.", Minimum: tool.Num(1), Maximum: tool.Num(31536000)},
			jsonParam("data_source_json", "", true, false),
			{Name: "title", Kind: tool.KindText},
			jsonParam("display_json", "", true, false),
			jsonParam("layout_json", `{"x":0,"y":0,"w":6,"h":4} on 12 columns.`, true, false), widgetIDParam(false), jsonParam("time_range_json", "", true, false),
		},
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			panel, err := panel(a)
			if err != nil {
				return nil, err
			}
			x := &svcv2.Widget{Visualization: panel, Display: &svcv2.WidgetDisplay{}, Layout: &svcv2.WidgetLayout{}}
			display := map[string]any{}
			if raw := a.Raw("display_json"); raw != nil && json.Unmarshal(raw, &display) != nil {
				return nil, tool.BadInput("display_json", "must be an object.", `{"title":"Requests"}`)
			}
			if title := a.Text("title"); title != nil {
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
			if err := tool.DecodeJSON("display_json", raw, x.Display); err != nil {
				return nil, err
			}
			if x.DataSource, err = dataSource(a, panel); err != nil {
				return nil, err
			}
			if raw := a.Raw("layout_json"); raw != nil {
				if err := tool.DecodeJSON("layout_json", raw, x.Layout); err != nil {
					return nil, err
				}
			}
			if raw := a.Raw("time_range_json"); raw != nil {
				x.TimeRange = &svcv2.TimeRange{}
				if err := tool.DecodeJSON("time_range_json", raw, x.TimeRange); err != nil {
					return nil, err
				}
			}
			out, err := editWidgets(ctx, s, a, func(widgets []*svcv2.Widget) ([]*svcv2.Widget, error) {
				place(x, widgets, a.Raw("layout_json") == nil, a.TextOr("widget_id", ""))
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
				Dashboard: changedRow(out), WidgetID: x.GetId(), PanelType: panelOf(x), Visualization: x.GetVisualization(), Layout: &gridPlace{l.GetX(), l.GetY(), l.GetW(), l.GetH()},
				WidgetTimeRange: own,
				Validation:      validateWidgets(ctx, s, out.GetId(), []*svcv2.Widget{x}), RenderWarnings: renderWarnings(x),
			}, "The widget "+x.GetId()+" was added."), nil
		},
	}, "widgetId", "panelType", "visualization", "layout", "widgetTimeRange", "validation", "renderWarnings")
}

// panel is what a new widget shall be: panel_type or visualization, else how the columns of its SQL are read.
func panel(a *tool.Arguments) (string, error) {
	panel := strings.ToLower(a.TextOr("visualization", a.TextOr("panel_type", a.TextOr("display_type", ""))))
	if known := append(allPanels(), "chart"); !slices.Contains(known, panel) {
		name := "panel_type"
		if a.Text("visualization") != nil {
			name = "visualization"
		}
		return "", tool.BadInput(name, "must be one of "+strings.Join(known, ", ")+".", "line")
	}
	return panel, nil
}

// dataSource is where the data of a new widget comes from: data_source_json or sql; a text needs none.
func dataSource(a *tool.Arguments, panel string) (*svcv2.WidgetDataSource, error) {
	out := &svcv2.WidgetDataSource{}
	raw, sql := a.Raw("data_source_json"), a.Text("sql")
	switch {
	case raw != nil && sql != nil:
		return nil, tool.BadInput("sql", "cannot be given together with data_source_json.", "")
	case raw != nil:
		return out, tool.DecodeJSON("data_source_json", raw, out)
	case sql != nil:
		display := strings.ToLower(a.TextOr("display_type", panel))
		if display == "chart" {
			display = "line"
		}
		if known := rulesOf(out.ProtoReflect().Descriptor().Fields().ByName("display_type")).GetString().GetIn(); !slices.Contains(known, display) {
			return nil, tool.BadInput("display_type", "must be one of "+strings.Join(known, ", ")+".", "line")
		}
		return &svcv2.WidgetDataSource{Kind: "raw_sql", Sql: sql, DisplayType: &display, GranularitySeconds: a.Number("granularity_seconds")}, nil
	case panel == "markdown":
		return &svcv2.WidgetDataSource{Kind: "static"}, nil
	default:
		return nil, tool.BadInput("data_source_json", "or sql is required: where the data comes from.", `{"kind":"query","result_shape":"timeseries","queries":[{"id":"a","name":"A","data_source":"traces","aggregation":"count"}]}`)
	}
}

// place gives a new widget an id that is free, and room below the others.
func place(x *svcv2.Widget, widgets []*svcv2.Widget, below bool, id string) {
	bottom := 0.0
	for _, o := range widgets {
		bottom = max(bottom, o.GetLayout().GetY()+o.GetLayout().GetH())
	}
	if x.Id = id; id == "" {
		x.Id = freeID(widgets)
	}
	if below {
		x.Layout = &svcv2.WidgetLayout{X: tool.Num(0), Y: tool.Num(bottom), W: tool.Num(6), H: tool.Num(4)}
	}
}

func newUpdateDashboardWidget(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "update_dashboard_widget", Title: "Change of a widget", Writes: true, Destroys: true, Repeatable: true,
		Description: "Replace one widget (widget_json) or change parts of it (patch_json, a merge patch; null removes).",
		Params:      []tool.Param{dashboardIDParam(), widgetIDParam(true), jsonParam("widget_json", "", true, false), jsonParam("patch_json", `For example {"display":{"title":"Errors"}}.`, true, false), {Name: "title", Kind: tool.KindText}, {Name: "chart_id", Kind: tool.KindText, Description: "query-builder-line, -area, -bar, …"}},
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			given := 0
			for _, name := range []string{"widget_json", "patch_json"} {
				if a.Raw(name) != nil {
					given++
				}
			}
			if given == 2 || given == 0 && a.Text("title") == nil && a.Text("chart_id") == nil {
				return nil, tool.BadInput("patch_json", "or widget_json, title or chart_id is required, not both of the first.", `{"display":{"title":"Errors"}}`)
			}
			id := *a.Text("widget_id")
			changed, repaired := &svcv2.Widget{}, false
			out, err := editWidgets(ctx, s, a, func(widgets []*svcv2.Widget) ([]*svcv2.Widget, error) {
				i, err := findWidget(widgets, id)
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
				Dashboard: changedRow(out), WidgetID: id, PanelType: panelOf(changed), Visualization: changed.GetVisualization(), RepairedScalar: &repaired,
				Validation: validateWidgets(ctx, s, out.GetId(), only(out.GetWidgets(), id)), RenderWarnings: renderWarnings(changed),
			}, done), nil
		},
	}, "widgetId", "panelType", "visualization", "validation", "repairedScalar", "renderWarnings")
}

// only is the widget with the id.
func only(widgets []*svcv2.Widget, id string) []*svcv2.Widget {
	i := slices.IndexFunc(widgets, func(x *svcv2.Widget) bool { return x.GetId() == id })
	if i < 0 {
		return nil
	}
	return widgets[i : i+1]
}

func changedWidget(old *svcv2.Widget, a *tool.Arguments) (*svcv2.Widget, error) {
	raw, parameter := a.Raw("widget_json"), "widget_json"
	if raw == nil {
		before, err := wirejson.Marshal(old)
		if err != nil {
			return nil, fmt.Errorf("encode a widget: %w", err)
		}
		raw, parameter = before, "patch_json"
	}
	var whole, patch any
	if err := json.Unmarshal(raw, &whole); err != nil {
		return nil, tool.BadInput(parameter, "must be JSON.", "")
	}
	if p := a.Raw("patch_json"); p != nil {
		if err := json.Unmarshal(p, &patch); err != nil {
			return nil, tool.BadInput("patch_json", "must be JSON.", "")
		}
		whole = merge(whole, patch)
	}
	for _, name := range []string{"title", "chart_id"} {
		if v := a.Text(name); v != nil {
			whole = merge(whole, map[string]any{"display": map[string]any{name: *v}})
		}
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

// merge is RFC 7396.
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

func newRemoveDashboardWidget(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "remove_dashboard_widget", Title: "Removal of a widget", Writes: true, Destroys: true,
		Description: "Remove one widget. The version of the dashboard before is kept.",
		Params:      []tool.Param{dashboardIDParam(), widgetIDParam(true), confirmParam()},
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			if err := confirmed(a, "removes the widget "+*a.Text("widget_id")); err != nil {
				return nil, err
			}
			id := *a.Text("widget_id")
			out, err := editWidgets(ctx, s, a, func(widgets []*svcv2.Widget) ([]*svcv2.Widget, error) {
				i, err := findWidget(widgets, id)
				if err != nil {
					return nil, err
				}
				return slices.Delete(slices.Clone(widgets), i, i+1), nil
			})
			if err != nil {
				return nil, err
			}
			return changeAnswer(dashboardChange{Dashboard: changedRow(out), RemovedWidgetID: id}, "The widget "+id+" was removed."), nil
		},
	}, "removedWidgetId")
}

func confirmParam() tool.Param {
	return tool.Param{Name: "confirm", Kind: tool.KindFlag, Description: "Must be true.", Fallback: false}
}

func confirmed(a *tool.Arguments, what string) error {
	if a.IsSet("confirm") {
		return nil
	}
	return tool.BadInput("confirm", "must be true: this "+what+". Ask the user when in doubt.", "true")
}

func newReorderDashboardWidgets(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "reorder_dashboard_widgets", Title: "Layout of a dashboard", Writes: true, Repeatable: true,
		Description: "Move and resize widgets on the grid of 12 columns.",
		Params:      []tool.Param{dashboardIDParam(), jsonParam("layouts_json", `[{"i":"w1","x":0,"y":0,"w":6,"h":4}]`, false, true)},
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			var layouts []struct {
				I          string
				X, Y, W, H *float64
			}
			if err := json.Unmarshal(a.Raw("layouts_json"), &layouts); err != nil || len(layouts) == 0 {
				return nil, tool.BadInput("layouts_json", "must be a list of places.", `[{"i":"w1","x":0,"y":0,"w":6,"h":4}]`)
			}
			var moved []string
			out, err := editWidgets(ctx, s, a, func(widgets []*svcv2.Widget) ([]*svcv2.Widget, error) {
				for _, l := range layouts {
					i, err := findWidget(widgets, l.I)
					if err != nil {
						return nil, tool.BadInput("layouts_json", "names "+l.I+", which is no widget of this dashboard.", "")
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
			return changeAnswer(dashboardChange{Dashboard: changedRow(out), UpdatedWidgetIDs: moved}, fmt.Sprintf("%d widgets have a new place.", len(moved))), nil
		},
	}, "updatedWidgetIds")
}

func newReplaceDashboardWidgets(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "replace_dashboard_widgets", Title: "Widgets of a dashboard", Writes: true, Destroys: true,
		Description: "Replace all widgets of a dashboard. The version before is kept.",
		Params:      []tool.Param{dashboardIDParam(), jsonParam("widgets_json", "List of widgets.", false, true), confirmParam()},
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			if err := confirmed(a, "replaces every widget of the dashboard"); err != nil {
				return nil, err
			}
			widgets, err := decodeWidgets("widgets_json", a.Raw("widgets_json"))
			if err != nil {
				return nil, err
			}
			repaired, done := []string{}, ""
			for _, x := range widgets {
				if repairScalar(x) {
					repaired, done = append(repaired, x.GetId()), done+" "+repairOf(x)
				}
			}
			out, err := editWidgets(ctx, s, a, func([]*svcv2.Widget) ([]*svcv2.Widget, error) { return widgets, nil })
			if err != nil {
				return nil, err
			}
			res := dashboardChange{Dashboard: changedRow(out), WidgetIDs: []string{}, RepairedScalarIDs: repaired, Validation: validateWidgets(ctx, s, out.GetId(), out.GetWidgets()), RenderWarnings: renderWarnings(out.GetWidgets()...)}
			for _, x := range out.GetWidgets() {
				res.WidgetIDs = append(res.WidgetIDs, x.GetId())
			}
			return changeAnswer(res, fmt.Sprintf("The dashboard has these %d widgets now.", len(res.WidgetIDs))+done), nil
		},
	}, "widgetIds", "validation", "repairedScalarIds", "renderWarnings")
}
