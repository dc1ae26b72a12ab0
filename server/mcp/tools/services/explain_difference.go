package services

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type differenceResult struct {
	TimeRange tool.TimeRange    `json:"timeRange"`
	Selected  float64           `json:"selected"`
	Other     float64           `json:"other"`
	Values    []differenceValue `json:"values"`
}

type differenceValue struct {
	Key           string   `json:"key"`
	Value         string   `json:"value"`
	SelectedShare float64  `json:"selectedShare"`
	OtherShare    float64  `json:"otherShare"`
	Lift          *float64 `json:"lift,omitempty"`
	RateWith      float64  `json:"rateWith"`
	RateWithout   float64  `json:"rateWithout"`
	SameRows      []string `json:"sameRows,omitempty"`
}

type explainDifferenceArgs struct {
	tool.Window
	Signal     string     `default:"traces" of:"ExplainDifferenceRequest.signal"`
	Where      *string    `doc:"Condition on both sides." example:"service.name = checkout"`
	Selected   *string    `doc:"Condition of the side to explain." example:"has_error = true"`
	Other      *string    `doc:"Default: all rows that selected does not match."`
	OtherStart *time.Time `doc:"Another window for the other side, as for now against before."`
	OtherEnd   *time.Time
}

func newExplainDifference(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[differenceResult](&tool.Tool{
		Name: "explain_difference", View: "/difference?signal={signal}&where={where}&selected={selected}&other={other}",
		Title: "Differences",
		Description: "Find the attributes, versions, hosts, routes and users that set two selections of spans, logs or sessions apart: failed " +
			"and successful, " +
			"slow (duration > 500ms) and quick, now and before. At most " + limits.Lasts(limits.SearchWindow) + ".",
		Run: tool.With(func(ctx context.Context, a *explainDifferenceArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.SearchWindow)
			if err != nil {
				return nil, err
			}
			req := &svcv2.ExplainDifferenceRequest{
				Signal: &a.Signal, StartTime: w.StartProto(), EndTime: w.EndProto(), Where: a.Where, Selected: a.Selected, Other: a.Other,
			}
			if a.OtherStart != nil || a.OtherEnd != nil {
				end := tool.Or(a.OtherEnd, w.From)
				req.OtherEndTime = timestamppb.New(end)
				req.OtherStartTime = timestamppb.New(tool.Or(a.OtherStart, end.Add(-w.Length())))
			} else if a.Selected == nil && a.Other == nil {
				a.Selected = new("has_error = true")
				if a.Signal == "logs" {
					a.Selected = new("severity_number >= 17")
				}
				req.Selected = a.Selected
				a.Note("selected was not given: %s.", *a.Selected)
			}
			found, err := s.Diagnosis.ExplainDifference(ctx, req)
			if err != nil {
				return nil, err
			}
			out := differenceAnswer(a, w, found)
			out.Text.Notes = append(out.Text.Notes, unknownIn(ctx, s, a, found, req)...)
			return out, nil
		}),
	})
}

// unknownIn says which names in the conditions of an empty side no telemetry of its window has, with near names: "nothing" would look like
// good news.
func unknownIn(
	ctx context.Context, s *tool.Clients, a *explainDifferenceArgs, found *svcv2.Difference, req *svcv2.ExplainDifferenceRequest,
) []string {
	if a.Signal == "sessions" {
		return nil
	}
	start, end, where := req.GetStartTime(), req.GetEndTime(), a.Selected
	switch {
	case found.GetSelected().GetCount() == 0:
	case found.GetOther().GetCount() == 0:
		where = a.Other
		if req.OtherStartTime != nil {
			start, end = req.GetOtherStartTime(), req.GetOtherEndTime()
		}
	default:
		return nil
	}
	var notes []string
	for _, condition := range []*string{where, a.Where} {
		if condition == nil {
			continue
		}
		out, err := s.Query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{
			StartTime: start, EndTime: end, Queries: []*svcv2.QuerySpec{
				{Name: "A", Source: a.Signal, Aggregation: "count", Where: condition},
			},
		})
		if err != nil {
			continue // the answer stands without the names
		}
		for _, warning := range out.GetWarnings() {
			if strings.HasPrefix(warning, "No ") && !slices.Contains(notes, warning) {
				notes = append(notes, warning)
			}
		}
	}
	return notes
}

func differenceAnswer(a *explainDifferenceArgs, w tool.TimeRange, found *svcv2.Difference) *tool.Answer {
	res := differenceResult{
		TimeRange: w, Selected: found.GetSelected().GetCount(), Other: found.GetOther().GetCount(),
		Values: []differenceValue{},
	}
	text := tool.Page{Scope: a.Labels(w, &a.Where, &a.Selected, &a.Other, &a.OtherStart, &a.OtherEnd)}
	side := func(label string, d *svcv2.DifferenceSide) tool.Pair {
		size := wording.Number(d.GetCount()) + ", corrected for sampling"
		if d.GetReadShare() < 1 {
			size += ", of which ≈ " + wording.Percent(d.GetReadShare()) + " was read"
		}
		return tool.Labeled(label, size)
	}
	text.Scope = append(text.Scope, side("Selected side", found.GetSelected()), side("Other side", found.GetOther()))
	var cells [][]string
	for _, v := range found.GetData() {
		res.Values = append(res.Values, differenceValue{
			v.GetKey(), v.GetValue(), v.GetSelectedShare(), v.GetOtherShare(), v.Lift, v.GetRateWith(), v.GetRateWithout(), v.GetSameRows(),
		})
		lift := "no other"
		if v.Lift != nil {
			lift = wording.Number(v.GetLift())
		}
		cells = append(cells, []string{
			v.GetKey(), wording.Clip(wording.OneLine(v.GetValue()), 80), wording.Percent(v.GetSelectedShare()), wording.Percent(v.GetOtherShare()),
			lift,
			fmt.Sprintf("%s, else %s", wording.Percent(v.GetRateWith()), wording.Percent(v.GetRateWithout())), strings.Join(v.GetSameRows(), ", "),
		})
	}
	empty := "No attribute sets the two sides apart by more than chance."
	switch {
	case res.Selected == 0:
		empty = "The selected side has nothing in this window."
	case res.Other == 0:
		empty = "The other side has nothing to compare with."
	}
	text.Blocks = []tool.Block{tool.Table("What sets the sides apart, the clearest first", empty,
		[]string{"Attribute", "Value", "Selected", "Other", "Lift", "Selected of rows with it", "Same rows"}, cells)}
	if left := found.GetNotCompared(); len(left) > 0 {
		text.Notes = append(text.Notes, "Not compared: "+strings.Join(left, "; ")+".")
	}
	if len(res.Values) > 0 && a.Signal != "sessions" {
		if grouped := groupedBy(a.Signal, res.Values[0].Key); grouped != nil {
			grouped["source"], grouped["kind"] = a.Signal, "timeseries"
			text.Next = append(text.Next, tool.Next("query_data", a.Again(w, grouped), "the attribute over time"))
		}
	}
	return &tool.Answer{Data: res, Text: text}
}

// groupedBy are the arguments of query_data that group a signal by a key of a difference. They are nil for a column of spans or log
// records.
func groupedBy(signal, key string) map[string]any {
	scope, name := map[string]string{"traces": "span", "logs": "log"}[signal], key
	switch resource, ok := strings.CutPrefix(key, "resource."); {
	case ok:
		scope, name = "resource", resource
	case key == "service.version" || key == "deployment.environment.name" || key == "service.name":
		scope = "resource"
	case key == "name" || key == "kind" || key == "status.message" || key == "severity" || key == "event.name":
		return nil
	}
	return map[string]any{"group_by": []string{"attribute"}, "attribute_key": name, "attribute_scope": scope}
}
