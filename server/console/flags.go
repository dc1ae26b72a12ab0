package console

import (
	"cmp"
	"fmt"
	"slices"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/limits"
)

// Options are the values of all flags.
type Options struct {
	Since, Start, End        string
	Service, Environment     string
	Limit, Offset            int
	Cursor                   string
	SpanName, HTTPMethod     string
	Errors                   bool
	MinDuration, MaxDuration float64
	Severity, Search         string
	TraceID                  string
	Follow                   bool
	Metric, MetricType       string
	Source, Scope            string
	Aggregation, ValueField  string
	Where                    string
	GroupBy                  []string
	Bucket                   int
	Around                   string
	PreviousStart            string
	PreviousEnd              string
	State, IssueKind, Note   string
	Lease                    int
	ToolArguments            string
	Toolsets                 []string
	ReadOnly                 bool
	All                      bool
	Ref, Path                string
}

// Flag is a flag of a command.
type Flag struct {
	Name, Short, Usage string
	// Choices are the possible values of a text; any when empty.
	Choices []string
	// Names is the kind of names that a shell completes; empty for none.
	Names string
	// Target points to the value in the options: *string, *bool, *int, *float64 or *[]string.
	Target func(*Options) any
}

// AllFlags returns the own and the shared flags of the command.
func (c *Command) AllFlags() []Flag {
	var list []Flag
	if c.window {
		list = append(list,
			Flag{
				Name: "since", Usage: fmt.Sprintf("length of the window back from now, or from --end, such as 15m, 6h or 7d (default %gh)",
					cmp.Or(c.length, limits.CommandWindow).Hours()),
				Target: func(o *Options) any { return &o.Since },
			},
			Flag{
				Name: "start", Usage: "start of the window, RFC 3339 or such as 2026-11-21 or \"2026-11-21 12:30\" in UTC",
				Target: func(o *Options) any { return &o.Start },
			},
			Flag{Name: "end", Usage: "end of the window, as --start (default: now)", Target: func(o *Options) any { return &o.End }},
		)
	}
	if c.service {
		list = append(list, serviceFlag())
	}
	if c.service || c.window {
		list = append(list, Flag{
			Name: "environment", Short: "e", Usage: "only this deployment environment", Names: NamesEnvironments,
			Target: func(o *Options) any { return &o.Environment },
		})
	}
	if c.page {
		list = append(list, limitFlag("most rows to show (default %d)", limits.DefaultPage),
			Flag{Name: "offset", Usage: "rows to skip", Target: func(o *Options) any { return &o.Offset }},
			Flag{Name: "cursor", Usage: "continue after the page before, which names its cursor", Target: func(o *Options) any { return &o.Cursor }},
		)
	}
	return append(list, c.Flags...)
}

func serviceFlag() Flag {
	return Flag{
		Name: "service", Short: "s", Usage: "only this service", Names: NamesServices, Target: func(o *Options) any { return &o.Service },
	}
}

func limitFlag(format string, list ...any) Flag {
	return Flag{Name: "limit", Short: "n", Usage: fmt.Sprintf(format, list...), Target: func(o *Options) any { return &o.Limit }}
}

func searchFlag(text string) Flag {
	return Flag{Name: "search", Short: "q", Usage: text, Target: func(o *Options) any { return &o.Search }}
}

// flagOf is the flag for a field of a request, for the errors of the server that name a field.
func flagOf(field string) string {
	return map[string]string{
		"start_time": "--start", "end_time": "--end", "limit": "--limit", "cursor": "--cursor", "max_rows": "--limit",
		"previous_start_time": "--previous-start", "previous_end_time": "--previous-end", "bucket_seconds": "--bucket",
		"service_name": "--service", "deployment_environment": "--environment",
		"filters.service_name": "--service", "filters.span_name": "--span-name",
		"filters.http_method": "--http-method", "filters.min_duration_ms": "--min-duration-ms",
		"filters.max_duration_ms": "--max-duration-ms", "filters.severity": "--severity", "filters.body_search": "--search",
		"filters.search": "--search", "filters.trace_id": "--trace-id", "search": "--search", "workflow_state": "--state", "kind": "--kind",
		"signal": "--source", "scope": "--scope", "queries[0].aggregation": "--aggregation", "queries[0].where": "--where",
		"queries[0].group_by": "--group-by", "queries[0].value_field": "--value-field", "queries[0].metric.name": "--metric",
		"lease_duration_seconds": "--lease-seconds", "note": "--note", "metric_type": "--type",
	}[field]
}

// valuesOf are the values of a field that the contract lists.
func valuesOf(m proto.Message, field protoreflect.Name) []string {
	options := m.ProtoReflect().Descriptor().Fields().ByName(field).Options()
	rules, _ := proto.GetExtension(options, validate.E_Field).(*validate.FieldRules)
	spec, _ := proto.GetExtension(options, optionsv1.E_Field).(*optionsv1.FieldSpec)
	return slices.Concat(rules.GetString().GetIn(), spec.GetValues())
}
