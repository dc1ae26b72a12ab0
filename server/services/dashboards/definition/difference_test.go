package definition

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

func number(n float64) *structpb.Value { return structpb.NewNumberValue(n) }

func TestDifference(t *testing.T) {
	type definition = svcv2.DashboardDefinition
	for name, test := range map[string]struct {
		change        func(*definition)
		kind, summary string
	}{
		"nothing":       {func(*definition) {}, "", ""},
		"name":          {func(d *definition) { d.Name = "New" }, "renamed", "Renamed to New"},
		"description":   {func(d *definition) { d.Description = new("") }, "description_changed", "Changed the description"},
		"tags":          {func(d *definition) { d.Tags = nil }, "tags_changed", "Changed the tags"},
		"time range":    {func(d *definition) { d.TimeRange.EndTime.Seconds++ }, "time_range_changed", "Changed the time range"},
		"variables":     {func(d *definition) { d.Variables = d.Variables[1:] }, "variables_changed", "Changed the variables"},
		"refresh":       {func(d *definition) { d.RefreshIntervalSeconds = nil }, "refresh_interval_changed", "Changed the refresh interval"},
		"widget gone":   {func(d *definition) { d.Widgets = d.Widgets[1:] }, "widget_removed", "Removed T"},
		"widgets gone":  {func(d *definition) { d.Widgets = d.Widgets[2:] }, "widget_removed", "Removed 2 widgets"},
		"widget":        {func(d *definition) { d.Widgets[1].Display.Unit = new("bytes") }, "widget_updated", "Updated table"},
		"widget window": {func(d *definition) { d.Widgets[0].TimeRange = nil }, "widget_updated", "Updated T"},
		"layout":        {func(d *definition) { d.Widgets[1].Layout.Y = new(9.0) }, "layout_changed", "Changed the layout"},
		"tab":           {func(d *definition) { d.Widgets[0].TabId = nil }, "layout_changed", "Changed the layout"},
		"order": {
			func(d *definition) { d.Widgets[0], d.Widgets[1] = d.Widgets[1], d.Widgets[0] }, "layout_changed",
			"Changed the layout",
		},
		"widget added": {func(d *definition) {
			w := proto.CloneOf(d.Widgets[3])
			w.Id = "new"
			d.Widgets = append(d.Widgets, w)
		}, "widget_added", "Added markdown"},
		"section":       {func(d *definition) { d.Sections[0].Title = "New" }, "section_updated", "Updated New"},
		"section gone":  {func(d *definition) { d.Sections = d.Sections[:1] }, "section_removed", "Removed u"},
		"section added": {func(d *definition) { d.Sections = append(d.Sections, &svcv2.DashboardSection{Id: "v"}) }, "section_added", "Added v"},
		"section order": {
			func(d *definition) { d.Sections[0], d.Sections[1] = d.Sections[1], d.Sections[0] }, "section_updated",
			"Changed the order of the sections",
		},
		"several": {func(d *definition) { d.Name, d.Tags = "New", nil }, "multiple", "Multiple changes"},
		"widget, moved": {
			func(d *definition) { d.Widgets[1].Layout.Y = new(9.0); d.Widgets[1].Display.Unit = new("s") }, "multiple",
			"Multiple changes",
		},
		"widget renamed": {func(d *definition) { d.Widgets[1].Id = "other" }, "multiple", "Multiple changes"},
	} {
		old, now := full(t), full(t)
		test.change(now)
		if kind, summary := Difference(old, now); kind != test.kind || summary != test.summary {
			t.Errorf("%s: %s %q, want %s %q", name, kind, summary, test.kind, test.summary)
		}
	}
}
