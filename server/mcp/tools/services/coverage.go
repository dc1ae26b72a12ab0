package services

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/svc-observability/svc/server/mcp/tool"
)

// dataRange is the part of a period that has data, nil without data.
func dataRange(start, end *timestamppb.Timestamp) *tool.TimeRange {
	if start == nil || end == nil {
		return nil
	}
	return new(tool.Period(start.AsTime(), end.AsTime()))
}
