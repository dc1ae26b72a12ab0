package dashboards

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/fieldmaskpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wirejson"
	"github.com/svc-observability/svc/server/wording"
)

type dashboardRow struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description *string  `json:"description,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	WidgetCount int      `json:"widgetCount"`
	CreatedAt   string   `json:"createdAt"`
	UpdatedAt   string   `json:"updatedAt"`
}

// dashboardOf is the common part of the answers to reads and to writes.
type dashboardOf interface {
	GetId() string
	GetName() string
	GetDescription() string
	GetTags() []string
	GetWidgets() []*svcv2.Widget
}

func toDashboardRow(d dashboardOf, created, updated string) dashboardRow {
	row := dashboardRow{
		ID:          d.GetId(),
		Name:        d.GetName(),
		Tags:        d.GetTags(),
		WidgetCount: len(d.GetWidgets()),
		CreatedAt:   created,
		UpdatedAt:   updated,
	}
	if text := d.GetDescription(); text != "" {
		row.Description = &text
	}
	return row
}

func changedRow(d *svcv2.DashboardMutationResponse) dashboardRow {
	return toDashboardRow(d, wording.Clock(d.GetCreatedAt().AsTime()), wording.Clock(d.GetUpdatedAt().AsTime()))
}

// ofDashboard is the argument that names a dashboard.
type ofDashboard struct {
	DashboardID string `required:"true" example:"dash_…, from list_dashboards"`
}

type dashboardsResult struct {
	Dashboards []dashboardRow `json:"dashboards"`
	Total      int            `json:"total"`
	Search     *string        `json:"search,omitempty"`
}

type listDashboardsArgs struct {
	tool.Call
	Search *string `doc:"Text in name, description or tags."`
}

func newListDashboards(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[dashboardsResult](&tool.Tool{
		Name: "list_dashboards", View: "/dashboards", Title: "Dashboards", Description: "List dashboards, the last changed first.",
		Run: tool.With(func(ctx context.Context, a *listDashboardsArgs) (*tool.Answer, error) {
			rows, _, err := tool.Collect(
				ctx,
				nil,
				0,
				1000,
				func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.Dashboard, *string, error) {
					res, err := s.Dashboards.ListDashboards(ctx, &svcv2.ListDashboardsRequest{Limit: &limit, Cursor: cursor})
					return res.GetData(), tool.NextCursor(res), err
				},
			)
			if err != nil {
				return nil, err
			}
			res := dashboardsResult{Dashboards: []dashboardRow{}, Search: a.Search}
			search := strings.ToLower(tool.Or(a.Search, ""))
			slices.SortStableFunc(rows, func(x, y *svcv2.Dashboard) int { return y.GetUpdatedAt().AsTime().Compare(x.GetUpdatedAt().AsTime()) })
			var cells [][]string
			for _, d := range rows {
				if !strings.Contains(strings.ToLower(d.GetName()+" "+d.GetDescription()+" "+strings.Join(d.GetTags(), " ")), search) {
					continue
				}
				row := toDashboardRow(d, wording.Clock(d.GetCreatedAt().AsTime()), wording.Clock(d.GetUpdatedAt().AsTime()))
				res.Dashboards = append(res.Dashboards, row)
				cells = append(
					cells,
					[]string{row.ID, wording.Clip(row.Name, 120), fmt.Sprint(row.WidgetCount), strings.Join(row.Tags, ", "), row.UpdatedAt},
				)
			}
			res.Total = len(res.Dashboards)
			var text tool.Page
			if res.Search != nil {
				text.Scope = []tool.Pair{tool.Labeled("search", *res.Search)}
			}
			none := "No dashboard matches. Without search, the tool lists all " + strconv.Itoa(len(rows)) + "."
			if len(rows) == 0 {
				none = "There are no dashboards yet. create_dashboard makes one."
			}
			text.Blocks = []tool.Block{tool.Table("", none, []string{"Dashboard", "Name", "Widgets", "Tags", "Changed"}, cells)}
			text.Shown = tool.ShownOf(res.Total, false, "dashboards")
			if res.Total > 0 {
				text.Next = append(
					text.Next,
					tool.Next("get_dashboard", map[string]any{"dashboard_id": res.Dashboards[0].ID}, "the dashboard that changed last"),
				)
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

type dashboardResult struct {
	Dashboard map[string]any `json:"dashboard" detail:"whole"`
}

type getDashboardArgs struct {
	tool.Call
	ofDashboard
}

func newGetDashboard(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[dashboardResult](&tool.Tool{
		Name: "get_dashboard", View: "/dashboards/{dashboard_id}", Title: "Dashboard",
		Description: "Read one dashboard with its widgets, as JSON that dashboard_json accepts.",
		Run: tool.With(func(ctx context.Context, a *getDashboardArgs) (*tool.Answer, error) {
			d, err := s.Dashboards.GetDashboard(ctx, &svcv2.GetDashboardRequest{Id: a.DashboardID})
			if err != nil {
				return nil, err
			}
			m, err := toMap(d)
			if err != nil {
				return nil, err
			}
			text := tool.Page{
				Scope: []tool.Pair{
					tool.Labeled("Dashboard", d.GetId()),
					tool.Labeled("Name", d.GetName()),
					tool.Labeled("Changed", wording.Clock(d.GetUpdatedAt().AsTime())),
				},
				Shown: tool.ShownOf(len(d.GetWidgets()), false, "widgets"),
			}
			var cells [][]string
			for _, x := range d.GetWidgets() {
				raw, err := wirejson.Marshal(x.GetDataSource())
				if err != nil {
					return nil, err
				}
				cells = append(cells, []string{x.GetId(), x.GetVisualization(), wording.Clip(titleOf(x), 120), wording.Clip(string(raw), 500)})
			}
			text.Blocks = []tool.Block{
				tool.Table("Widgets", "The dashboard has no widgets.", []string{"Widget", "Panel", "Title", "Data source"}, cells),
			}
			text.Next = []tool.Suggestion{
				tool.Next("describe_dashboard_schema", map[string]any{"section": "queries"}, "the fields of widgets, before you change one"),
			}
			return &tool.Answer{Data: dashboardResult{m}, Text: text}, nil
		}),
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

// toMap converts a message to the JSON of the API.
func toMap(m proto.Message) (map[string]any, error) {
	raw, err := wirejson.Marshal(m)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	return out, json.Unmarshal(raw, &out)
}

type dashboardChange struct {
	Dashboard        dashboardRow `json:"dashboard" summary:"as of list_dashboards"`
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
	// WidgetTimeRange is the widget's own window.
	WidgetTimeRange map[string]any `json:"widgetTimeRange,omitempty"`
	// RepairedScalar and RepairedScalarIDs name the widgets that got a transform to one number.
	RepairedScalar    *bool       `json:"repairedScalar,omitempty"`
	RepairedScalarIDs []string    `json:"repairedScalarIds,omitzero"`
	Validation        *validation `json:"validation,omitempty" summary:"inspected[]: verdict, flags and note of each widget; counts of verdicts"`
	// RenderWarnings name the parts that a widget lacks to be drawn as intended.
	RenderWarnings []string `json:"renderWarnings"`
}

// gridPlace is the place of a widget, in cells of a grid of 12 columns.
type gridPlace struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	W float64 `json:"w"`
	H float64 `json:"h"`
}

// defineChange completes a tool that changes a dashboard. Its result has the dashboard and some of the fields of dashboardChange.
func defineChange(t *tool.Tool, fields ...string) (*tool.Tool, error) {
	output, err := tool.OutputOf[dashboardChange](nil)
	if err != nil {
		return nil, err
	}
	for name := range output.Properties {
		if name != "dashboard" && !slices.Contains(fields, name) {
			delete(output.Properties, name)
		}
	}
	output.PropertyOrder = nil
	t.Output = tool.OnlyNames(output)
	return tool.Define[dashboardChange](t)
}

func changeAnswer(res dashboardChange, done string) *tool.Answer {
	if res.RenderWarnings == nil {
		res.RenderWarnings = []string{}
	}
	text := tool.Page{
		Notes: res.RenderWarnings,
		Scope: []tool.Pair{
			tool.Labeled("Dashboard", res.Dashboard.ID),
			tool.Labeled("Name", res.Dashboard.Name),
			tool.Labeled("Widgets", fmt.Sprint(res.Dashboard.WidgetCount)),
		},
		Blocks: []tool.Block{{Empty: done}},
	}
	if v := res.Validation; v != nil && v.Ran && len(v.Inspected) > 0 {
		text.Blocks = append(text.Blocks, v.block())
		for _, it := range v.Inspected {
			if it.Verdict == "broken" || it.Verdict == "error" {
				text.Next = []tool.Suggestion{
					tool.Next(
						"inspect_chart_data",
						map[string]any{"dashboard_id": res.Dashboard.ID, "widget_id": it.WidgetID},
						"why this widget is broken",
					),
				}
				break
			}
		}
	}
	text.Next = append(text.Next, tool.Next("get_dashboard", map[string]any{"dashboard_id": res.Dashboard.ID}, "the dashboard as it is now"))
	return &tool.Answer{ID: res.Dashboard.ID, Data: res, Text: text}
}

type updateDashboardArgs struct {
	tool.Call
	ofDashboard
	Name          *string
	Description   *string
	TimeRange     timeRangeJSON   `doc:"{\"type\":\"relative\",\"value\":\"6h\"}" type:"object"`
	DashboardJSON json.RawMessage `doc:"A new definition of the whole dashboard." type:"object"`
}

func newUpdateDashboard(s *tool.Clients) (*tool.Tool, error) {
	return defineChange(&tool.Tool{
		Name: "update_dashboard", View: "/dashboards/{dashboard_id}",
		Title:      "Change a dashboard",
		Writes:     true,
		Destroys:   true,
		Repeatable: true,
		Description: "Change the name, description or time range of a dashboard, or replace the whole dashboard with dashboard_json. The " +
			"previous version is kept.",
		Run: tool.With(func(ctx context.Context, a *updateDashboardArgs) (*tool.Answer, error) {
			req := &svcv2.UpdateDashboardRequest{}
			mask := map[string]bool{}
			replaced := a.DashboardJSON != nil
			if replaced {
				if err := tool.DecodeJSON(a.NameOf(&a.DashboardJSON), withPanels(definition(a.DashboardJSON, req)), req); err != nil {
					return nil, err
				}
				for _, name := range req.GetUpdateMask().GetPaths() {
					mask[name] = true
				}
				for _, name := range []string{"widgets", "sections", "variables"} {
					mask[name] = true // a full replacement without them removes them
				}
			}
			if v := a.Name; v != nil {
				req.Name, mask["name"] = v, true
			}
			if v := a.Description; v != nil {
				req.Description, mask["description"] = v, true
			}
			if a.TimeRange != nil {
				req.TimeRange, mask["time_range"] = &svcv2.TimeRange{}, true
				if err := a.Decode(&a.TimeRange, req.TimeRange); err != nil {
					return nil, err
				}
			}
			if len(mask) == 0 {
				return nil, a.Bad(&a.Name, "or another field to change is required: name, description, time_range or dashboard_json.", "Checkout")
			}
			req.Id, req.UpdateMask = a.DashboardID, &fieldmaskpb.FieldMask{Paths: slices.Sorted(maps.Keys(mask))}
			out, err := s.Dashboards.UpdateDashboard(ctx, req)
			if err != nil {
				return nil, err
			}
			return changeAnswer(
				dashboardChange{Dashboard: changedRow(out), Replaced: &replaced, RenderWarnings: renderWarnings(out.GetWidgets()...)},
				"The dashboard was changed. The previous version can be restored.",
			), nil
		}),
	}, "replaced", "renderWarnings")
}
