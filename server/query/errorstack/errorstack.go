// Package errorstack reads from stored errors the facts about the program that threw them: where its source is, and further stacks of it.
package errorstack

import (
	"context"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/source/frames"
)

// Origin is the program of a stack.
func Origin(row reads.ErrorStackRow) frames.Origin {
	return frames.Origin{
		RepositoryURL: row.RepositoryURL, RepositoryName: row.RepositoryName, Commit: row.Commit, Version: row.Version,
		Service: row.Service, Environment: row.Environment, At: row.Timestamp,
	}
}

// Others returns a function that reads the calls of other stacks of the same program in a window.
func Others(
	w read.Warehouse, org principal.OrgID, window query.Window, row reads.ErrorStackRow,
) func(context.Context) ([]frames.Call, error) {
	return func(ctx context.Context) ([]frames.Call, error) {
		rows, err := read.All[reads.OtherStackRow](ctx, w, org, reads.StacksOf(window, row, limits.SourceFrameStacks).Until(window.End))
		if err != nil {
			return nil, err
		}
		var calls []frames.Call
		for _, other := range rows {
			calls = append(calls, frames.CallsOf(other.Stack, "")...)
		}
		return calls, nil
	}
}
