package tool

import (
	"testing"
	"time"
)

type viewArgs struct {
	Window
	Service     *string
	Environment *string
	TraceID     *string
	Search      *string
	Services    []string
	RootOnly    bool `default:"false"`
	HasError    *bool
}

func TestViewOf(t *testing.T) {
	now := time.Date(2026, 11, 25, 12, 0, 0, 123456789, time.UTC)
	const window = "from=2026-11-25T11%3A00%3A00.123Z"
	for _, c := range []struct {
		view     View
		args, id string
		want     string
	}{
		{"/services/{service}", `{}`, "", "/services"},
		{"/services/{service}?tab=operations", `{"service":"a/b c"}`, "", "/services/a%2Fb%20c?tab=operations"},
		{"/traces/{trace_id}/{service}", `{"service":"x"}`, "", "/traces"},
		{
			"/logs?q:service.name = {service}&q:{search}&view=patterns", `{"service":"say \"hi\"","search":"a b"}`, "",
			`/logs?q=service.name+%3D+%22say+%5C%22hi%5C%22%22+AND+%22a+b%22&view=patterns`,
		},
		{"/logs?q:service.name = {services}", `{"services":["only"]}`, "", "/logs?q=service.name+%3D+%22only%22"},
		{"/logs?q:service.name = {services}", `{"services":["one","two"]}`, "", "/logs"},
		{"/dashboards/{id}", `{"environment":"production"}`, "dash_1", "/dashboards/dash_1?env=production"},
		{"/incidents", `{"start_time":"now-1h"}`, "", "/incidents?" + window + "&to=2026-11-25T12%3A00%3A00.123Z"},
		{"/traces?q:root = {root_only}&q:has_error = {has_error}", `{}`, "", "/traces"},
		{"/traces?q:root = {root_only}", `{"root_only":false}`, "", "/traces"},
		{"/traces?q:root = {root_only}", `{"root_only":true}`, "", "/traces?q=root+%3D+%22true%22"},
		{"/traces?q:has_error = {has_error}", `{"has_error":false}`, "", "/traces?q=has_error+%3D+%22false%22"},
		{NoView, `{}`, "", ""},
	} {
		a, err := Read[viewArgs](c.args, now)
		if err != nil {
			t.Fatal(err)
		}
		if a.StartTime != nil {
			if _, err := a.Range(time.Hour); err != nil {
				t.Fatal(err)
			}
		}
		if got := c.view.Of(a.call(), c.id); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.view, c.args, got, c.want)
		}
	}
}
