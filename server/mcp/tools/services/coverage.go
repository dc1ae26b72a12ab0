package services

import (
	"fmt"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/svc-observability/svc/server/mcp/tool"
)

// covered is the part of a period that has data, nil without data.
type covered struct {
	period string
	data   *tool.TimeRange
	whole  tool.TimeRange
}

// coverageNotes returns a note for each period of which a part has no data.
func coverageNotes(list ...covered) []string {
	var notes []string
	for _, p := range list {
		switch {
		case p.data == nil:
			notes = append(notes, "No service sent spans in the "+p.period+".")
		case p.data.Length() < p.whole.Length()*9/10:
			notes = append(notes, fmt.Sprintf("The %s has spans only from %s to %s. Its rates are over this time, or over a sixtieth of the period if that is longer.",
				p.period, p.data.Start, p.data.End))
		}
	}
	return notes
}

// uncompared says why nothing could be compared. It is empty when changes were searched.
func uncompared(now, before covered, thin bool) string {
	for _, p := range []covered{now, before} {
		if p.data == nil {
			return "Nothing could be compared: the " + p.period + " has no spans."
		}
	}
	if thin {
		return "Nothing could be compared: the " + before.period + " has too little data."
	}
	return ""
}

// dataRange is the part of a period that has data, nil without data.
func dataRange(start, end *timestamppb.Timestamp) *tool.TimeRange {
	if start == nil || end == nil {
		return nil
	}
	return new(tool.Period(start.AsTime(), end.AsTime()))
}
