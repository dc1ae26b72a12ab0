package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type productEventsResult struct {
	TimeRange tool.TimeRange    `json:"timeRange"`
	Events    []productEventRow `json:"events"`
	Kind      *string           `json:"kind,omitempty"`
	Narrowed  bool              `json:"narrowed"`
}

type productEventRow struct {
	EventName string  `json:"eventName"`
	Kind      string  `json:"kind"`
	Count     float64 `json:"count"`
	Sessions  float64 `json:"sessions"`
	Persons   float64 `json:"persons"`
}

// visits holds the arguments that narrow product events.
type visits struct {
	Host         *string
	PagePath     *string
	ReferrerHost *string
	Country      *string
	UTMSource    *string
	UTMMedium    *string
	UTMCampaign  *string
}

func (v *visits) fields() []any {
	return []any{&v.Host, &v.PagePath, &v.ReferrerHost, &v.Country, &v.UTMSource, &v.UTMMedium, &v.UTMCampaign}
}

// weekWindow holds the arguments for a time range. Without start_time it has limits.DefaultProductToolWindow.
type weekWindow struct {
	tool.Call
	StartTime *time.Time `doc:"RFC 3339, now-1h or yesterday; default now-{DefaultProductToolWindow}"`
	EndTime   *time.Time `doc:"default now"`
}

// Range is the time range of a call.
func (w *weekWindow) Range(longest time.Duration) (tool.TimeRange, error) {
	return w.Between(w.StartTime, w.EndTime, limits.DefaultProductToolWindow, longest)
}

type listProductEventsArgs struct {
	weekWindow
	Kind   *string `of:"ListProductEventsRequest.kind"`
	Search *string `doc:"Text in the name."`
	visits
	Limit int `default:"{DefaultToolNames}" clamp:"1..{ToolRows}"`
}

func newListProductEvents(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[productEventsResult](&tool.Tool{
		Name: "list_product_events", View: "/events",
		Title: "Product events",
		Description: "List the names of product events in at most " + limits.Lasts(limits.ActivityWindow) +
			", with the numbers of events, sessions and persons.",
		Run: tool.With(func(ctx context.Context, a *listProductEventsArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.ActivityWindow)
			if err != nil {
				return nil, err
			}
			rows, more, err := tool.Collect(
				ctx,
				nil,
				0,
				a.Limit,
				func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.ProductEventName, *string, error) {
					res, err := s.ProductEvents.ListProductEvents(ctx, &svcv2.ListProductEventsRequest{
						StartTime:    w.StartProto(),
						EndTime:      w.EndProto(),
						Limit:        &limit,
						Cursor:       cursor,
						Kind:         a.Kind,
						Search:       a.Search,
						Host:         a.Host,
						PagePath:     a.PagePath,
						ReferrerHost: a.ReferrerHost,
						Country:      a.Country,
						UtmSource:    a.UTMSource,
						UtmMedium:    a.UTMMedium,
						UtmCampaign:  a.UTMCampaign,
					})
					return res.GetData(), tool.NextCursor(res), err
				},
			)
			if err != nil {
				return nil, err
			}
			filters := append([]any{&a.Search}, a.fields()...)
			res := productEventsResult{TimeRange: w, Events: []productEventRow{}, Kind: a.Kind}
			for _, field := range filters {
				res.Narrowed = res.Narrowed || a.Given(field)
			}
			var cells [][]string
			var steps []map[string]any
			for _, r := range rows {
				res.Events = append(res.Events, productEventRow{r.GetName(), r.GetKind(), r.GetCount(), r.GetSessions(), r.GetPersons()})
				cells = append(
					cells,
					[]string{
						wording.Clip(r.GetName(), 120),
						r.GetKind(),
						wording.Number(r.GetCount()),
						wording.Number(r.GetSessions()),
						wording.Number(r.GetPersons()),
					},
				)
				if r.GetKind() == "custom" && len(steps) < 2 {
					steps = append(steps, map[string]any{"event_name": r.GetName()})
				}
			}
			text := tool.Page{Scope: a.Labels(w, append(filters, &a.Kind)...), Shown: tool.ShownOf(len(rows), more, "names")}
			text.Blocks = []tool.Block{
				tool.Table(
					"",
					"No product event matches. Try a longer time range or fewer filters.",
					[]string{"Event", "Kind", "Count", "Sessions", "Persons"},
					cells,
				),
			}
			if len(cells) == 0 {
				text.Next = append(
					text.Next,
					tool.Next("search_sessions", tool.ClampWindow(a.Again(w, nil), w, limits.SearchWindow), "the sessions of browsers, if there are any"),
				)
			} else {
				text.Next = append(
					text.Next,
					tool.Next(
						"query_data",
						a.Again(w, map[string]any{"source": "product_events", "kind": "timeseries", "event_name": []string{res.Events[0].EventName}}),
						"the most frequent event over time",
					),
				)
			}
			if len(steps) == 2 {
				text.Next = append(
					text.Next,
					tool.Next("query_funnel", a.Again(w, map[string]any{"steps_json": steps}), "the conversion from one to the other"),
				)
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

type funnelResult struct {
	TimeRange     tool.TimeRange   `json:"timeRange"`
	KeyBy         string           `json:"keyBy"`
	WindowSeconds float64          `json:"windowSeconds"`
	Steps         []funnelStep     `json:"steps"`
	Conversion    *float64         `json:"conversion"`
	Breakdown     *funnelBreakdown `json:"breakdown,omitempty"`
	Definition    []any            `json:"definition"`
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

type queryFunnelArgs struct {
	StepsJSON      json.RawMessage `required:"true" example:"[{\"event_name\":\"added to cart\"},{\"event_name\":\"order placed\"}]"`
	KeyBy          *string         `of:"SearchProductEventFunnelRequest.key_by"`
	WindowSeconds  float64         `doc:"Most seconds from the first step to the last." default:"{DefaultFunnelWindow}" of:"SearchProductEventFunnelRequest.window_seconds" range:"1.."`
	BreakdownBy    *string         `of:"SearchProductEventFunnelRequest.breakdown_by" open:"true" doc:"Or attribute:KEY of the first step."`
	BreakdownLimit int             `default:"{DefaultFunnelBreakdown}" of:"SearchProductEventFunnelRequest.breakdown_limit" clamp:""`
	weekWindow
	visits
	DeviceType *string
	Browser    *string
}

func newQueryFunnel(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[funnelResult](&tool.Tool{
		Name: "query_funnel", View: "/events/funnels",
		Title: "Funnel",
		Description: `Count the persons who complete 1 to ` + limits.Number(
			limits.FunnelSteps,
		) + ` steps in order. A step: {"event_name":"order placed","attribute_equals":{"plan":"pro"}}, {"kind":"page","page_path":"/cart"} or {"kind":"session","dimension":"country","value":"DE"}.`,
		Run: tool.With(func(ctx context.Context, a *queryFunnelArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.ActivityWindow)
			if err != nil {
				return nil, err
			}
			req := &svcv2.SearchProductEventFunnelRequest{
				StartTime:     w.StartProto(),
				EndTime:       w.EndProto(),
				KeyBy:         a.KeyBy,
				WindowSeconds: &a.WindowSeconds,
				BreakdownBy:   a.BreakdownBy,
				Filters: &svcv2.ProductFilters{
					Host:         a.Host,
					PagePath:     a.PagePath,
					ReferrerHost: a.ReferrerHost,
					Country:      a.Country,
					UtmSource:    a.UTMSource,
					UtmMedium:    a.UTMMedium,
					UtmCampaign:  a.UTMCampaign,
					DeviceType:   a.DeviceType,
					BrowserName:  a.Browser,
				},
			}
			if req.BreakdownBy != nil {
				n := int32(a.BreakdownLimit)
				req.BreakdownLimit = &n
				if key, ok := strings.CutPrefix(*req.BreakdownBy, "attr."); ok { // queries name attributes in this way
					by := "attribute:" + key
					req.BreakdownBy = &by
				}
			}
			var steps []any
			if req.Steps, steps, err = funnelSteps(a); err != nil {
				return nil, err
			}
			out, err := s.ProductEvents.SearchProductEventFunnel(ctx, req)
			if err != nil {
				return nil, err
			}
			return funnelAnswer(a, w, out, steps), nil
		}),
	})
}

func funnelSteps(a *queryFunnelArgs) (steps []*svcv2.ProductEventStep, echo []any, err error) {
	const example = `[{"event_name":"added to cart"},{"event_name":"order placed"}]`
	var list []json.RawMessage
	if err := json.Unmarshal(a.StepsJSON, &list); err != nil || len(list) == 0 || len(list) > limits.FunnelSteps {
		return nil, nil, a.Bad(&a.StepsJSON, "must be a list of 1 to "+limits.Number(limits.FunnelSteps)+" steps.", example)
	}
	for i, one := range list {
		step := &svcv2.ProductEventStep{}
		var name string
		if json.Unmarshal(one, &name) == nil { // a plain name means the event with that name
			step.EventName = &name
		} else if err := tool.DecodeJSON(a.NameOf(&a.StepsJSON), one, step); err != nil {
			return nil, nil, a.Bad(&a.StepsJSON, fmt.Sprintf("step %d: %s", i+1, err.Error()), example)
		}
		if step.GetKind() == "" {
			step.Kind = "event"
		}
		steps = append(steps, step)
		var v any
		if err := json.Unmarshal(one, &v); err != nil {
			return nil, nil, a.Bad(&a.StepsJSON, "must be JSON.", example)
		}
		echo = append(echo, v)
	}
	return steps, echo, nil
}

func funnelAnswer(a *queryFunnelArgs, w tool.TimeRange, out *svcv2.ProductEventFunnel, steps []any) *tool.Answer {
	res := funnelResult{
		TimeRange:     w,
		KeyBy:         out.GetKeyBy(),
		WindowSeconds: out.GetWindowSeconds(),
		Steps:         []funnelStep{},
		Conversion:    out.ConversionRate,
		Definition:    steps,
	}
	var cells [][]string
	for _, st := range out.GetSteps() {
		res.Steps = append(res.Steps, funnelStep{int(st.GetStep()), st.GetName(), st.GetCount(), st.GetOfFirst(), st.OfPrevious, st.GetDropOff()})
		previous := ""
		if st.OfPrevious != nil {
			previous = wording.Percent(st.GetOfPrevious())
		}
		cells = append(
			cells,
			[]string{
				fmt.Sprint(st.GetStep()),
				wording.Clip(st.GetName(), 120),
				wording.Number(st.GetCount()),
				wording.Percent(st.GetOfFirst()),
				previous,
				wording.Number(st.GetDropOff()),
			},
		)
	}
	text := tool.Page{
		Scope: append(
			a.Labels(w, append([]any{&a.BreakdownBy}, append(a.fields(), &a.DeviceType, &a.Browser)...)...),
			tool.Labeled("counted", res.KeyBy),
		),
	}
	text.Notes = append(text.Notes, out.GetWarnings()...)
	if a.KeyBy == nil {
		text.Notes = append(text.Notes, "Counted are persons, the default; key_by=session counts visits. "+
			"An application that never sends the event of a step, for example a phone app, loses all its persons there.")
	}
	if res.Conversion != nil {
		text.Scope = append(text.Scope, tool.Labeled("conversion", wording.Percent(*res.Conversion)))
	}
	text.Blocks = []tool.Block{
		tool.Table("Steps", "No one took a step.", []string{"Step", "Name", "Count", "Of first", "Of previous", "Lost"}, cells),
	}
	if out.BreakdownBy != nil {
		res.Breakdown = &funnelBreakdown{By: out.GetBreakdownBy(), Groups: []funnelGroup{}}
		var groups [][]string
		for _, g := range out.GetGroups() {
			row := funnelGroup{Group: g.GetGroup(), Counts: []float64{}, Conversion: g.ConversionRate}
			line := []string{g.GetGroup()}
			shown := ""
			if g.ConversionRate != nil {
				shown = wording.Percent(g.GetConversionRate())
			}
			line = append(line, shown)
			for _, st := range g.GetSteps() {
				row.Counts = append(row.Counts, st.GetCount())
				line = append(line, wording.Number(st.GetCount()))
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
	filters := append([]any{&a.KeyBy, &a.WindowSeconds}, append(a.fields(), &a.DeviceType, &a.Browser)...)
	switch {
	case len(res.Steps) == 0 || res.Steps[0].Count == 0:
		text.Next = append(text.Next, tool.Next("list_product_events", a.Again(w, nil), "the events that exist, with their exact names"))
	case out.BreakdownBy == nil:
		text.Next = append(
			text.Next,
			tool.Next("query_funnel", a.Again(w, map[string]any{"steps_json": steps, "breakdown_by": "country"}, filters...), "the same by country"),
		)
	default:
		text.Next = append(
			text.Next,
			tool.Next("query_funnel", a.Again(w, map[string]any{"steps_json": steps}, filters...), "the same without groups"),
		)
	}
	if lost := worstStep(res.Steps); lost != nil && w.Length() <= limits.SearchWindow {
		text.Next = append(
			text.Next,
			tool.Next(
				"search_sessions",
				a.Again(w, map[string]any{"has_errors": true}, &a.Country),
				fmt.Sprintf("sessions with errors, which can explain the %s lost at step %d", wording.Number(lost.DropOff), lost.Step),
			),
		)
	}
	return &tool.Answer{Data: res, Text: text}
}

// worstStep is the step before which the most actors were lost, or nil if none was lost.
func worstStep(steps []funnelStep) *funnelStep {
	var worst *funnelStep
	for i, s := range steps {
		if s.DropOff > 0 && (worst == nil || s.DropOff > worst.DropOff) {
			worst = &steps[i]
		}
	}
	return worst
}
