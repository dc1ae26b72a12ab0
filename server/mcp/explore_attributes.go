package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type attributesResult struct {
	Source       string      `json:"source"`
	Scope        *string     `json:"scope,omitempty"`
	Key          *string     `json:"key,omitempty"`
	TimeRange    timeRange   `json:"timeRange"`
	Service      *string     `json:"service,omitempty"`
	Keys         []keyCount  `json:"keys,omitzero"`
	Values       []valCount  `json:"values,omitzero"`
	Environments []nameCount `json:"environments,omitzero"`
	CommitShas   []nameCount `json:"commitShas,omitzero"`
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

type nameCount struct {
	Name  string  `json:"name"`
	Count float64 `json:"count"`
}

// commitKeys are the resource attributes that name a commit, the present name first.
func commitKeys() []string { return []string{"vcs.ref.head.revision", "deployment.commit_sha"} }

func newExploreAttributes(s *Server) (*tool, error) {
	return define[attributesResult](&tool{
		name: "explore_attributes", title: "Attributes",
		description: "List attribute keys, or the values of one key, in at most 30 days; source=services lists environments and commit SHAs.",
		params: append([]param{
			{name: "source", kind: kindText, required: true, enum: []string{"traces", "logs", "metrics", "services"}, example: "traces"},
			{name: "scope", kind: kindText, description: "Where the attribute is.", enum: []string{"span", "resource", "log", "metric", "event"}},
			{name: "key", kind: kindText, description: "List the values of this key."},
			serviceParam(),
			{name: "metric_name", kind: kindText, description: "For source=metrics with key."},
		}, append(windowParams(), limitParam(50, 500))...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.window(30 * 24 * time.Hour)
			if err != nil {
				return nil, err
			}
			res := attributesResult{Source: *a.text("source"), Scope: a.text("scope"), Key: a.text("key"), TimeRange: w, Service: a.text("service")}
			text := page{scope: a.scope(w, "source", "scope", "key", "service", "metric_name")}
			switch {
			case res.Source == "services":
				err = s.exploreServices(ctx, a, w, &res, &text)
			case res.Key == nil:
				err = s.exploreKeys(ctx, a, w, &res, &text)
			default:
				err = s.exploreValues(ctx, a, w, &res, &text)
			}
			if err != nil {
				return nil, err
			}
			return &answer{data: res, text: text}, nil
		},
	})
}

func (s *Server) exploreKeys(ctx context.Context, a *arguments, w timeRange, res *attributesResult, text *page) error {
	rows, more, err := collect(ctx, nil, 0, a.integer("limit"), func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.AttributeKey, *string, error) {
		list, err := s.clients.attributes.ListAttributeKeys(ctx, &svcv2.ListAttributeKeysRequest{
			StartTime: w.startProto(), EndTime: w.endProto(), Signal: res.Source, Scope: res.Scope, ServiceName: res.Service, Limit: &limit, Cursor: cursor,
		})
		return list.GetData(), nextCursor(list), err
	})
	if err != nil {
		return err
	}
	res.Keys = []keyCount{}
	var cells [][]string
	for _, r := range rows {
		res.Keys = append(res.Keys, keyCount{r.GetKey(), r.GetScope(), r.GetCount()})
		cells = append(cells, []string{r.GetKey(), r.GetScope(), number(r.GetCount())})
	}
	text.blocks = []block{table("Keys", "No attribute was seen in this time range.", []string{"Key", "Scope", "Count"}, cells)}
	text.shown = shownOf(len(rows), more, "keys")
	if len(rows) > 0 {
		text.next = append(text.next, suggestion{"explore_attributes", a.again(w, map[string]any{"source": res.Source, "key": rows[0].GetKey(), "scope": rows[0].GetScope()}, "service"), "the values of the most frequent key"})
	}
	return nil
}

func (s *Server) values(ctx context.Context, a *arguments, w timeRange, signal, key string, scope *string, most int) ([]*svcv2.AttributeValue, bool, error) {
	return collect(ctx, nil, 0, most, func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.AttributeValue, *string, error) {
		list, err := s.clients.attributes.ListAttributeValues(ctx, &svcv2.ListAttributeValuesRequest{
			StartTime: w.startProto(), EndTime: w.endProto(), Signal: signal, Key: key, Scope: scope, ServiceName: a.text("service"),
			MetricName: a.text("metric_name"), Limit: &limit, Cursor: cursor,
		})
		return list.GetData(), nextCursor(list), err
	})
}

func (s *Server) exploreValues(ctx context.Context, a *arguments, w timeRange, res *attributesResult, text *page) error {
	rows, more, err := s.values(ctx, a, w, res.Source, *res.Key, res.Scope, a.integer("limit"))
	if err != nil {
		return err
	}
	res.Values = []valCount{}
	var cells [][]string
	for _, r := range rows {
		res.Values = append(res.Values, valCount{clip(r.GetValue(), maxValueText), r.GetCount()})
		cells = append(cells, []string{clip(r.GetValue(), 200), number(r.GetCount())})
	}
	text.blocks = []block{table("Values", "No value of this key was seen in this time range. List the keys by leaving out key.", []string{"Value", "Count"}, cells)}
	text.shown = shownOf(len(rows), more, "values")
	if len(rows) > 0 && res.Source == "traces" && (res.Scope == nil || *res.Scope == "span") {
		args := a.again(w, map[string]any{"attribute_key": *res.Key, "attribute_value": rows[0].GetValue()}, "service")
		text.next = append(text.next, suggestion{"search_traces", clampWindow(args, w, 7), "traces with the most frequent value"})
	}
	return nil
}

func (s *Server) exploreServices(ctx context.Context, a *arguments, w timeRange, res *attributesResult, text *page) error {
	list, err := s.clients.environments.ListEnvironments(ctx, &svcv2.ListEnvironmentsRequest{StartTime: w.startProto(), EndTime: w.endProto()})
	if err != nil {
		return err
	}
	res.Environments = []nameCount{}
	var cells, commits [][]string
	for _, e := range list.GetData() {
		res.Environments = append(res.Environments, nameCount{e.GetName(), e.GetSpanCount()})
		cells = append(cells, []string{e.GetName(), number(e.GetSpanCount())})
	}
	scope := "resource"
	for _, key := range commitKeys() {
		rows, _, err := s.values(ctx, a, w, "traces", key, &scope, a.integer("limit"))
		if err != nil {
			return err
		}
		for _, r := range rows {
			res.CommitShas = append(res.CommitShas, nameCount{r.GetValue(), r.GetCount()})
		}
	}
	res.CommitShas = mergeCounts(res.CommitShas)
	for _, c := range res.CommitShas {
		commits = append(commits, []string{c.Name, number(c.Count)})
	}
	text.blocks = []block{
		table("Environments", "No environment was seen in this time range.", []string{"Environment", "Spans"}, cells),
		table("Commits", "No resource names a commit (vcs.ref.head.revision).", []string{"Commit", "Spans"}, commits),
	}
	text.next = append(text.next, suggestion{"list_services", a.again(w, nil), "the services"})
	return nil
}

// mergeCounts lists each name once, most frequent first. A resource that names its commit under both keys is counted under each, so the larger count
// is kept.
func mergeCounts(list []nameCount) []nameCount {
	merged := []nameCount{}
	for _, c := range list {
		if i := slices.IndexFunc(merged, func(m nameCount) bool { return m.Name == c.Name }); i >= 0 {
			merged[i].Count = max(merged[i].Count, c.Count)
		} else {
			merged = append(merged, c)
		}
	}
	slices.SortStableFunc(merged, func(a, b nameCount) int { return cmp.Compare(b.Count, a.Count) })
	return merged
}

func shownOf(n int, more bool, noun string) string {
	switch {
	case n == 0:
		return ""
	case more:
		return fmt.Sprintf("Shown: the first %d %s; there are more. Raise limit to see them.", n, noun)
	default:
		return fmt.Sprintf("Shown: %d %s, which are all.", n, noun)
	}
}
