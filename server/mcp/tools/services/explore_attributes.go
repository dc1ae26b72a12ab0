package services

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type attributesResult struct {
	Source       string           `json:"source"`
	Scope        *string          `json:"scope,omitempty"`
	Key          *string          `json:"key,omitempty"`
	TimeRange    tool.TimeRange   `json:"timeRange"`
	Service      *string          `json:"service,omitempty"`
	Keys         []keyCount       `json:"keys,omitzero"`
	Values       []valCount       `json:"values,omitzero"`
	Environments []tool.NameCount `json:"environments,omitzero"`
	CommitShas   []tool.NameCount `json:"commitShas,omitzero"`
	Releases     []release        `json:"releases,omitzero"`
}

type keyCount struct {
	Key   string  `json:"key"`
	Scope string  `json:"scope"`
	Count float64 `json:"count"`
}

type valCount struct {
	Value string  `json:"value"`
	Count float64 `json:"count"`
}

type exploreAttributesArgs struct {
	Source     string  `required:"true" of:"ListAttributeKeysRequest.signal" also:"services" example:"traces"`
	Scope      *string `doc:"Place of the attribute." of:"ListAttributeKeysRequest.scope"`
	Key        *string `doc:"List the values of this key."`
	Service    *string
	MetricName *string `doc:"For source=metrics with key."`
	tool.Window
	Limit int `default:"{DefaultToolNames}" clamp:"1..{ToolNames}"`
}

func newExploreAttributes(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[attributesResult](&tool.Tool{
		Name: "explore_attributes", View: "/{source}?q:service.name = {service}&raw:{key} exists",
		Title: "Attributes",
		Description: "List attribute keys, or the values of one key, in at most " + limits.Lasts(limits.AttributeWindow) +
			". source=services lists environments and releases with their commits.",
		Run: tool.With(func(ctx context.Context, a *exploreAttributesArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.AttributeWindow)
			if err != nil {
				return nil, err
			}
			res := attributesResult{Source: a.Source, Scope: a.Scope, Key: a.Key, TimeRange: w, Service: a.Service}
			text := tool.Page{Scope: a.Labels(w, &a.Source, &a.Scope, &a.Key, &a.Service, &a.MetricName)}
			switch {
			case res.Source == "services":
				err = exploreServices(ctx, s, a, w, &res, &text)
			case res.Key == nil:
				err = exploreKeys(ctx, s, a, w, &res, &text)
			default:
				err = exploreValues(ctx, s, a, w, &res, &text)
			}
			if err != nil {
				return nil, err
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// rows names what the attributes of the source belong to.
func (a *exploreAttributesArgs) rows() string {
	switch a.Source {
	case "traces":
		return "spans"
	case "logs":
		return "records"
	case "metrics":
		return "data points"
	default:
		return "events"
	}
}

func exploreKeys(
	ctx context.Context,
	s *tool.Clients,
	a *exploreAttributesArgs,
	w tool.TimeRange,
	res *attributesResult,
	text *tool.Page,
) error {
	rows, more, err := tool.Collect(
		ctx,
		nil,
		0,
		a.Limit,
		func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.AttributeKey, *string, error) {
			list, err := s.Attributes.ListAttributeKeys(ctx, &svcv2.ListAttributeKeysRequest{
				StartTime:   w.StartProto(),
				EndTime:     w.EndProto(),
				Signal:      res.Source,
				Scope:       res.Scope,
				ServiceName: res.Service,
				Limit:       &limit,
				Cursor:      cursor,
			})
			return list.GetData(), tool.NextCursor(list), err
		},
	)
	if err != nil {
		return err
	}
	res.Keys = []keyCount{}
	var cells [][]string
	for _, r := range rows {
		res.Keys = append(res.Keys, keyCount{r.GetKey(), r.GetScope(), r.GetCount()})
		cells = append(cells, []string{r.GetKey(), r.GetScope(), wording.Number(r.GetCount())})
	}
	heads := []string{"Key", "Scope", "Received " + a.rows()}
	text.Blocks = []tool.Block{tool.Table("Keys", "No attribute was seen in this time range.", heads, cells)}
	text.Shown = tool.ShownOf(len(rows), more, "keys")
	if len(rows) > 0 {
		text.Next = append(
			text.Next,
			tool.Next(
				"explore_attributes",
				a.Again(w, map[string]any{"source": res.Source, "key": rows[0].GetKey(), "scope": rows[0].GetScope()}, &a.Service),
				"the values of the most frequent key",
			),
		)
	}
	return nil
}

func attributeValues(
	ctx context.Context,
	s *tool.Clients,
	a *exploreAttributesArgs,
	w tool.TimeRange,
	signal, key string,
	scope *string,
	most int,
) ([]*svcv2.AttributeValue, bool, error) {
	return tool.Collect(ctx, nil, 0, most, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.AttributeValue, *string, error) {
		list, err := s.Attributes.ListAttributeValues(ctx, &svcv2.ListAttributeValuesRequest{
			StartTime: w.StartProto(), EndTime: w.EndProto(), Signal: signal, Key: key, Scope: scope, ServiceName: a.Service,
			MetricName: a.MetricName, Limit: &limit, Cursor: cursor,
		})
		return list.GetData(), tool.NextCursor(list), err
	})
}

func exploreValues(
	ctx context.Context,
	s *tool.Clients,
	a *exploreAttributesArgs,
	w tool.TimeRange,
	res *attributesResult,
	text *tool.Page,
) error {
	rows, more, err := attributeValues(ctx, s, a, w, res.Source, *res.Key, res.Scope, a.Limit)
	if err != nil {
		return err
	}
	res.Values = []valCount{}
	var cells [][]string
	for _, r := range rows {
		res.Values = append(res.Values, valCount{wording.Clip(r.GetValue(), tool.MaxValueText), r.GetCount()})
		cells = append(cells, []string{wording.Clip(r.GetValue(), 200), wording.Number(r.GetCount())})
	}
	counted := "Received " + a.rows()
	if res.Source == "traces" {
		counted = "All spans, weighted by sampling"
	}
	text.Blocks = []tool.Block{
		tool.Table(
			"Values",
			"No value of this key was seen in this time range. Without the argument key, the tool lists the keys.",
			[]string{"Value", counted},
			cells,
		),
	}
	text.Shown = tool.ShownOf(len(rows), more, "values")
	if len(rows) > 0 && res.Source == "traces" && (res.Scope == nil || *res.Scope == "span") {
		args := a.Again(w, map[string]any{"attribute_key": *res.Key, "attribute_value": rows[0].GetValue()}, &a.Service)
		text.Next = append(
			text.Next,
			tool.Next("search_traces", tool.ClampWindow(args, w, limits.SearchWindow), "traces with the most frequent value"),
		)
	}
	return nil
}
