package perses

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/widget"
)

// drawing is the way in which we draw a panel.
type drawing struct{ visualization, chart, display string }

// drawingOf maps the kinds of panels. An unknown kind becomes a line chart, with a warning.
func drawingOf(plugin string) (d drawing, known bool) {
	switch plugin {
	case "TimeSeriesChart":
		return drawing{"chart", "line", "line"}, true
	case "BarChart":
		return drawing{"chart", "bar", "bar"}, true
	case "StatChart":
		return drawing{"stat", "", "stat"}, true
	case "GaugeChart":
		return drawing{"gauge", "", "gauge"}, true
	case "Table", "LogsTable", "TimeSeriesTable":
		return drawing{"table", "", "table"}, true
	case "PieChart":
		return drawing{"pie", "pie", "pie"}, true
	case "Histogram", "HistogramChart":
		return drawing{"histogram", "histogram", "histogram"}, true
	case "HeatMap", "HeatMapChart", "Heatmap":
		return drawing{"heatmap", "heatmap", "heatmap"}, true
	case "Markdown":
		return drawing{"markdown", "", ""}, true
	default:
		return drawing{"chart", "line", "line"}, false
	}
}

func pluginOf(panel object) string { return panel.at("spec", "plugin").text("kind") }

// widget makes a widget from a panel, without id and layout.
func (m *importer) widget(key string, panel object) *svcv2.Widget {
	spec := panel.child("spec")
	title := cmp.Or(clip(spec.child("display").text("name")), key)
	plugin := pluginOf(panel)
	display := &svcv2.WidgetDisplay{Title: &title}
	if text := m.shorten("panel "+strconv.Quote(key), spec.child("display").text("description"), maxDescription); text != "" {
		display.Description = &text
	}
	if plugin == "" {
		m.warn("Panel %q has no plugin: it was replaced by a note.", key)
		return note(display, "This panel had no plugin that says how it is drawn.")
	}
	d, known := drawingOf(plugin)
	options := spec.at("plugin", "spec")
	if plugin == "Markdown" {
		text := options.text("text")
		if text == "" {
			m.warn("Panel %q has no text: it was replaced by a note.", key)
			text = "This panel had no text."
		}
		return note(display, m.shorten("panel "+strconv.Quote(key), text, maxMarkdown))
	}
	if !known {
		m.warn("Panel %q is a %s, which does not exist here: it became a line chart.", key, plugin)
	}
	sql, logs, reason := m.query(key, spec.list("queries"))
	if logs {
		d = drawing{"table", "", "table"}
	}
	if reason != "" {
		return note(display, fmt.Sprintf("This panel, a %s, was not imported: %s.", plugin, reason))
	}
	if d.chart != "" {
		display.ChartId = new("query-builder-" + d.chart)
	}
	if d.visualization == "gauge" {
		display.Gauge = &svcv2.GaugeDisplay{Min: options.number("min"), Max: options.number("max")}
		if g := display.Gauge; g.Min != nil && g.Max != nil && *g.Min >= *g.Max {
			m.warn("The bounds of the gauge %q were left out: min is not less than max.", key)
			g.Min, g.Max = nil, nil
		}
	}
	source := &svcv2.WidgetDataSource{Kind: widget.SourceSQL, Sql: &sql, DisplayType: &d.display}
	return &svcv2.Widget{Visualization: d.visualization, DataSource: source, Display: display}
}

// note is a widget of text.
func note(display *svcv2.WidgetDisplay, text string) *svcv2.Widget {
	display.Markdown = &svcv2.MarkdownDisplay{Content: text}
	return &svcv2.Widget{Visualization: "markdown", DataSource: &svcv2.WidgetDataSource{Kind: widget.SourceStatic}, Display: display}
}

var (
	orgPredicate = regexp.MustCompile(
		"(?i)(?:\\b[a-z_][a-z0-9_]*\\.)?[\"`]?\\bOrgId\\b[\"`]?\\s*=\\s*(?:'(?:[^'\\\\]|\\\\.|'')*'|\\$\\{?[A-Za-z0-9_.:]+\\}?|\\{[^}]*\\}|\\?)",
	)
	timeMacro = regexp.MustCompile(`\$__(timeFilter|startTime|endTime)\b`)
)

// query returns the statement of a panel and whether it reads logs. If no statement can run, it returns the reason.
func (m *importer) query(key string, queries []*structpb.Value) (sql string, logs bool, reason string) {
	if len(queries) == 0 {
		m.warn("Panel %q has no query: it was replaced by a note.", key)
		return "", false, "it has no query"
	}
	if len(queries) > 1 {
		m.warn("Panel %q has %d queries: only the first was imported.", key, len(queries))
	}
	plugin := object(queries[0].GetStructValue().GetFields()).at("spec", "plugin")
	switch kind := plugin.text("kind"); kind {
	case "ClickHouseTimeSeriesQuery", "ClickHouseLogQuery":
	default:
		m.warn("The query of panel %q is a %s, which cannot be translated: the panel was replaced by a note.", key,
			cmp.Or(kind, "query without a plugin"))
		return "", false, fmt.Sprintf("its query is a %s, and only ClickHouse queries can be translated", cmp.Or(kind, "query without a plugin"))
	}
	sql = strings.TrimRight(plugin.child("spec").text("query"), "; \n\t")
	if sql == "" {
		m.warn("The query of panel %q is empty: it was replaced by a note.", key)
		return "", false, "its query is empty"
	}
	if !strings.Contains(sql, "$__orgFilter") {
		rewritten := orgPredicate.ReplaceAllString(sql, "$$__orgFilter")
		if rewritten == sql {
			m.warn("The query of panel %q is not restricted to an organization by OrgId: it was replaced by a note.", key)
			return "", false, "its query is not restricted to an organization by OrgId"
		}
		m.warn("The condition on OrgId of panel %q was replaced by $__orgFilter.", key)
		sql = rewritten
	}
	if reason := m.refuse(sql); reason != "" {
		m.warn("The query of panel %q cannot run: it %s. It was replaced by a note.", key, reason)
		return "", false, "its query " + reason
	}
	if !timeMacro.MatchString(sql) {
		m.warn("The query of panel %q does not follow the time range of the dashboard: it has no $__timeFilter.", key)
	}
	return sql, plugin.text("kind") == "ClickHouseLogQuery", ""
}
