package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type productEventsResult struct {
	TimeRange tool.TimeRange    `json:"timeRange"`
	Events    []productEventRow `json:"events" jsonschema:"most frequent first"`
	Kind      *string           `json:"kind,omitempty"`
	Narrowed  bool              `json:"narrowed" jsonschema:"whether a filter beside kind applied"`
}

type productEventRow struct {
	EventName string  `json:"eventName"`
	Kind      string  `json:"kind"`
	Count     float64 `json:"count"`
	Sessions  float64 `json:"sessions"`
	Persons   float64 `json:"persons"`
}

// visitFilters are the parameters that narrow product events.
func visitFilters(more ...string) []tool.Param {
	var list []tool.Param
	for _, name := range append([]string{"host", "page_path", "referrer_host", "country", "utm_source", "utm_medium", "utm_campaign"}, more...) {
		list = append(list, tool.Param{Name: name, Kind: tool.KindText})
	}
	return list
}

// weekWindow reads a time range whose default is the last 7 days.
func weekWindow(a *tool.Arguments, longest time.Duration) (tool.TimeRange, error) {
	if _, ok := a.Values["start_time"]; !ok {
		a.StartBefore(productWindow)
	}
	return a.Window(longest)
}

func weekParams() []tool.Param {
	return []tool.Param{{Name: "start_time", Kind: tool.KindTime, Description: "RFC 3339 or now-1h; default now-7d"}, {Name: "end_time", Kind: tool.KindTime, Description: "default now"}}
}

func newListProductEvents(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[productEventsResult](&tool.Tool{
		Name: "list_product_events", Title: "Product events",
		Description: "List the names of product events of at most 30 days with how often and for how many sessions and persons they occurred.",
		Params: append(append(weekParams(), tool.Param{Name: "kind", Kind: tool.KindText, Enum: []string{"custom", "screen", "navigation"}}, tool.Param{Name: "search", Kind: tool.KindText, Description: "Text in the name."}),
			append(visitFilters(), tool.LimitParam(50, 200))...),
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			w, err := weekWindow(a, 30*24*time.Hour)
			if err != nil {
				return nil, err
			}
			rows, more, err := tool.Collect(ctx, nil, 0, a.Integer("limit"), func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.ProductEventName, *string, error) {
				res, err := s.ProductEvents.ListProductEvents(ctx, &svcv2.ListProductEventsRequest{
					StartTime: w.StartProto(), EndTime: w.EndProto(), Limit: &limit, Cursor: cursor, Kind: a.Text("kind"), Search: a.Text("search"), Host: a.Text("host"), PagePath: a.Text("page_path"),
					ReferrerHost: a.Text("referrer_host"), Country: a.Text("country"), UtmSource: a.Text("utm_source"), UtmMedium: a.Text("utm_medium"), UtmCampaign: a.Text("utm_campaign"),
				})
				return res.GetData(), tool.NextCursor(res), err
			})
			if err != nil {
				return nil, err
			}
			names := []string{"search", "host", "page_path", "referrer_host", "country", "utm_source", "utm_medium", "utm_campaign"}
			res := productEventsResult{TimeRange: w, Events: []productEventRow{}, Kind: a.Text("kind")}
			for _, name := range names {
				res.Narrowed = res.Narrowed || a.Text(name) != nil
			}
			var cells [][]string
			var steps []map[string]any
			for _, r := range rows {
				res.Events = append(res.Events, productEventRow{r.GetName(), r.GetKind(), r.GetCount(), r.GetSessions(), r.GetPersons()})
				cells = append(cells, []string{tool.Clip(r.GetName(), 120), r.GetKind(), tool.Number(r.GetCount()), tool.Number(r.GetSessions()), tool.Number(r.GetPersons())})
				if r.GetKind() == "custom" && len(steps) < 2 {
					steps = append(steps, map[string]any{"event_name": r.GetName()})
				}
			}
			text := tool.Page{Scope: a.Scope(w, append(names, "kind")...), Shown: tool.ShownOf(len(rows), more, "names")}
			text.Blocks = []tool.Block{tool.Table("", "No product event matches. Try a longer time range or fewer filters.", []string{"Event", "Kind", "Count", "Sessions", "Persons"}, cells)}
			if len(cells) == 0 {
				text.Next = append(text.Next, tool.Next("search_sessions", tool.ClampWindow(a.Again(w, nil), w, 7), "whether browsers send sessions at all"))
			} else {
				text.Next = append(text.Next, tool.Next("query_data", a.Again(w, map[string]any{"source": "product_events", "kind": "timeseries", "event_name": []string{res.Events[0].EventName}}), "the most frequent event over time"))
			}
			if len(steps) == 2 {
				text.Next = append(text.Next, tool.Next("query_funnel", a.Again(w, map[string]any{"steps_json": steps}), "how many go from one to the other"))
			}
			return &tool.Answer{Data: res, Text: text}, nil
		},
	})
}

type funnelResult struct {
	TimeRange     tool.TimeRange   `json:"timeRange"`
	KeyBy         string           `json:"keyBy"`
	WindowSeconds float64          `json:"windowSeconds"`
	Steps         []funnelStep     `json:"steps"`
	Conversion    *float64         `json:"conversion" jsonschema:"0 to 1"`
	Breakdown     *funnelBreakdown `json:"breakdown,omitempty"`
	Definition    []any            `json:"definition" jsonschema:"the steps as they were taken"`
}

type funnelStep struct {
	Step       int      `json:"step"`
	Label      string   `json:"label"`
	Count      float64  `json:"count"`
	OfFirst    float64  `json:"ofFirst"`
	OfPrevious *float64 `json:"ofPrevious"`
	DropOff    float64  `json:"dropOff"`
}

type funnelBreakdown struct {
	By     string        `json:"by"`
	Groups []funnelGroup `json:"groups"`
}

type funnelGroup struct {
	Group      string    `json:"group"`
	Counts     []float64 `json:"counts"`
	Conversion *float64  `json:"conversion"`
}

func newQueryFunnel(s *tool.Clients) (*tool.Tool, error) {
	t, err := tool.Define[funnelResult](&tool.Tool{
		Name: "query_funnel", Title: "Funnel",
		Description: `Count how many persons go through 1 to 10 steps in order. A step: {"event_name":"order placed","attribute_equals":{"plan":"pro"}}, {"kind":"page","page_path":"/cart"} or {"kind":"session","dimension":"country","value":"DE"}.`,
		Params: append(append([]tool.Param{
			{Name: "steps_json", Kind: tool.KindJSON, Required: true, Example: `[{"event_name":"added to cart"},{"event_name":"order placed"}]`},
			{Name: "key_by", Kind: tool.KindText, Enum: []string{"person", "visitor", "user", "session"}},
			{Name: "window_seconds", Kind: tool.KindNumber, Description: "From the first step to the last.", Minimum: tool.Num(1), Maximum: tool.Num(2678400), Fallback: 86400},
			{Name: "breakdown_by", Kind: tool.KindText, Description: "country, host, referrer_host, utm_source, utm_medium, utm_campaign, or attribute:KEY of the first step."},
			{Name: "breakdown_limit", Kind: tool.KindInteger, Minimum: tool.Num(1), Maximum: tool.Num(20), Clamped: true, Fallback: 10},
		}, weekParams()...), visitFilters("device_type", "browser")...),
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			w, err := weekWindow(a, 31*24*time.Hour)
			if err != nil {
				return nil, err
			}
			req := &svcv2.SearchProductEventFunnelRequest{StartTime: w.StartProto(), EndTime: w.EndProto(), KeyBy: a.Text("key_by"), WindowSeconds: a.Number("window_seconds"), BreakdownBy: a.Text("breakdown_by"), Filters: &svcv2.ProductFilters{
				Host: a.Text("host"), PagePath: a.Text("page_path"), ReferrerHost: a.Text("referrer_host"), Country: a.Text("country"), UtmSource: a.Text("utm_source"), UtmMedium: a.Text("utm_medium"), UtmCampaign: a.Text("utm_campaign"),
				DeviceType: a.Text("device_type"), BrowserName: a.Text("browser"),
			}}
			if req.BreakdownBy != nil {
				n := int32(a.Integer("breakdown_limit"))
				req.BreakdownLimit = &n
				if key, ok := strings.CutPrefix(*req.BreakdownBy, "attr."); ok { // as queries name attributes
					by := "attribute:" + key
					req.BreakdownBy = &by
				}
			}
			var steps []any
			if req.Steps, steps, err = funnelSteps(a.Raw("steps_json")); err != nil {
				return nil, err
			}
			out, err := s.ProductEvents.SearchProductEventFunnel(ctx, req)
			if err != nil {
				return nil, err
			}
			return funnelAnswer(a, w, out, steps), nil
		},
	})
	if err != nil {
		return nil, err
	}
	t.Output.Properties["conversion"] = &jsonschema.Schema{Types: []string{"null", "number"}} // null where nobody could convert
	return t, nil
}

func funnelSteps(raw json.RawMessage) (steps []*svcv2.ProductEventStep, echo []any, err error) {
	const example = `[{"event_name":"added to cart"},{"event_name":"order placed"}]`
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 || len(list) > 10 {
		return nil, nil, tool.BadInput("steps_json", "must be a list of 1 to 10 steps.", example)
	}
	for i, one := range list {
		step := &svcv2.ProductEventStep{}
		var name string
		if json.Unmarshal(one, &name) == nil { // a name alone is the event of that name
			step.EventName = &name
		} else if err := tool.DecodeJSON("steps_json", one, step); err != nil {
			return nil, nil, tool.BadInput("steps_json", fmt.Sprintf("step %d: %s", i+1, err.Error()), example)
		}
		if step.GetKind() == "" {
			step.Kind = "event"
		}
		steps = append(steps, step)
		var v any
		if err := json.Unmarshal(one, &v); err != nil {
			return nil, nil, tool.BadInput("steps_json", "must be JSON.", example)
		}
		echo = append(echo, v)
	}
	return steps, echo, nil
}

func funnelAnswer(a *tool.Arguments, w tool.TimeRange, out *svcv2.ProductEventFunnel, steps []any) *tool.Answer {
	res := funnelResult{TimeRange: w, KeyBy: out.GetKeyBy(), WindowSeconds: out.GetWindowSeconds(), Steps: []funnelStep{}, Conversion: out.ConversionRate, Definition: steps}
	var cells [][]string
	for _, st := range out.GetSteps() {
		res.Steps = append(res.Steps, funnelStep{int(st.GetStep()), st.GetName(), st.GetCount(), st.GetOfFirst(), st.OfPrevious, st.GetDropOff()})
		previous := ""
		if st.OfPrevious != nil {
			previous = tool.Percent(st.GetOfPrevious())
		}
		cells = append(cells, []string{fmt.Sprint(st.GetStep()), tool.Clip(st.GetName(), 120), tool.Number(st.GetCount()), tool.Percent(st.GetOfFirst()), previous, tool.Number(st.GetDropOff())})
	}
	text := tool.Page{Scope: append(a.Scope(w, "breakdown_by", "host", "page_path", "referrer_host", "country", "utm_source", "utm_medium", "utm_campaign", "device_type", "browser"), tool.Labeled("counted", res.KeyBy))}
	if res.Conversion != nil {
		text.Scope = append(text.Scope, tool.Labeled("conversion", tool.Percent(*res.Conversion)))
	}
	text.Blocks = []tool.Block{tool.Table("Steps", "Nobody took a step.", []string{"Step", "What", "Count", "Of first", "Of previous", "Lost"}, cells)}
	if out.BreakdownBy != nil {
		res.Breakdown = &funnelBreakdown{By: out.GetBreakdownBy(), Groups: []funnelGroup{}}
		var groups [][]string
		for _, g := range out.GetGroups() {
			row := funnelGroup{Group: g.GetGroup(), Counts: []float64{}, Conversion: g.ConversionRate}
			line := []string{g.GetGroup()}
			shown := ""
			if g.ConversionRate != nil {
				shown = tool.Percent(g.GetConversionRate())
			}
			line = append(line, shown)
			for _, st := range g.GetSteps() {
				row.Counts = append(row.Counts, st.GetCount())
				line = append(line, tool.Number(st.GetCount()))
			}
			res.Breakdown.Groups = append(res.Breakdown.Groups, row)
			groups = append(groups, line)
		}
		heads := []string{out.GetBreakdownBy(), "Conversion"}
		for i := range out.GetSteps() {
			heads = append(heads, fmt.Sprint("Step ", i+1))
		}
		text.Blocks = append(text.Blocks, tool.Table("By "+out.GetBreakdownBy(), "There are no groups.", heads, groups))
	}
	filters := []string{"key_by", "window_seconds", "host", "page_path", "referrer_host", "country", "utm_source", "utm_medium", "utm_campaign", "device_type", "browser"}
	switch {
	case len(res.Steps) == 0 || res.Steps[0].Count == 0:
		text.Next = append(text.Next, tool.Next("list_product_events", a.Again(w, nil), "which events there are, with their exact names"))
	case out.BreakdownBy == nil:
		text.Next = append(text.Next, tool.Next("query_funnel", a.Again(w, map[string]any{"steps_json": steps, "breakdown_by": "country"}, filters...), "who gets further, by country"))
	default:
		text.Next = append(text.Next, tool.Next("query_funnel", a.Again(w, map[string]any{"steps_json": steps}, filters...), "the same without groups"))
	}
	if lost := worstStep(res.Steps); lost != nil && w.To.Sub(w.From) <= tool.MaxSearch {
		text.Next = append(text.Next, tool.Next("search_sessions", a.Again(w, map[string]any{"has_errors": true}, "country"), fmt.Sprintf("sessions with errors, which can explain the %s lost at step %d", tool.Number(lost.DropOff), lost.Step)))
	}
	return &tool.Answer{Data: res, Text: text}
}

// worstStep is the step before which most were lost, nil when nobody was.
func worstStep(steps []funnelStep) *funnelStep {
	var worst *funnelStep
	for i, s := range steps {
		if s.DropOff > 0 && (worst == nil || s.DropOff > worst.DropOff) {
			worst = &steps[i]
		}
	}
	return worst
}
