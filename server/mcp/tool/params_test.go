package tool

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

type tagged struct {
	Call
	Sort    string   `of:"SearchAgentSessionsRequest.sort_by" case:"camel" except:"cost" also:"own"`
	Status  *string  `of:"Recommendation.status"`
	Types   []string `of:"GetSessionReplayTranscriptRequest.types"`
	Summary *string  `doc:"The summary." of:"CreateAgentFeedbackRequest.summary"`
	Bucket  *int     `of:"RunSqlRequest.granularity_seconds"`
	Samples int      `default:"10" of:"GetAgentToolErrorRequest.limit" clamp:""`
	Seconds *float64 `of:"SearchProductEventFunnelRequest.window_seconds" range:"1.."`
	Trace   *string  `doc:"At most {SearchWindow}." shape:"trace"`
	Chart   *string  `of:"WidgetDisplay.chart_id" open:"true" doc:"Or another."`
	JSON    *string
}

func TestParametersComeFromTheContract(t *testing.T) {
	params, err := paramsOf(reflect.TypeFor[tagged](), nil)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]param{}
	for _, p := range params {
		by[p.name] = p
	}
	if got := by["sort"].enum; !slices.Equal(got, []string{
		"startTime", "durationMs", "totalTokens", "errorSpanCount", "llmCalls", "toolCalls",
		"own",
	}) {
		t.Errorf("sort: %v", got)
	}
	if got := by["status"].enum; !slices.Equal(got, []string{"open", "dismissed", "applied", "resolved"}) {
		t.Errorf("status: %v", got)
	}
	if len(by["types"].enum) < 3 {
		t.Errorf("types: %v", by["types"].enum)
	}
	if got := by["summary"].description; got != "The summary. At most 200 characters." {
		t.Errorf("summary: %s", got)
	}
	if got := by["chart"]; len(got.enum) > 0 ||
		got.description != "Usually query-builder-line, query-builder-area, query-builder-bar. Or another." {
		t.Errorf("chart: %+v", got)
	}
	if got := by["trace"].description; got != "At most 7 days." {
		t.Errorf("trace: %s", got)
	}
	for name, want := range map[string][2]float64{"bucket": {1, 31_536_000}, "samples": {1, 100}, "seconds": {1, 2_678_400}} {
		if p := by[name]; p.minimum == nil || p.maximum == nil || *p.minimum != want[0] || *p.maximum != want[1] ||
			p.clamped != (name == "samples") {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestTagsThatNothingHoldsAreRefused(t *testing.T) {
	for want, typ := range map[string]reflect.Type{
		"no field": reflect.TypeFor[struct {
			A string `of:"QueryMetric.kind"`
		}](),
		"no values": reflect.TypeFor[struct {
			A string `of:"QuerySpec.filter"`
		}](),
		"no bounds": reflect.TypeFor[struct {
			A int `of:"QuerySpec.source"`
		}](),
		"no limit": reflect.TypeFor[struct {
			A string `doc:"{Nothing}"`
		}](),
		"no limit of that name": reflect.TypeFor[struct {
			A int `clamp:"1..{Nothing}"`
		}](),
		"has no bound": reflect.TypeFor[struct {
			A int `clamp:""`
		}](),
	} {
		if _, err := paramsOf(typ, nil); err == nil {
			t.Errorf("%s: accepted", want)
		}
	}
}

// TestValuesAreReadLeniently has the forms in which models send values.
func TestValuesAreReadLeniently(t *testing.T) {
	type args struct {
		Call
		Text *string
		N    *int
		X    *float64
		Flag *bool
		List []string
		At   *time.Time
	}
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	a, err := Read[args](`{"text":7,"n":"3","x":1e3,"flag":"TRUE","list":"a, b,,c","at":"now-1h"}`, now)
	if err != nil {
		t.Fatal(err)
	}
	if *a.Text != "7" || *a.N != 3 || *a.X != 1000 || !*a.Flag || !slices.Equal(a.List, []string{"a", "b", "c"}) ||
		!a.At.Equal(now.Add(-time.Hour)) {
		t.Errorf("%+v", a)
	}
	if a, err = Read[args](`{"text":" ","n":null,"flag":0,"list":["a"," "]}`, now); err != nil || a.Text != nil || a.N != nil || *a.Flag ||
		!slices.Equal(a.List, []string{"a"}) {
		t.Errorf("%+v %v", a, err)
	}
	if a, err = Read[args](`{"list":"[\"a\",\"b\"]"}`, now); err != nil || !slices.Equal(a.List, []string{"a", "b"}) {
		t.Errorf("%+v %v", a, err)
	}
	for raw, want := range map[string]string{
		`{"text":true}`: "text must be text", `{"n":1.5}`: "n must be a whole number", `{"n":{}}`: "n must be a whole number",
		`{"flag":"perhaps"}`: "flag must be true or false",
		`{"list":[1]}`:       "list must be a list of texts", `{"list":5}`: "list must be a list of texts", `{"x":"NaN"}`: "x must be a number",
		`[1]`: "the arguments must be a JSON object",
	} {
		if _, err := Read[args](raw, now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}
