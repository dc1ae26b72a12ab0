package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/wirejson"
)

// protoMessage is a message of the API.
type protoMessage = proto.Message

type dashboardRow struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description *string  `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	WidgetCount int      `json:"widgetCount"`
	CreatedAt   string   `json:"createdAt"`
	UpdatedAt   string   `json:"updatedAt"`
}

// dashboardOf is what the answers of reads and of writes have in common.
type dashboardOf interface {
	GetId() string
	GetName() string
	GetDescription() string
	GetTags() []string
	GetWidgets() []*svcv2.Widget
}

func toDashboardRow(d dashboardOf, created, updated string) dashboardRow {
	row := dashboardRow{ID: d.GetId(), Name: d.GetName(), Tags: d.GetTags(), WidgetCount: len(d.GetWidgets()), CreatedAt: created, UpdatedAt: updated}
	if text := d.GetDescription(); text != "" {
		row.Description = &text
	}
	return row
}

func changedRow(d *svcv2.DashboardMutationResponse) dashboardRow {
	return toDashboardRow(d, clock(d.GetCreatedAt().AsTime()), clock(d.GetUpdatedAt().AsTime()))
}

func dashboardIDParam() param {
	return param{name: "dashboard_id", kind: kindText, required: true, example: "dash_…, from list_dashboards"}
}

func jsonParam(name, description string, object, required bool) param {
	return param{name: name, kind: kindJSON, description: description, object: object, required: required}
}

type dashboardsResult struct {
	Dashboards []dashboardRow `json:"dashboards"`
	Total      int            `json:"total"`
	Search     *string        `json:"search,omitempty"`
}

func newListDashboards(s *Server) (*tool, error) {
	return define[dashboardsResult](&tool{
		name: "list_dashboards", title: "Dashboards", description: "List dashboards, the latest changed first.",
		params: []param{{name: "search", kind: kindText, description: "Text in name, description or tags."}},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			rows, _, err := collect(ctx, nil, 0, 1000, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Dashboard, *string, error) {
				res, err := s.clients.dashboards.ListDashboards(ctx, &svcv2.ListDashboardsRequest{Limit: &limit, Cursor: cursor})
				return res.GetData(), nextCursor(res), err
			})
			if err != nil {
				return nil, err
			}
			res := dashboardsResult{Dashboards: []dashboardRow{}, Search: a.text("search")}
			search := strings.ToLower(a.textOr("search", ""))
			slices.SortStableFunc(rows, func(x, y *svcv2.Dashboard) int { return y.GetUpdatedAt().AsTime().Compare(x.GetUpdatedAt().AsTime()) })
			var cells [][]string
			for _, d := range rows {
				if !strings.Contains(strings.ToLower(d.GetName()+" "+d.GetDescription()+" "+strings.Join(d.GetTags(), " ")), search) {
					continue
				}
				row := toDashboardRow(d, clock(d.GetCreatedAt().AsTime()), clock(d.GetUpdatedAt().AsTime()))
				res.Dashboards = append(res.Dashboards, row)
				cells = append(cells, []string{row.ID, clip(row.Name, 120), fmt.Sprint(row.WidgetCount), strings.Join(row.Tags, ", "), row.UpdatedAt})
			}
			res.Total = len(res.Dashboards)
			var text page
			if res.Search != nil {
				text.scope = []pair{{"search", *res.Search}}
			}
			text.blocks = []block{table("", "There is no such dashboard.", []string{"Dashboard", "Name", "Widgets", "Tags", "Changed"}, cells)}
			text.shown = shownOf(res.Total, false, "dashboards")
			if res.Total > 0 {
				text.next = append(text.next, suggestion{"get_dashboard", map[string]any{"dashboard_id": res.Dashboards[0].ID}, "the latest changed one"})
			}
			return &answer{data: res, text: text}, nil
		},
	})
}

type dashboardResult struct {
	Dashboard map[string]any `json:"dashboard"`
}

func newGetDashboard(s *Server) (*tool, error) {
	return define[dashboardResult](&tool{
		name: "get_dashboard", title: "Dashboard", description: "Read one dashboard with its widgets, in the form that dashboard_json takes.",
		params: []param{dashboardIDParam()},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			d, err := s.clients.dashboards.GetDashboard(ctx, &svcv2.GetDashboardRequest{Id: *a.text("dashboard_id")})
			if err != nil {
				return nil, err
			}
			m, err := toMap(d)
			if err != nil {
				return nil, err
			}
			text := page{scope: []pair{{"Dashboard", d.GetId()}, {"Name", d.GetName()}, {"Changed", clock(d.GetUpdatedAt().AsTime())}}, shown: shownOf(len(d.GetWidgets()), false, "widgets")}
			var cells [][]string
			for _, x := range d.GetWidgets() {
				raw, err := wirejson.Marshal(x.GetDataSource())
				if err != nil {
					return nil, err
				}
				cells = append(cells, []string{x.GetId(), x.GetVisualization(), clip(titleOf(x), 120), clip(string(raw), 500)})
			}
			text.blocks = []block{table("Widgets", "It has no widgets.", []string{"Widget", "Panel", "Title", "Data source"}, cells)}
			text.next = []suggestion{{"describe_dashboard_schema", map[string]any{"section": "queries"}, "what a widget can be, before changing one"}}
			return &answer{data: dashboardResult{m}, text: text}, nil
		},
	})
}

func titleOf(w *svcv2.Widget) string {
	m, err := toMap(w.GetDisplay())
	if err != nil {
		return ""
	}
	title, _ := m["title"].(string)
	return title
}

// toMap is a message as the JSON of the API.
func toMap(m proto.Message) (map[string]any, error) {
	raw, err := wirejson.Marshal(m)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(raw, &out)
}

type dashboardChange struct {
	Dashboard        dashboardRow `json:"dashboard"`
	Source           string       `json:"source,omitempty"`
	Template         *string      `json:"template,omitempty"`
	Replaced         *bool        `json:"replaced,omitempty"`
	WidgetID         string       `json:"widgetId,omitempty"`
	RemovedWidgetID  string       `json:"removedWidgetId,omitempty"`
	WidgetIDs        []string     `json:"widgetIds,omitzero"`
	UpdatedWidgetIDs []string     `json:"updatedWidgetIds,omitempty"`
	PanelType        string       `json:"panelType,omitempty"`
	Visualization    string       `json:"visualization,omitempty"`
	Layout           *gridPlace   `json:"layout,omitempty"`
	// WidgetTimeRange is the window that a widget has of its own.
	WidgetTimeRange map[string]any `json:"widgetTimeRange,omitempty"`
	// RepairedScalar and RepairedScalarIDs say which widgets got what makes one number of their series.
	RepairedScalar    *bool       `json:"repairedScalar,omitempty"`
	RepairedScalarIDs []string    `json:"repairedScalarIds,omitzero"`
	Validation        *validation `json:"validation,omitempty"`
	// RenderWarnings are what a widget lacks to be drawn as it is meant.
	RenderWarnings []string `json:"renderWarnings"`
}

// gridPlace is where a widget stands, in cells of a grid of 12 columns.
type gridPlace struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	W float64 `json:"w"`
	H float64 `json:"h"`
}

// defineChange completes a tool that changes a dashboard: beside the dashboard, its result has some of the fields of dashboardChange.
func defineChange(t *tool, fields ...string) (*tool, error) {
	t, err := define[dashboardChange](t)
	if err != nil {
		return nil, err
	}
	for name := range t.output.Properties {
		if name != "dashboard" && !slices.Contains(fields, name) {
			delete(t.output.Properties, name)
		}
	}
	t.output.PropertyOrder = nil
	return t, nil
}

func changeAnswer(res dashboardChange, done string) *answer {
	if res.RenderWarnings == nil {
		res.RenderWarnings = []string{}
	}
	text := page{notes: res.RenderWarnings, scope: []pair{{"Dashboard", res.Dashboard.ID}, {"Name", res.Dashboard.Name}, {"Widgets", fmt.Sprint(res.Dashboard.WidgetCount)}}, blocks: []block{{empty: done}}}
	if v := res.Validation; v != nil && v.Ran && len(v.Inspected) > 0 {
		text.blocks = append(text.blocks, v.block())
		for _, it := range v.Inspected {
			if it.Verdict == "broken" || it.Verdict == "error" {
				text.next = []suggestion{{"inspect_chart_data", map[string]any{"dashboard_id": res.Dashboard.ID, "widget_id": it.WidgetID}, "why this widget is broken"}}
				break
			}
		}
	}
	text.next = append(text.next, suggestion{"get_dashboard", map[string]any{"dashboard_id": res.Dashboard.ID}, "the dashboard as it is now"})
	return &answer{data: res, text: text}
}

func newUpdateDashboard(s *Server) (*tool, error) {
	return defineChange(&tool{
		name: "update_dashboard", title: "Change of a dashboard", writes: true, destroys: true, repeatable: true,
		description: "Change the name, description or time range of a dashboard, or replace it whole with dashboard_json. The version before is kept.",
		params: []param{
			dashboardIDParam(), {name: "name", kind: kindText}, {name: "description", kind: kindText}, timeRangeParam(), jsonParam("dashboard_json", "Replaces the whole definition.", true, false),
		},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			req := &svcv2.UpdateDashboardRequest{}
			mask := map[string]bool{}
			replaced := a.raw("dashboard_json") != nil
			if replaced {
				if err := decodeJSON("dashboard_json", withPanels(definition(a.raw("dashboard_json"), req)), req); err != nil {
					return nil, err
				}
				for _, name := range req.GetUpdateMask().GetPaths() {
					mask[name] = true
				}
				for _, name := range []string{"widgets", "sections", "variables"} {
					mask[name] = true // a whole replacement without them has none
				}
			}
			if v := a.text("name"); v != nil {
				req.Name, mask["name"] = v, true
			}
			if v := a.text("description"); v != nil {
				req.Description, mask["description"] = v, true
			}
			if raw := a.raw("time_range"); raw != nil {
				req.TimeRange, mask["time_range"] = &svcv2.TimeRange{}, true
				if err := decodeJSON("time_range", raw, req.TimeRange); err != nil {
					return nil, err
				}
			}
			if len(mask) == 0 {
				return nil, badInput("name", "or another field to change is required: name, description, time_range or dashboard_json.", "Checkout")
			}
			req.Id, req.UpdateMask = *a.text("dashboard_id"), &fieldmaskpb.FieldMask{Paths: slices.Sorted(maps.Keys(mask))}
			out, err := s.clients.dashboards.UpdateDashboard(ctx, req)
			if err != nil {
				return nil, err
			}
			return changeAnswer(dashboardChange{Dashboard: changedRow(out), Replaced: &replaced, RenderWarnings: renderWarnings(out.GetWidgets()...)}, "It was changed. The version before can be restored."), nil
		},
	}, "replaced", "renderWarnings")
}
