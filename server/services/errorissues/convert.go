package errorissues

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/errorgroup"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func stamp(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}

// actors are the actors that messages show, by id.
type actors map[uuid.UUID]store.IssueActor

func (a actors) message(id *uuid.UUID) *svcv2.Actor {
	if id == nil {
		return nil
	}
	row, ok := a[*id]
	if !ok {
		return nil
	}
	return actorMessage(row)
}

func actorMessage(a store.IssueActor) *svcv2.Actor {
	out := &svcv2.Actor{
		Id: publicid.Encode(publicid.Actor, a.ID), Type: a.Type, Model: a.Model, Capabilities: a.Capabilities,
		LastActiveAt: stamp(a.LastActiveAt),
	}
	if a.User != "" {
		user := string(a.User)
		out.UserId = &user
	}
	if a.Type == store.ActorTypeAgent {
		out.AgentName = &a.Name
	}
	return out
}

// actorsOf reads the actors with these ids.
func (c *Config) actorsOf(ctx context.Context, org principal.OrgID, ids ...*uuid.UUID) (actors, error) {
	var wanted []uuid.UUID
	for _, id := range ids {
		if id != nil {
			wanted = append(wanted, *id)
		}
	}
	out, err := c.Store.ActorsByID(ctx, org, wanted)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return out, nil
}

// issueMessage shows an issue.
func issueMessage(i *store.ErrorIssue, by actors) *svcv2.ErrorIssue {
	out := &svcv2.ErrorIssue{
		Id: publicIssue(i.ID), Object: "error_issue", Kind: i.Kind, FingerprintHash: i.FingerprintHash, ServiceName: i.ServiceName,
		ExceptionType: i.ExceptionType, ExceptionMessage: i.ExceptionMessage, ErrorLabel: i.ErrorLabel, TopFrame: i.TopFrame,
		WorkflowState: i.WorkflowState, Priority: float64(i.Priority), Severity: i.Severity, SeveritySource: i.SeveritySource,
		AssignedActor: by.message(i.AssignedActorID), Notes: i.Notes,
		FirstSeenAt: timestamppb.New(i.FirstSeenAt), LastSeenAt: timestamppb.New(i.LastSeenAt),
		OccurrenceCount: float64(i.OccurrenceCount), EstimatedOccurrenceCount: i.EstimatedCount,
		ResolvedAt: stamp(i.ResolvedAt), LastResolvedAt: stamp(i.LastResolvedAt), LastRegressedAt: stamp(i.LastRegressedAt),
		RegressionCount: int32(i.RegressionCount), ResolvedVersions: i.ResolvedVersions,
		SnoozeUntil: stamp(i.SnoozeUntil), ArchivedAt: stamp(i.ArchivedAt), HasOpenIncident: i.OpenIncidentID != nil,
		CommentCount: int32(i.CommentCount), OpenPullRequestCount: int32(i.OpenPullRequestCount),
		MergedPullRequestCount: int32(i.MergedPullRequestCount),
	}
	if len(i.SourceRef) > 0 {
		out.SourceRef = structOf(i.SourceRef)
	}
	// A lease that is over is not shown, also before the worker ends it.
	if i.LeaseExpiresAt != nil && i.LeaseExpiresAt.After(time.Now()) {
		out.LeaseHolder, out.LeaseExpiresAt, out.ClaimedAt = by.message(i.LeaseHolderID), stamp(i.LeaseExpiresAt), stamp(i.ClaimedAt)
	}
	return out
}

// structOf reads a stored JSON object. One that cannot be read is empty.
func structOf(text json.RawMessage) *structpb.Struct {
	out := &structpb.Struct{}
	if err := out.UnmarshalJSON(text); err != nil {
		return &structpb.Struct{}
	}
	return out
}

// show shows one issue with its actors.
func (c *Config) show(ctx context.Context, i *store.ErrorIssue) (*svcv2.ErrorIssue, error) {
	by, err := c.actorsOf(ctx, i.Org, i.AssignedActorID, i.LeaseHolderID)
	if err != nil {
		return nil, err
	}
	return issueMessage(i, by), nil
}

func incidentMessage(in store.ErrorIncident) *svcv2.ErrorIncident {
	return &svcv2.ErrorIncident{
		Id: publicid.Encode(publicid.ErrorIncident, in.ID), Object: "error_incident", IssueId: publicIssue(in.IssueID),
		Status: in.Status, Reason: in.Reason, FirstTriggeredAt: timestamppb.New(in.FirstTriggeredAt),
		LastTriggeredAt: timestamppb.New(in.LastTriggeredAt), ResolvedAt: stamp(in.ResolvedAt), OccurrenceCount: float64(in.OccurrenceCount),
	}
}

func eventMessage(e store.ErrorIssueEvent, by actors) *svcv2.ErrorIssueEvent {
	return &svcv2.ErrorIssueEvent{
		Id: publicid.Encode(publicid.ErrorIssueEvent, e.ID), IssueId: publicIssue(e.IssueID), Actor: by.message(e.ActorID), Type: e.Type,
		FromState: e.FromState, ToState: e.ToState, Payload: structOf(e.Payload), CreatedAt: timestamppb.New(e.CreatedAt),
	}
}

func pullRequestMessage(l *store.ErrorIssuePullRequest, by actors) *svcv2.ErrorIssuePullRequest {
	return &svcv2.ErrorIssuePullRequest{
		Id: publicid.Encode(publicid.ErrorPullRequest, l.ID), IssueId: publicIssue(l.IssueID), Provider: l.Provider, RepoFullName: l.RepoFullName,
		Number: int32(l.Number), Url: l.URL, Title: l.Title, AuthorLogin: l.AuthorLogin, State: l.State, MergedAt: stamp(l.MergedAt),
		MergeCommitSha: l.MergeCommitSha, LinkSource: l.LinkSource, LinkedByActor: by.message(l.LinkedByActorID),
		CheckedAt: stamp(l.CheckedAt), CheckProblem: l.CheckProblem,
		CreatedAt: timestamppb.New(l.CreatedAt),
	}
}

func groupingMessage(p *store.ErrorIssueFingerprint) *svcv2.ErrorGrouping {
	out := &svcv2.ErrorGrouping{FingerprintHash: p.Hash, Version: 1, OccurrenceCount: float64(p.OccurrenceCount), Pinned: p.Pinned}
	if len(p.Grouping) == 0 {
		return out
	}
	g, err := errorgroup.ParseGrouping(p.Grouping)
	if err != nil {
		return out
	}
	if n, err := strconv.ParseInt(g.Version, 10, 32); err == nil {
		out.Version = int32(n)
	}
	left := g.LeftOut
	out.Variant, out.Frames, out.Message = string(g.Variant), g.Frames, g.Message
	out.LeftOut = int32(left.Library + left.Repeated + left.Outer + left.Other)
	return out
}

// splitList reads a list with commas.
func splitList(text string) []string {
	var out []string
	for _, part := range strings.Split(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}
