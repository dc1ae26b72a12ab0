package dashboards

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
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

// section is the name of a part of the explanation.
type section string

// Choices are the names of all parts.
func (section) Choices() []string {
	var names []string
	for _, p := range schemaParts() {
		names = append(names, p.name)
	}
	return names
}

// schemaPart is a part of the explanation.
type schemaPart struct {
	name, heading string
	rows          func() []string
}

type describeDashboardSchemaArgs struct {
	tool.Call
	Section *section
}

func newDescribeDashboardSchema(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[schemaResult](&tool.Tool{
		Name: "describe_dashboard_schema", View: "/dashboards",
		Title:       "Schema of dashboards",
		Description: "Explain the parts of dashboards and widgets: all of them, or one section.",
		Run: tool.With(func(_ context.Context, a *describeDashboardSchemaArgs) (*tool.Answer, error) {
			var text tool.Page
			var all []string
			for _, part := range schemaParts() {
				if a.Section != nil && string(*a.Section) != part.name {
					continue
				}
				b := tool.Block{Heading: part.heading, Rows: part.rows()}
				text.Blocks = append(text.Blocks, b)
				all = append(all, "### "+b.Heading+"\n"+strings.Join(b.Rows, "\n"))
			}
			text.Next = []tool.Suggestion{tool.Next("list_dashboards", map[string]any{}, "dashboards to take as an example")}
			return &tool.Answer{Data: schemaResult{strings.Join(all, "\n\n")}, Text: text}, nil
		}),
	})
}

// schemaParts lists the parts. The fields and choices in them come from the contract.
func schemaParts() []schemaPart {
	message := func(m proto.Message, skip ...string) func() []string {
		return func() []string { return describeMessage(m.ProtoReflect().Descriptor(), 0, skip...) }
	}
	return []schemaPart{
		{"panel_types", "Widgets", func() []string {
			rows := []string{"- visualization is one of: " + strings.Join(panelTypes(), ", ")}
			return append(rows, message(&svcv2.Widget{}, "data_source", "display")()...)
		}},
		{"data_sources", "Data sources (data_source)", message(&svcv2.WidgetDataSource{}, "queries", "formulas")},
		{"units", "Units", func() []string {
			return []string{
				"- unit is one of: " + strings.Join(widget.Units(), ", ") + ", or free text.",
				"- " + widget.UnitPercent + " is of a ratio from 0 to 1.",
			}
		}},
		{"queries", "Queries of a data source of kind query", func() []string {
			return append(message(&svcv2.QueryDraft{})(), "- where_clause: conditions `key op value`, combined with AND, OR, NOT and parentheses; "+
				"operators "+operators()+". exists and !exists take no value; in and !in take a list: `key in (a, b)`.")
		}},
		{"display", "Display (display)", message(&svcv2.WidgetDisplay{})},
		{"raw_sql", "Raw SQL", func() []string {
			return []string{
				"- kind raw_sql; sql is one SELECT as in run_sql, but must contain $__orgFilter, which is always true. " +
					"It may contain $__timeFilter(col), $__timeGroup(col), $__startTime, $__endTime, $__interval_s and variables as $name.",
				"- line, area, bar over time: a time column, then numeric columns, or time, series, value.",
				"- stat, gauge: the first numeric column. pie, bar, hbar: name and value. table, list: any.",
			}
		}},
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
