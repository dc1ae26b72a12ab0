package dashboards

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/widget"
)

type schemaResult struct {
	Markdown string `json:"markdown"`
}

// panelTypes lists the visualizations that the API accepts for a widget.
func panelTypes() []string {
	f := (&svcv2.Widget{}).ProtoReflect().Descriptor().Fields().ByName("visualization")
	return slices.Clone(contract.Rules(f).GetString().GetIn())
}

// sections are the parts of the explanation.
func sections() []string {
	return []string{"panel_types", "data_sources", "units", "queries", "display", "raw_sql"}
}

// section is the name of a part of the explanation.
type section string

// Choices are the names of all parts.
func (section) Choices() []string { return sections() }

type describeDashboardSchemaArgs struct {
	tool.Call
	Section *section
}

func newDescribeDashboardSchema(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[schemaResult](&tool.Tool{
		Name:        "describe_dashboard_schema",
		Title:       "Schema of dashboards",
		Description: "Explain the parts of dashboards and widgets: all of them, or one section.",
		Run: tool.With(func(_ context.Context, a *describeDashboardSchemaArgs) (*tool.Answer, error) {
			wanted := sections()
			if v := a.Section; v != nil {
				wanted = []string{string(*v)}
			}
			var text tool.Page
			var all []string
			for _, name := range wanted {
				b := schemaSection(name)
				text.Blocks = append(text.Blocks, b)
				all = append(all, "### "+b.Heading+"\n"+strings.Join(b.Rows, "\n"))
			}
			text.Next = []tool.Suggestion{tool.Next("list_dashboards", map[string]any{}, "dashboards to take as an example")}
			return &tool.Answer{Data: schemaResult{strings.Join(all, "\n\n")}, Text: text}, nil
		}),
	})
}

func schemaSection(name string) tool.Block {
	switch name {
	case "panel_types":
		rows := []string{"- visualization is one of: " + strings.Join(panelTypes(), ", ")}
		return tool.Block{
			Heading: "Widgets",
			Rows:    append(rows, describeMessage((&svcv2.Widget{}).ProtoReflect().Descriptor(), 0, "data_source", "display")...),
		}
	case "data_sources":
		return tool.Block{
			Heading: "Data sources (data_source)",
			Rows:    describeMessage((&svcv2.WidgetDataSource{}).ProtoReflect().Descriptor(), 0, "queries", "formulas"),
		}
	case "queries":
		return tool.Block{
			Heading: "Queries of a data source of kind query",
			Rows: append(describeMessage((&svcv2.QueryDraft{}).ProtoReflect().Descriptor(), 0),
				"- where_clause: conditions `key op value`, combined with AND, OR, NOT and parentheses; operators "+operators()+". "+
					"exists and !exists take no value; in and !in take a list: `key in (a, b)`."),
		}
	case "display":
		return tool.Block{Heading: "Display (display)", Rows: describeMessage((&svcv2.WidgetDisplay{}).ProtoReflect().Descriptor(), 0)}
	case "raw_sql":
		return tool.Block{Heading: "Raw SQL", Rows: []string{
			"- kind raw_sql; sql is one SELECT as in run_sql: $__orgFilter is needed, $__timeFilter(col), $__timeGroup(col), $__startTime, $__endTime, $__interval_s and variables as $name.",
			"- line, area, bar over time: a time column, then numeric columns, or time, series, value.",
			"- stat, gauge: the first numeric column. pie, bar, hbar: name and value. table, list: any.",
		}}
	default:
		return tool.Block{Heading: "Units", Rows: []string{
			"- unit is one of: " + strings.Join(widget.Units(), ", ") + ", or free text.", "- " + widget.UnitPercent + " is of a ratio from 0 to 1.",
		}}
	}
}

// operators lists the operators of the filter language.
func operators() string {
	var names []string
	for _, op := range query.Ops() {
		names = append(names, string(op))
	}
	return strings.Join(names, " ")
}

// describeMessage lists the fields of a message with their types and choices. They come from the descriptors against which the
// API itself checks.
func describeMessage(d protoreflect.MessageDescriptor, depth int, skip ...string) []string {
	var rows []string
	fields := d.Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		rules := contract.Rules(f)
		typ := f.Kind().String()
		if f.Message() != nil {
			typ = "object"
		}
		if f.IsList() {
			typ = "list of " + typ
		}
		row := fmt.Sprintf("%s- %s (%s", strings.Repeat("  ", depth), f.TextName(), typ)
		if rules.GetRequired() {
			row += ", required"
		}
		row += ")"
		if in := rules.GetString().GetIn(); len(in) > 0 {
			row += ": " + strings.Join(in, ", ")
		}
		rows = append(rows, row)
		if m := f.Message(); m != nil && depth < 3 && !slices.Contains(skip, f.TextName()) &&
			m.ParentFile().Package() == d.ParentFile().Package() &&
			m != d {
			rows = append(rows, describeMessage(m, depth+1)...)
		}
	}
	return rows
}
