package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type schemaResult struct {
	Markdown string `json:"markdown"`
}

// rulesOf are the bounds that the API checks a field by.
func rulesOf(f protoreflect.FieldDescriptor) *validate.FieldRules {
	rules, _ := proto.GetExtension(f.Options(), validate.E_Field).(*validate.FieldRules)
	return rules
}

// panelTypes are what a widget can be, as the API takes it.
func panelTypes() []string {
	f := (&svcv2.Widget{}).ProtoReflect().Descriptor().Fields().ByName("visualization")
	return slices.Clone(rulesOf(f).GetString().GetIn())
}

func newDescribeDashboardSchema(s *Server) (*tool, error) {
	sections := []string{"panel_types", "data_sources", "units", "queries", "display", "raw_sql"}
	return define[schemaResult](&tool{
		name: "describe_dashboard_schema", title: "Schema of dashboards", description: "Explain what dashboards and widgets are made of, whole or one section.",
		params: []param{{name: "section", kind: kindText, enum: sections}},
		run: func(_ context.Context, a *arguments) (*answer, error) {
			wanted := sections
			if v := a.text("section"); v != nil {
				wanted = []string{*v}
			}
			var text page
			var all []string
			for _, name := range wanted {
				b := schemaSection(name)
				text.blocks = append(text.blocks, b)
				all = append(all, "### "+b.heading+"\n"+strings.Join(b.rows, "\n"))
			}
			text.next = []suggestion{{"list_dashboards", map[string]any{}, "dashboards to take as an example"}}
			return &answer{data: schemaResult{strings.Join(all, "\n\n")}, text: text}, nil
		},
	})
}

func schemaSection(name string) block {
	switch name {
	case "panel_types":
		rows := []string{"- visualization is one of: " + strings.Join(panelTypes(), ", ")}
		return block{heading: "Widgets", rows: append(rows, describeMessage((&svcv2.Widget{}).ProtoReflect().Descriptor(), 0, "data_source", "display")...)}
	case "data_sources":
		return block{heading: "Data sources (data_source)", rows: describeMessage((&svcv2.WidgetDataSource{}).ProtoReflect().Descriptor(), 0, "queries", "formulas")}
	case "queries":
		return block{heading: "Queries of a data source of kind query", rows: append(describeMessage((&svcv2.QueryDraft{}).ProtoReflect().Descriptor(), 0),
			"- where_clause: `key op value` joined by AND; operators = != > < >= <= contains !contains exists !exists")}
	case "display":
		return block{heading: "Display (display)", rows: describeMessage((&svcv2.WidgetDisplay{}).ProtoReflect().Descriptor(), 0)}
	case "raw_sql":
		return block{heading: "Raw SQL", rows: []string{
			"- kind raw_sql; sql is one SELECT as in run_sql: $__orgFilter is needed, $__timeFilter(col), $__timeGroup(col), $__startTime, $__endTime, $__interval_s and variables as $name.",
			"- line, area, bar over time: a time column, then numeric columns, or time, series, value.", "- stat, gauge: the first numeric column. pie, bar, hbar: name and value. table, list: any.",
		}}
	default:
		return block{heading: "Units", rows: []string{
			"- percent means 0 to 1, percent_100 means 0 to 100", "- duration_ms, duration_us, duration_ns, duration_s, bytes, number, requests_per_sec",
		}}
	}
}

// describeMessage lists the fields of a message with their types and choices, from the descriptors that the API itself checks by.
func describeMessage(d protoreflect.MessageDescriptor, depth int, skip ...string) []string {
	var rows []string
	fields := d.Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		rules := rulesOf(f)
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
		if m := f.Message(); m != nil && depth < 3 && !slices.Contains(skip, f.TextName()) && m.ParentFile().Package() == d.ParentFile().Package() && m != d {
			rows = append(rows, describeMessage(m, depth+1)...)
		}
	}
	return rows
}
