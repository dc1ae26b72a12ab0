package dashboards

import (
	"testing"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
)

// TestPreviewOfALongWidget previews a widget whose own time range is longer than a read accepts, as an earlier release stored it.
func TestPreviewOfALongWidget(t *testing.T) {
	relative := func(v string) *svcv2.TimeRange { return &svcv2.TimeRange{Type: "relative", Value: &v} }
	for name, c := range map[string]struct {
		own, override *svcv2.TimeRange
		param         string
	}{
		"its own range":               {relative("60d"), nil, "widget.time_range.value"},
		"a range of the request":      {relative("60d"), relative("1d"), ""},
		"a malformed range is stored": {relative("long"), relative("1d"), "widget.time_range.value"},
		"a malformed range is asked":  {relative("60d"), relative("long"), "time_range.value"},
	} {
		def, err := previewed(&svcv2.PreviewDashboardWidgetRequest{
			Widget: &svcv2.Widget{
				Id: "w", Visualization: "table", Display: &svcv2.WidgetDisplay{},
				Layout: &svcv2.WidgetLayout{X: new(0.0), Y: new(0.0), W: new(1.0), H: new(1.0)}, TimeRange: c.own,
				DataSource: &svcv2.WidgetDataSource{
					Kind: "raw_sql", Sql: new("SELECT 1 WHERE $__orgFilter"), DisplayType: new("table"),
				},
			},
			TimeRange: c.override,
		})
		if e := apierr.From(err); c.param == "" && (err != nil || len(def.GetWidgets()) != 1) || c.param != "" && e.Param != c.param {
			t.Errorf("%s: %v of %q, want %q", name, err, e.Param, c.param)
		}
	}
}

// TestPreviewKeepsTheTextOfTheCaller: a preview does not change a text of the caller that looks like the path of a field.
func TestPreviewKeepsTheTextOfTheCaller(t *testing.T) {
	_, err := previewed(&svcv2.PreviewDashboardWidgetRequest{Widget: &svcv2.Widget{
		Id: "w", Visualization: "table", Layout: &svcv2.WidgetLayout{X: new(0.0), Y: new(0.0), W: new(1.0), H: new(1.0)},
		Display:    &svcv2.WidgetDisplay{ColorOverrides: map[string]string{"widgets[0]": "\x00"}},
		DataSource: &svcv2.WidgetDataSource{Kind: "raw_sql", Sql: new("SELECT 1 WHERE $__orgFilter"), DisplayType: new("table")},
	}})
	const want = `widget.display.color_overrides["widgets[0]"]`
	if e := apierr.From(err); e.Param != want {
		t.Errorf("%q, want %q: %s", e.Param, want, e.Message)
	}
}
