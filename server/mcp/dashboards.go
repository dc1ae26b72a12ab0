package mcp

import (
	"context"
	"encoding/json"
	"errors"
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
	WidgetIDs        []string     `json:"widgetIds,omitempty"`
	UpdatedWidgetIDs []string     `json:"updatedWidgetIds,omitempty"`
	Visualization    string       `json:"visualization,omitempty"`
	Validation       *validation  `json:"validation,omitempty"`
}

func changeAnswer(res dashboardChange, done string) *answer {
	text := page{scope: []pair{{"Dashboard", res.Dashboard.ID}, {"Name", res.Dashboard.Name}, {"Widgets", fmt.Sprint(res.Dashboard.WidgetCount)}}, blocks: []block{{empty: done}}}
	if v := res.Validation; v != nil && v.Ran {
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

func newCreateDashboard(s *Server) (*tool, error) {
	return define[dashboardChange](&tool{
		name: "create_dashboard", title: "New dashboard", writes: true,
		description: "Create a dashboard from a template, from widgets, or from a whole definition. See describe_dashboard_schema.",
		params: []param{
			{name: "name", kind: kindText, required: true},
			{name: "description", kind: kindText},
			{name: "template", kind: kindText, description: "Id of a template."},
			jsonParam("template_parameters_json", `Of the template, for example {"service_name":"checkout"}.`, true, false), jsonParam("widgets_json", "List of widgets.", false, false),
			jsonParam("time_range_json", `For example {"type":"relative","value":"6h"}.`, true, false), jsonParam("dashboard_json", "Whole definition; name and description win.", true, false), validateParam(),
		},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			if a.text("template") != nil {
				return s.fromTemplate(ctx, a)
			}
			req, source := &svcv2.CreateDashboardRequest{}, "widgets"
			if raw := a.raw("dashboard_json"); raw != nil {
				source = "dashboard_json"
				if err := decodeJSON("dashboard_json", definition(raw, req), req); err != nil {
					return nil, err
				}
			}
			req.Name = *a.text("name")
			if v := a.text("description"); v != nil {
				req.Description = v
			}
			if raw := a.raw("widgets_json"); raw != nil {
				widgets, err := decodeWidgets("widgets_json", raw)
				if err != nil {
					return nil, err
				}
				req.Widgets = widgets
			}
			if raw := a.raw("time_range_json"); raw != nil {
				req.TimeRange = &svcv2.TimeRange{}
				if err := decodeJSON("time_range_json", raw, req.TimeRange); err != nil {
					return nil, err
				}
			}
			out, err := s.clients.dashboards.CreateDashboard(ctx, req)
			if err != nil {
				return nil, err
			}
			return changeAnswer(dashboardChange{Dashboard: changedRow(out), Source: source, Validation: s.validateIf(ctx, a, out, out.GetWidgets())}, "It was created."), nil
		},
	})
}

// definition drops from the JSON of a dashboard what only answers have, so that what get_dashboard gave can be sent back.
func definition(raw json.RawMessage, req proto.Message) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil {
		return raw // the decoder says what is wrong
	}
	fields := req.ProtoReflect().Descriptor().Fields()
	for _, name := range []string{"id", "object", "created_at", "updated_at", "txid"} {
		delete(m, name)
	}
	for name, v := range m {
		if f := fields.ByTextName(name); f != nil && string(v) == "null" {
			delete(m, name)
		}
	}
	out, err := json.Marshal(m)
	if err != nil {
		return raw
	}
	return out
}

func decodeWidgets(parameter string, raw json.RawMessage) ([]*svcv2.Widget, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, badInput(parameter, "must be a list of widgets.", "")
	}
	widgets := []*svcv2.Widget{}
	for i, one := range list {
		x := &svcv2.Widget{}
		if err := decodeJSON(parameter, one, x); err != nil {
			var input *inputError
			if errors.As(err, &input) {
				input.message = strings.Replace(input.message, parameter, fmt.Sprintf("%s, widget %d,", parameter, i+1), 1)
			}
			return nil, err
		}
		widgets = append(widgets, x)
	}
	return widgets, nil
}

func newUpdateDashboard(s *Server) (*tool, error) {
	return define[dashboardChange](&tool{
		name: "update_dashboard", title: "Change of a dashboard", writes: true, destroys: true, repeatable: true,
		description: "Change the name, description or time range of a dashboard, or replace it whole with dashboard_json. The version before is kept.",
		params: []param{
			dashboardIDParam(), {name: "name", kind: kindText}, {name: "description", kind: kindText}, jsonParam("time_range_json", "", true, false), jsonParam("dashboard_json", "Replaces the whole definition.", true, false),
		},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			req := &svcv2.UpdateDashboardRequest{}
			mask := map[string]bool{}
			replaced := a.raw("dashboard_json") != nil
			if replaced {
				if err := decodeJSON("dashboard_json", definition(a.raw("dashboard_json"), req), req); err != nil {
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
			if raw := a.raw("time_range_json"); raw != nil {
				req.TimeRange, mask["time_range"] = &svcv2.TimeRange{}, true
				if err := decodeJSON("time_range_json", raw, req.TimeRange); err != nil {
					return nil, err
				}
			}
			if len(mask) == 0 {
				return nil, badInput("name", "or another field to change is required: name, description, time_range_json or dashboard_json.", "Checkout")
			}
			req.Id, req.UpdateMask = *a.text("dashboard_id"), &fieldmaskpb.FieldMask{Paths: slices.Sorted(maps.Keys(mask))}
			out, err := s.clients.dashboards.UpdateDashboard(ctx, req)
			if err != nil {
				return nil, err
			}
			return changeAnswer(dashboardChange{Dashboard: changedRow(out), Replaced: &replaced}, "It was changed. The version before can be restored."), nil
		},
	})
}

func (s *Server) fromTemplate(ctx context.Context, a *arguments) (*answer, error) {
	for _, other := range []string{"widgets_json", "dashboard_json", "time_range_json"} {
		if a.raw(other) != nil {
			return nil, badInput(other, "cannot be given together with template.", "")
		}
	}
	req := &svcv2.InstantiateDashboardTemplateRequest{}
	body := map[string]any{"name": *a.text("name")}
	if raw := a.raw("template_parameters_json"); raw != nil {
		body["parameters"] = raw
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode a template's parameters: %w", err)
	}
	if err := decodeJSON("template_parameters_json", raw, req); err != nil {
		return nil, err
	}
	req.TemplateId = *a.text("template")
	out, err := s.clients.dashboards.InstantiateDashboardTemplate(ctx, req)
	if err != nil {
		return nil, s.withTemplates(ctx, err)
	}
	return changeAnswer(dashboardChange{Dashboard: changedRow(out), Source: "template", Template: a.text("template"), Validation: s.validateIf(ctx, a, out, out.GetWidgets())}, "It was created from the template."), nil
}

// withTemplates adds the ids of the templates to a failure to find one, which includes an id of the wrong form.
func (s *Server) withTemplates(ctx context.Context, err error) error {
	if !isNotFound(err) && !strings.HasPrefix(apiFailure(&tool{}, err).Message, "template_id") {
		return err
	}
	list, listErr := s.clients.dashboards.ListDashboardTemplates(ctx, &svcv2.ListDashboardTemplatesRequest{})
	if listErr != nil {
		return err // the first failure says more
	}
	var ids []string
	for _, t := range list.GetData() {
		ids = append(ids, t.GetId()+" ("+t.GetName()+")")
	}
	d := apiFailure(s.tool("create_dashboard"), err)
	return &inputError{tag: d.Tag, parameter: "template", message: d.Message + " Templates: " + strings.Join(ids, ", ") + "."}
}
