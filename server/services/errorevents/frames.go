package errorevents

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/errorstack"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/source/frames"
	"github.com/svc-observability/svc/server/stacktrace"
)

// Code finds the files of calls in the repositories that an organization has connected, within the rights of the caller. The evidence gives
// further calls of the same program.
type Code interface {
	Frames(ctx context.Context, caller *principal.Principal, o frames.Origin, calls []frames.Call,
		evidence func(context.Context) ([]frames.Call, error)) frames.Answer
}

// addFrames adds the calls of a stack with their source.
func (s *Service) addFrames(
	ctx context.Context, org principal.OrgID, w query.Window, row reads.ErrorStackRow, res *svcv2.ErrorEventDetail,
) {
	var stack stacktrace.Stack
	stack.Parse(row.Stack, row.Message)
	var calls []frames.Call
	var called []*svcv2.ErrorFrame
	for _, section := range stack.Sections {
		if section.Role != stacktrace.Cause {
			continue
		}
		for i := range section.Frames {
			if len(res.GetFrames()) == limits.ErrorFrames {
				break
			}
			f := &section.Frames[i]
			frame := &svcv2.ErrorFrame{
				ExceptionType: section.Type, Module: f.Module, Function: f.Function, File: f.File, Line: int32(f.Line), InApp: f.InApp,
			}
			res.Frames = append(res.Frames, frame)
			if c, ok := frames.Of(f); ok {
				calls, called = append(calls, c), append(called, frame)
			}
		}
	}
	caller, err := principal.Caller(ctx)
	if err != nil || s.code == nil {
		return
	}
	found := s.code.Frames(ctx, caller, errorstack.Origin(row), calls, errorstack.Others(s.warehouse, org, w, row))
	for i, source := range found.Sources {
		if source != nil {
			called[i].Source = sourceMessage(source)
		}
	}
	if found.Problem != "" {
		res.SourceProblem = &found.Problem
	}
}

func sourceMessage(s *frames.Source) *svcv2.ErrorFrameSource {
	return &svcv2.ErrorFrameSource{
		RepositoryId: publicid.Encode(publicid.SourceRepository, s.RepositoryID), Repository: s.Repository, Path: s.Path, CommitSha: s.Commit,
		Confidence: s.Confidence, HtmlUrl: s.URL, StartLine: int32(s.Context.Start), Lines: s.Context.Lines,
	}
}
