package links

import (
	"regexp"

	"google.golang.org/protobuf/encoding/protojson"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/services/dashboards/definition"
)

// shown returns the part of a dashboard that a link shows: what its widgets, or the one shared widget, draw, but not their
// queries. It copies only fields that are known to be harmless: a field that is added later stays hidden until it is added here.
func shown(def *svcv2.DashboardDefinition, only *svcv2.Widget) *svcv2.SharedDashboard {
	out := &svcv2.SharedDashboard{TimeRange: def.GetTimeRange(), RefreshIntervalSeconds: def.RefreshIntervalSeconds}
	widgets := def.GetWidgets()
	if only != nil {
		out.Name = definition.WidgetTitle(only)
		widgets = []*svcv2.Widget{only}
	} else {
		out.Name, out.Description, out.Sections = def.GetName(), def.Description, def.GetSections()
	}
	for _, v := range def.GetVariables() {
		if only == nil || uses(only, v.GetName()) {
			out.Variables = append(out.Variables, &svcv2.DashboardVariable{
				Name: v.GetName(), Label: v.Label, IncludeAll: v.IncludeAll, DefaultValue: v.DefaultValue, Type: v.GetType(), Options: v.GetOptions(),
			})
		}
	}
	for _, w := range widgets {
		public := &svcv2.Widget{
			Id: w.GetId(), Visualization: w.GetVisualization(), Display: shownDisplay(w.GetDisplay()), Layout: w.GetLayout(), TimeRange: w.TimeRange,
			DataSource: &svcv2.WidgetDataSource{
				Kind: w.GetDataSource().GetKind(), ResultShape: w.GetDataSource().ResultShape, DisplayType: w.GetDataSource().DisplayType,
			},
		}
		if only == nil {
			public.SectionId, public.TabId = w.SectionId, w.TabId
		}
		out.Widgets = append(out.Widgets, public)
	}
	return out
}

// shownDisplay leaves out the fields that reveal the query.
func shownDisplay(d *svcv2.WidgetDisplay) *svcv2.WidgetDisplay {
	out := &svcv2.WidgetDisplay{
		Title: d.Title, Description: d.Description, ChartId: d.ChartId, Prefix: d.Prefix, Suffix: d.Suffix, Unit: d.Unit,
		ChartPresentation: d.ChartPresentation, XAxis: d.XAxis, YAxis: d.YAxis, SeriesMapping: d.GetSeriesMapping(),
		ColorOverrides: d.GetColorOverrides(), Stacked: d.Stacked, CurveType: d.CurveType,
		Thresholds: d.GetThresholds(), Columns: d.GetColumns(), ListDataSource: d.ListDataSource, ListLimit: d.ListLimit, Pie: d.Pie,
		Histogram: d.Histogram, Heatmap: d.Heatmap, Gauge: d.Gauge, Markdown: d.Markdown,
	}
	if s := d.Sparkline; s != nil {
		out.Sparkline = &svcv2.Sparkline{Enabled: s.GetEnabled()}
	}
	if f := d.Funnel; f != nil {
		out.Funnel = &svcv2.FunnelDisplay{ShowStepPercent: f.ShowStepPercent, Variant: f.Variant}
	}
	if p := d.Paths; p != nil {
		out.Paths = &svcv2.PathsDisplay{Direction: p.Direction, Depth: p.Depth, Branches: p.Branches}
	}
	return out
}

// uses reports whether a widget refers to a variable, as `$name` or `${name}`.
func uses(w *svcv2.Widget, name string) bool {
	text, err := protojson.Marshal(w) // JSON ends each text with a quote; in the binary form, a digit or letter might follow the name
	return err == nil && regexp.MustCompile(`\$(`+name+`\b|\{`+name+`\})`).Match(text)
}
