package definition

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// Kinds of changes that the difference of two definitions does not show.
const (
	KindCreated  = "created"
	KindRestored = "restored"
	kindMultiple = "multiple"
)

// Difference names the change between two definitions: its kind, or `multiple` for several changes. The kind is empty if nothing changed.
func Difference(old, now *svcv2.DashboardDefinition) (kind, summary string) {
	var kinds, texts []string
	note := func(changed bool, kind, text string) {
		if changed {
			kinds, texts = append(kinds, kind), append(texts, text)
		}
	}
	note(old.GetName() != now.GetName(), "renamed", "Renamed to "+now.GetName())
	note((old.Description == nil) != (now.Description == nil) || old.GetDescription() != now.GetDescription(), "description_changed",
		"Changed the description")
	note(!slices.Equal(old.GetTags(), now.GetTags()), "tags_changed", "Changed the tags")
	note(!proto.Equal(old.GetTimeRange(), now.GetTimeRange()), "time_range_changed", "Changed the time range")
	note(!equalLists(old.GetVariables(), now.GetVariables()), "variables_changed", "Changed the variables")
	note((old.RefreshIntervalSeconds == nil) != (now.RefreshIntervalSeconds == nil) ||
		old.GetRefreshIntervalSeconds() != now.GetRefreshIntervalSeconds(),
		"refresh_interval_changed", "Changed the refresh interval")

	added, removed, both := compare(old.GetWidgets(), now.GetWidgets(), (*svcv2.Widget).GetId)
	note(len(added) > 0, "widget_added", "Added "+named(added, "widget", WidgetTitle))
	note(len(removed) > 0, "widget_removed", "Removed "+named(removed, "widget", WidgetTitle))
	var updated []*svcv2.Widget
	moved := len(added)+len(removed) == 0 && !sameOrder(old.GetWidgets(), now.GetWidgets(), (*svcv2.Widget).GetId)
	for _, pair := range both {
		if !equalContent(pair[0], pair[1]) {
			updated = append(updated, pair[1])
		}
		moved = moved || !equalPlace(pair[0], pair[1])
	}
	note(len(updated) > 0, "widget_updated", "Updated "+named(updated, "widget", WidgetTitle))
	note(moved, "layout_changed", "Changed the layout")

	addedSections, removedSections, bothSections := compare(old.GetSections(), now.GetSections(), (*svcv2.DashboardSection).GetId)
	note(len(addedSections) > 0, "section_added", "Added "+named(addedSections, "section", sectionTitle))
	note(len(removedSections) > 0, "section_removed", "Removed "+named(removedSections, "section", sectionTitle))
	var updatedSections []*svcv2.DashboardSection
	for _, pair := range bothSections {
		if !proto.Equal(pair[0], pair[1]) {
			updatedSections = append(updatedSections, pair[1])
		}
	}
	reordered := len(addedSections)+len(removedSections) == 0 &&
		!sameOrder(old.GetSections(), now.GetSections(), (*svcv2.DashboardSection).GetId)
	text := "Updated " + named(updatedSections, "section", sectionTitle)
	if len(updatedSections) == 0 {
		text = "Changed the order of the sections"
	}
	note(len(updatedSections) > 0 || reordered, "section_updated", text)

	switch len(kinds) {
	case 0:
		return "", ""
	case 1:
		return kinds[0], texts[0]
	default:
		return kindMultiple, "Multiple changes"
	}
}

// compare pairs the elements of two lists by their ids; the pairs are in the order of the old list.
func compare[M proto.Message](old, now []M, id func(M) string) (added, removed []M, both [][2]M) {
	before := make(map[string]bool, len(old))
	after := make(map[string]M, len(now))
	for _, m := range now {
		after[id(m)] = m
	}
	for _, m := range old {
		before[id(m)] = true
		if match, ok := after[id(m)]; ok {
			both = append(both, [2]M{m, match})
		} else {
			removed = append(removed, m)
		}
	}
	for _, m := range now {
		if !before[id(m)] {
			added = append(added, m)
		}
	}
	return added, removed, both
}

// sameOrder reports whether two lists of the same elements have them in the same order.
func sameOrder[M proto.Message](old, now []M, id func(M) string) bool {
	return slices.EqualFunc(old, now, func(a, b M) bool { return id(a) == id(b) })
}

func equalContent(a, b *svcv2.Widget) bool {
	return a.GetVisualization() == b.GetVisualization() && proto.Equal(a.GetDataSource(), b.GetDataSource()) &&
		proto.Equal(a.GetDisplay(), b.GetDisplay()) && proto.Equal(a.GetTimeRange(), b.GetTimeRange())
}

func equalPlace(a, b *svcv2.Widget) bool {
	return proto.Equal(a.GetLayout(), b.GetLayout()) && a.GetSectionId() == b.GetSectionId() && a.GetTabId() == b.GetTabId()
}

// named returns the title of a single element, or the number of several.
func named[M any](list []M, noun string, title func(M) string) string {
	if len(list) == 1 {
		return title(list[0])
	}
	return fmt.Sprintf("%d %ss", len(list), noun)
}

func sectionTitle(s *svcv2.DashboardSection) string {
	if t := s.GetTitle(); t != "" {
		return t
	}
	return s.GetId()
}
