package dashboards

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// drawings are the kinds of a chart over time. The API distinguishes them by the chart's id.
func drawings() []string {
	ids, err := tool.Choices("WidgetDisplay.chart_id")
	if err != nil {
		return nil // cannot happen: the golden files of the tools show the list
	}
	for i, id := range ids {
		ids[i] = strings.TrimPrefix(id, chartPrefix)
	}
	return ids
}

// allPanels lists the panel types that agents can name: the visualizations of the API. Instead of chart, it has the ways to draw
// one.
func allPanels() []string {
	return append(drawings(), slices.DeleteFunc(panelTypes(), func(v string) bool { return v == "chart" })...)
}

const chartPrefix = "query-builder-"

// panelOf is the panel type of a widget.
func panelOf(x *svcv2.Widget) string {
	if x.GetVisualization() != "chart" {
		return x.GetVisualization()
	}
	if kind, ok := strings.CutPrefix(x.GetDisplay().GetChartId(), chartPrefix); ok && slices.Contains(drawings(), kind) {
		return kind
	}
	return "line"
}

// withPanel translates the panel type in a widget's JSON, in panel_type or visualization, to the fields of the API. It leaves
// JSON that is not an object to the decoder.
func withPanel(raw json.RawMessage) json.RawMessage {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return raw
	}
	panel, _ := m["panel_type"].(string) // in a patch it stands beside the visualization of the stored widget
	if v, ok := m["visualization"].(string); ok && panel == "" {
		panel = v
	}
	if panel = strings.ToLower(panel); panel == "" {
		return raw
	}
	delete(m, "panel_type")
	m["visualization"] = panel
	if slices.Contains(drawings(), panel) {
		m["visualization"] = "chart"
		display, ok := m["display"].(map[string]any)
		if !ok && m["display"] != nil {
			return raw
		}
		if display == nil {
			display = map[string]any{}
		}
		display["chart_id"], m["display"] = chartPrefix+panel, display
	}
	out, err := json.Marshal(m)
	if err != nil {
		return raw
	}
	return out
}

// withPanels applies withPanel to all widgets of a definition.
func withPanels(raw json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	var widgets []json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m["widgets"] == nil || json.Unmarshal(m["widgets"], &widgets) != nil {
		return raw
	}
	for i := range widgets {
		widgets[i] = withPanel(widgets[i])
	}
	out, err := json.Marshal(widgets)
	if err != nil {
		return raw
	}
	m["widgets"] = out
	if out, err = json.Marshal(m); err != nil {
		return raw
	}
	return out
}

// decodeWidgets reads a list of widgets. Widgets without an id get one. Widgets without a place follow the others, two in a row.
func decodeWidgets(parameter string, raw json.RawMessage) ([]*svcv2.Widget, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, tool.BadInput(parameter, "must be a list of widgets.", "")
	}
	widgets := []*svcv2.Widget{}
	for i, one := range list {
		x := &svcv2.Widget{}
		if err := tool.DecodeJSON(parameter, completed(withPanel(one), widgets), x); err != nil {
			var input *tool.InputError
			if errors.As(err, &input) {
				input.Message = strings.Replace(input.Message, parameter, fmt.Sprintf("%s, widget %d,", parameter, i+1), 1)
			}
			return nil, err
		}
		widgets = append(widgets, x)
	}
	return widgets, nil
}

// completed adds the fields to a widget's JSON that the caller may leave out.
func completed(raw json.RawMessage, before []*svcv2.Widget) json.RawMessage {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil {
		return raw
	}
	if m["id"] == nil {
		m["id"] = freeID(before)
	}
	if m["display"] == nil {
		m["display"] = map[string]any{}
	}
	if m["layout"] == nil {
		bottom := 0.0
		for _, o := range before {
			bottom = max(bottom, o.GetLayout().GetY()+o.GetLayout().GetH())
		}
		layout := map[string]any{"x": 0, "y": bottom, "w": 6, "h": 4}
		if n := len(before); n > 0 {
			if last := before[n-1].GetLayout(); last.GetX() == 0 && last.GetW() <= 6 && last.GetH() == 4 {
				layout["x"], layout["y"] = 6, last.GetY()
			}
		}
		m["layout"] = layout
	}
	out, err := json.Marshal(m)
	if err != nil {
		return raw
	}
	return out
}

func freeID(widgets []*svcv2.Widget) string {
	for n := len(widgets) + 1; ; n++ {
		id := fmt.Sprintf("w%d", n)
		if !slices.ContainsFunc(widgets, func(x *svcv2.Widget) bool { return x.GetId() == id }) {
			return id
		}
	}
}

// renderWarnings lists what widgets lack to be drawn as intended.
func renderWarnings(widgets ...*svcv2.Widget) []string {
	out := []string{}
	for _, x := range widgets {
		source := x.GetDataSource()
		if source.GetKind() != "query" {
			continue
		}
		grouped := slices.ContainsFunc(source.GetQueries(), func(q *svcv2.QueryDraft) bool { return len(q.GetGroupBy()) > 0 })
		switch x.GetVisualization() {
		case "pie", "hbar", "heatmap":
			if !grouped {
				out = append(
					out,
					fmt.Sprintf(
						"The widget %s is a %s without groups, so it shows one value. Set group_by of its query, and add_ons.group_by to true.",
						x.GetId(),
						x.GetVisualization(),
					),
				)
			}
		case "stat", "gauge":
			if source.GetResultShape() == "timeseries" && source.GetTransform().GetReduceToValue() == nil {
				out = append(
					out,
					fmt.Sprintf(
						"The widget %s shows one number of a series. Choose the number with data_source.transform.reduce_to_value, for example "+
							"{\"field\":\"value\",\"aggregate\":\"avg\"}.",
						x.GetId(),
					),
				)
			}
		}
	}
	return out
}

// repairScalar completes a widget that shows one number of one series but does not say which. It reports whether it did so. The
// number is computed from the buckets: their total if the query counts, otherwise their mean. With several series a person must
// choose.
func repairScalar(x *svcv2.Widget) bool {
	source := x.GetDataSource()
	if v := x.GetVisualization(); v != "stat" && v != "gauge" || source.GetKind() != "query" || source.GetResultShape() != "timeseries" ||
		source.GetTransform() != nil ||
		len(source.GetFormulas()) > 0 {
		return false
	}
	var shown *svcv2.QueryDraft
	for _, q := range source.GetQueries() {
		if q.GetHidden() || q.Enabled != nil && !q.GetEnabled() {
			continue
		}
		if shown != nil || len(q.GetGroupBy()) > 0 && (q.GetAddOns() == nil || q.GetAddOns().GetGroupBy()) {
			return false
		}
		shown = q
	}
	if shown == nil {
		return false
	}
	aggregate := "avg"
	switch shown.GetAggregation() {
	case "count", "increase", "error_count":
		aggregate = "sum"
	case "sum":
		if shown.GetDataSource() != "metrics" {
			aggregate = "sum"
		}
	}
	source.Transform = &svcv2.DataTransform{ReduceToValue: &svcv2.ReduceToValue{Field: "value", Aggregate: &aggregate}}
	return true
}

// repairOf describes the change that repairScalar made.
func repairOf(x *svcv2.Widget) string {
	return fmt.Sprintf(
		"The widget %s did not choose a number of its series, so it got reduce_to_value with the aggregate %s.",
		x.GetId(),
		x.GetDataSource().GetTransform().GetReduceToValue().GetAggregate(),
	)
}
