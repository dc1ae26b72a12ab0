package services

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
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
			notes = append(notes, fmt.Sprintf("The %s has spans only from %s to %s, and its rates are over this time.",
				p.period, p.data.Start, p.data.End))
		}
	}
	return notes
}

// dataRange is the part of a period that has data, nil without data.
func dataRange(start, end *timestamppb.Timestamp) *tool.TimeRange {
	if start == nil || end == nil {
		return nil
	}
	return new(tool.Period(start.AsTime(), end.AsTime()))
}

// mixedNotes returns a note when the figures mix several environments.
func mixedNotes(environments []string) []string {
	if len(environments) < 2 {
		return nil
	}
	return []string{"The figures mix the environments " + wording.Clip(strings.Join(environments, ", "), 300) +
		". Give environment to see one of them."}
}

// foremost returns the environment to suggest first: production if there is one.
func foremost(environments []string) string {
	if i := slices.IndexFunc(environments, func(e string) bool { return strings.HasPrefix(strings.ToLower(e), "prod") }); i >= 0 {
		return environments[i]
	}
	return environments[0]
}
