package telemetry

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/query"
)

type queryDataArgs struct {
	Source           string `required:"true" of:"QuerySpec.source" example:"traces"`
	Kind             string `required:"true" of:"WidgetDataSource.result_shape" except:"list" example:"timeseries"`
	Metric           *metric
	GroupBy          grouping
	Service          *string
	Environments     []string
	CommitShas       []string
	SpanName         *string
	RootSpansOnly    *bool
	ApdexThresholdMs *float64 `of:"QuerySpec.apdex_threshold_ms" range:"1.."`
	Severity         *string  `of:"LogFilters.severity"`
	MetricName       *string  `doc:"For source=metrics."`
	MetricType       *string  `doc:"Needed only for a metric of several types." of:"QueryMetric.type"`
	EventName        []string
	EventKind        []string
	Host             *string
	PagePath         *string
	AttributeKey     *string `doc:"Attribute to filter by, and to group by with group_by=attribute."`
	AttributeValue   *string `doc:"Exact value of attribute_key."`
	AttributeScope   *string `of:"ListAttributeKeysRequest.scope" except:"link"`
	Where            *string `doc:"More conditions, for example duration > 500 AND attr.http.route = '/cart'."`
	tool.Window
	BucketSeconds *int `of:"QueryTimeseriesRequest.bucket_seconds"`
	Limit         int  `default:"{DefaultBreakdownRows}" of:"QuerySpec.limit" clamp:""`

	// groups are the keys of GroupBy, or the default.
	groups []group
	// partOfName and onResource say how resolveNames understood names that the call leaves ambiguous.
	partOfName, onResource bool
}

// metric is the name of a metric of a source.
type metric string

// Describe lists the metrics of every source.
func (metric) Describe() string {
	sources, err := tool.Choices("QuerySpec.source")
	if err != nil {
		return "" // cannot happen: paramsOf reads the same field of the contract for the parameter source
	}
	var parts []string
	for _, source := range sources {
		parts = append(parts, source+": "+strings.Join(metricsOf(source), ", "))
	}
	return strings.Join(parts, "; ") + "."
}

// metricsOf lists the metrics of a source: the aggregations that need no value_field, which this tool does not have.
func metricsOf(source string) []string {
	s := query.Source(source)
	return slices.DeleteFunc(query.Aggregations(s), func(name string) bool {
		_, err := query.ParseAggregation("", s, name, "", 0)
		return err != nil
	})
}

// grouping is a list of ways to group. The query language takes any field; these are the fields that every organization has.
type grouping []string

// groupings lists the ways to group that the contract has for any source. Those that need attribute_key come last.
func groupings() []string {
	var names, keyed []string
	for _, request := range []string{"Trace", "Log", "Metric", "ProductEvent"} {
		choices, err := tool.Choices("Query" + request + "BreakdownRequest.group_by")
		if err != nil {
			return nil // cannot happen: the golden files of the tools show the list
		}
		for _, name := range choices {
			if slices.Contains(slices.Concat(names, keyed), name) {
				continue
			}
			if ofAttribute(name) {
				keyed = append(keyed, name)
			} else {
				names = append(names, name)
			}
		}
	}
	return append(names, keyed...)
}

// ofAttribute reports whether a way to group needs attribute_key.
func ofAttribute(group string) bool { return strings.HasSuffix(group, "attribute") }

// Describe lists the ways to group.
func (grouping) Describe() string {
	return "At most " + limits.Number(limits.GroupBy) + " of " + strings.Join(groupings(), ", ") +
		" (both need attribute_key), attr.KEY, resource.KEY, none."
}

func newQueryData(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[dataResult](&tool.Tool{
		Name: "query_data", View: "/{source}?q:service.name = {service}&q:span.name contains {span_name}&q:severity = " +
			"{severity}&m={metric_name}&raw:{where}",
		Title:       "Query",
		Description: "Compute a time series, or the groups with the highest values (breakdown), of spans, logs, one metric or product events, in at most " + limits.Lasts(limits.TimeseriesWindow) + ".",
		Run: tool.With(func(ctx context.Context, a *queryDataArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.TimeseriesWindow)
			if err != nil {
				return nil, err
			}
			if err := resolveNames(ctx, s, a, w); err != nil {
				return nil, err
			}
			spec, res, err := spec(a, w)
			if err != nil {
				return nil, err
			}
			var out *tool.Answer
			var environments []string
			err = atonce.Run(
				func() (err error) { environments, err = tool.EnvironmentsOf(ctx, s, w, spec); return err },
				func() (err error) {
					if res.Kind == "breakdown" {
						out, err = queryBreakdown(ctx, s, a, w, spec, res)
					} else {
						out, err = queryTimeseries(ctx, s, a, w, spec, res)
					}
					return err
				},
			)
			if err != nil {
				return nil, err
			}
			res.Environments = environments
			out.Text.Notes = append(out.Text.Notes, tool.MixedNotes("environments", environments)...)
			return out, nil
		}),
	})
}
