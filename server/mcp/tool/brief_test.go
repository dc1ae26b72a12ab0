package tool

import (
	"reflect"
	"strings"
	"testing"
)

type briefRow struct {
	Name  string         `json:"name"`
	More  map[string]any `json:"more,omitempty" detail:"full"`
	Below []briefRow     `json:"below,omitempty"`
}

type briefResult struct {
	briefRow

	At    string         `json:"at"`
	Whole string         `json:"whole" detail:"whole"`
	Any   map[string]any `json:"any"`
	Count *float64       `json:"count,omitempty"`
}

func TestStructured(t *testing.T) {
	long := strings.Repeat("ä", 400)
	data := briefResult{
		briefRow: briefRow{Name: long, More: map[string]any{"a": 1}, Below: []briefRow{{Name: "<x>", More: map[string]any{"b": "c"}}}},
		At:       "2026-11-25T12:00:00.123456789Z", Whole: long, Any: map[string]any{"list": []any{1.5, nil, true, long}}, Count: new(float64(3)),
	}
	full := &Answer{Data: data, full: true}
	got, err := full.Structured()
	if err != nil || !strings.Contains(string(got), `"more":{"a":1}`) || !strings.Contains(string(got), "123456789Z") {
		t.Errorf("full: %s, %v", got, err)
	}
	brief := &Answer{Data: data, Text: Page{URL: "https://svc.test/o/acme/logs?a=1&b=2"}}
	got, err = brief.Structured()
	cutText := strings.Repeat("ä", 300) + "… (100 more characters)"
	want := `{"url":"https://svc.test/o/acme/logs?a=1\u0026b=2","name":"` + cutText +
		`","below":[{"name":"\u003cx\u003e"}],"at":"2026-11-25T12:00:00.123Z","whole":"` +
		long + `","any":{"list":[1.5,null,true,"` + cutText + `"]},"count":3}`
	if err != nil || string(got) != want {
		t.Errorf("brief:\n%s, %v, want\n%s", got, err, want)
	}
	got, err = (&Answer{Data: struct{}{}, Text: Page{URL: "u"}}).Structured()
	if err != nil || string(got) != `{"url":"u"}` {
		t.Errorf("empty: %s, %v", got, err)
	}
	if !hasDetail(reflect.TypeFor[briefResult](), map[reflect.Type]bool{}) ||
		hasDetail(reflect.TypeFor[TimeRange](), map[reflect.Type]bool{}) {
		t.Error("hasDetail is wrong")
	}
}
