package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/wirejson"
)

type productEventsResult struct {
	TimeRange timeRange         `json:"timeRange"`
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
func visitFilters(more ...string) []param {
	var list []param
	for _, name := range append([]string{"host", "page_path", "referrer_host", "country", "utm_source", "utm_medium", "utm_campaign"}, more...) {
		list = append(list, param{name: name, kind: kindText})
	}
	return list
}

// weekWindow reads a time range whose default is the last 7 days.
func (a *arguments) weekWindow(longest time.Duration) (timeRange, error) {
	if _, ok := a.values["start_time"]; !ok {
		a.startBefore(productWindow)
	}
	return a.window(longest)
}

func weekParams() []param {
	return []param{{name: "start_time", kind: kindTime, description: "RFC 3339 or now-1h; default now-7d"}, {name: "end_time", kind: kindTime, description: "default now"}}
}

func newListProductEvents(s *Server) (*tool, error) {
	return define[productEventsResult](&tool{
		name: "list_product_events", title: "Product events",
		description: "List the names of product events of at most 30 days with how often and for how many sessions and persons they occurred.",
		params: append(append(weekParams(), param{name: "kind", kind: kindText, enum: []string{"custom", "screen", "navigation"}}, param{name: "search", kind: kindText, description: "Text in the name."}),
			append(visitFilters(), limitParam(50, 200))...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.weekWindow(30 * 24 * time.Hour)
			if err != nil {
				return nil, err
			}
			rows, more, err := collect(ctx, nil, 0, a.integer("limit"), func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.ProductEventName, *string, error) {
				res, err := s.clients.productEvents.ListProductEvents(ctx, &svcv2.ListProductEventsRequest{
					StartTime: w.startProto(), EndTime: w.endProto(), Limit: &limit, Cursor: cursor, Kind: a.text("kind"), Search: a.text("search"), Host: a.text("host"), PagePath: a.text("page_path"),
					ReferrerHost: a.text("referrer_host"), Country: a.text("country"), UtmSource: a.text("utm_source"), UtmMedium: a.text("utm_medium"), UtmCampaign: a.text("utm_campaign"),
				})
				return res.GetData(), nextCursor(res), err
			})
			if err != nil {
				return nil, err
			}
			names := []string{"search", "host", "page_path", "referrer_host", "country", "utm_source", "utm_medium", "utm_campaign"}
			res := productEventsResult{TimeRange: w, Events: []productEventRow{}, Kind: a.text("kind")}
			for _, name := range names {
				res.Narrowed = res.Narrowed || a.text(name) != nil
			}
			var cells [][]string
			var steps []map[string]any
			for _, r := range rows {
				res.Events = append(res.Events, productEventRow{r.GetName(), r.GetKind(), r.GetCount(), r.GetSessions(), r.GetPersons()})
				cells = append(cells, []string{clip(r.GetName(), 120), r.GetKind(), number(r.GetCount()), number(r.GetSessions()), number(r.GetPersons())})
				if r.GetKind() == "custom" && len(steps) < 2 {
					steps = append(steps, map[string]any{"event_name": r.GetName()})
				}
			}
			text := page{scope: a.scope(w, append(names, "kind")...), shown: shownOf(len(rows), more, "names")}
			text.blocks = []block{table("", "No product event matches. Try a longer time range or fewer filters.", []string{"Event", "Kind", "Count", "Sessions", "Persons"}, cells)}
			if len(cells) == 0 {
				text.next = append(text.next, suggestion{"search_sessions", clampWindow(a.again(w, nil), w, 7), "whether browsers send sessions at all"})
			} else {
				text.next = append(text.next, suggestion{"query_data", a.again(w, map[string]any{"source": "product_events", "kind": "timeseries", "event_name": []string{res.Events[0].EventName}}), "the most frequent event over time"})
			}
			if len(steps) == 2 {
				text.next = append(text.next, suggestion{"query_funnel", a.again(w, map[string]any{"steps_json": steps}), "how many go from one to the other"})
			}
			return &answer{data: res, text: text}, nil
		},
	})
}

type funnelResult struct {
	TimeRange     timeRange        `json:"timeRange"`
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

func newQueryFunnel(s *Server) (*tool, error) {
	t, err := define[funnelResult](&tool{
		name: "query_funnel", title: "Funnel",
		description: `Count how many persons go through 1 to 10 steps in order. A step: {"event_name":"order placed","attribute_equals":{"plan":"pro"}}, {"kind":"page","page_path":"/cart"} or {"kind":"session","dimension":"country","value":"DE"}.`,
		params: append(append([]param{
			{name: "steps_json", kind: kindJSON, required: true, example: `[{"event_name":"added to cart"},{"event_name":"order placed"}]`},
			{name: "key_by", kind: kindText, enum: []string{"person", "visitor", "user", "session"}},
			{name: "window_seconds", kind: kindNumber, description: "From the first step to the last.", minimum: num(1), maximum: num(2678400), fallback: 86400},
			{name: "breakdown_by", kind: kindText, description: "country, host, referrer_host, utm_source, utm_medium, utm_campaign, or attribute:KEY of the first step."},
			{name: "breakdown_limit", kind: kindInteger, minimum: num(1), maximum: num(20), clamped: true, fallback: 10},
		}, weekParams()...), visitFilters("device_type", "browser")...),
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			w, err := a.weekWindow(31 * 24 * time.Hour)
			if err != nil {
				return nil, err
			}
			req := &svcv2.SearchProductEventFunnelRequest{StartTime: w.startProto(), EndTime: w.endProto(), KeyBy: a.text("key_by"), WindowSeconds: a.number("window_seconds"), BreakdownBy: a.text("breakdown_by"), Filters: &svcv2.ProductFilters{
				Host: a.text("host"), PagePath: a.text("page_path"), ReferrerHost: a.text("referrer_host"), Country: a.text("country"), UtmSource: a.text("utm_source"), UtmMedium: a.text("utm_medium"), UtmCampaign: a.text("utm_campaign"),
				DeviceType: a.text("device_type"), BrowserName: a.text("browser"),
			}}
			if req.BreakdownBy != nil {
				n := int32(a.integer("breakdown_limit"))
				req.BreakdownLimit = &n
				if key, ok := strings.CutPrefix(*req.BreakdownBy, "attr."); ok { // as queries name attributes
					by := "attribute:" + key
					req.BreakdownBy = &by
				}
			}
			var steps []any
			if req.Steps, steps, err = funnelSteps(a.raw("steps_json")); err != nil {
				return nil, err
			}
			out, err := s.clients.productEvents.SearchProductEventFunnel(ctx, req)
			if err != nil {
				return nil, err
			}
			return funnelAnswer(a, w, out, steps), nil
		},
	})
	if err != nil {
		return nil, err
	}
	t.output.Properties["conversion"] = &jsonschema.Schema{Types: []string{"null", "number"}} // null where nobody could convert
	return t, nil
}

func funnelSteps(raw json.RawMessage) (steps []*svcv2.ProductEventStep, echo []any, err error) {
	const example = `[{"event_name":"added to cart"},{"event_name":"order placed"}]`
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil || len(list) == 0 || len(list) > 10 {
		return nil, nil, badInput("steps_json", "must be a list of 1 to 10 steps.", example)
	}
	for i, one := range list {
		step := &svcv2.ProductEventStep{}
		var name string
		if json.Unmarshal(one, &name) == nil { // a name alone is the event of that name
			step.EventName = &name
		} else if err := decodeJSON("steps_json", one, step); err != nil {
			return nil, nil, badInput("steps_json", fmt.Sprintf("step %d: %s", i+1, err.Error()), example)
		}
		if step.GetKind() == "" {
			step.Kind = "event"
		}
		steps = append(steps, step)
		var v any
		if err := json.Unmarshal(one, &v); err != nil {
			return nil, nil, badInput("steps_json", "must be JSON.", example)
		}
		echo = append(echo, v)
	}
	return steps, echo, nil
}

func funnelAnswer(a *arguments, w timeRange, out *svcv2.ProductEventFunnel, steps []any) *answer {
	res := funnelResult{TimeRange: w, KeyBy: out.GetKeyBy(), WindowSeconds: out.GetWindowSeconds(), Steps: []funnelStep{}, Conversion: out.ConversionRate, Definition: steps}
	var cells [][]string
	for _, st := range out.GetSteps() {
		res.Steps = append(res.Steps, funnelStep{int(st.GetStep()), st.GetName(), st.GetCount(), st.GetOfFirst(), st.OfPrevious, st.GetDropOff()})
		previous := ""
		if st.OfPrevious != nil {
			previous = percent(st.GetOfPrevious())
		}
		cells = append(cells, []string{fmt.Sprint(st.GetStep()), clip(st.GetName(), 120), number(st.GetCount()), percent(st.GetOfFirst()), previous, number(st.GetDropOff())})
	}
	text := page{scope: append(a.scope(w, "breakdown_by", "host", "page_path", "referrer_host", "country", "utm_source", "utm_medium", "utm_campaign", "device_type", "browser"), pair{"counted", res.KeyBy})}
	if res.Conversion != nil {
		text.scope = append(text.scope, pair{"conversion", percent(*res.Conversion)})
	}
	text.blocks = []block{table("Steps", "Nobody took a step.", []string{"Step", "What", "Count", "Of first", "Of previous", "Lost"}, cells)}
	if out.BreakdownBy != nil {
		res.Breakdown = &funnelBreakdown{By: out.GetBreakdownBy(), Groups: []funnelGroup{}}
		var groups [][]string
		for _, g := range out.GetGroups() {
			row := funnelGroup{Group: g.GetGroup(), Counts: []float64{}, Conversion: g.ConversionRate}
			line := []string{g.GetGroup()}
			shown := ""
			if g.ConversionRate != nil {
				shown = percent(g.GetConversionRate())
			}
			line = append(line, shown)
			for _, st := range g.GetSteps() {
				row.Counts = append(row.Counts, st.GetCount())
				line = append(line, number(st.GetCount()))
			}
			res.Breakdown.Groups = append(res.Breakdown.Groups, row)
			groups = append(groups, line)
		}
		heads := []string{out.GetBreakdownBy(), "Conversion"}
		for i := range out.GetSteps() {
			heads = append(heads, fmt.Sprint("Step ", i+1))
		}
		text.blocks = append(text.blocks, table("By "+out.GetBreakdownBy(), "There are no groups.", heads, groups))
	}
	filters := []string{"key_by", "window_seconds", "host", "page_path", "referrer_host", "country", "utm_source", "utm_medium", "utm_campaign", "device_type", "browser"}
	switch {
	case len(res.Steps) == 0 || res.Steps[0].Count == 0:
		text.next = append(text.next, suggestion{"list_product_events", a.again(w, nil), "which events there are, with their exact names"})
	case out.BreakdownBy == nil:
		text.next = append(text.next, suggestion{"query_funnel", a.again(w, map[string]any{"steps_json": steps, "breakdown_by": "country"}, filters...), "who gets further, by country"})
	default:
		text.next = append(text.next, suggestion{"query_funnel", a.again(w, map[string]any{"steps_json": steps}, filters...), "the same without groups"})
	}
	if lost := worstStep(res.Steps); lost != nil && w.end.Sub(w.start) <= maxSearch {
		text.next = append(text.next, suggestion{"search_sessions", a.again(w, map[string]any{"has_errors": true}, "country"), fmt.Sprintf("sessions with errors, which can explain the %s lost at step %d", number(lost.DropOff), lost.Step)})
	}
	return &answer{data: res, text: text}
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

// decodeJSON reads JSON of a caller into a message of the API; the error names the parameter and what is wrong in it.
func decodeJSON(parameter string, raw json.RawMessage, m protoMessage) error {
	err := wirejson.Unmarshal(raw, m)
	var problems *wirejson.DecodeError
	if errors.As(err, &problems) {
		return badInput(parameter, "cannot be used: "+problems.Error(), "")
	}
	return err
}
