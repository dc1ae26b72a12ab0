package store

import (
	"context"
	"slices"
	"time"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/errorissue"
)

// updateIssue writes the changed columns of an issue. An issue has many columns and indexes; most changes touch few of them.
func updateIssue(ctx context.Context, tx *ent.Tx, was, is *ErrorIssue) error {
	u := tx.ErrorIssue.Update().Where(errorissue.ID(is.ID), errorissue.OrgID(string(is.Org))).SetUpdatedAt(utc(is.UpdatedAt))
	write(was.ExceptionType, is.ExceptionType, u.SetExceptionType)
	write(was.ExceptionMessage, is.ExceptionMessage, u.SetExceptionMessage)
	write(was.ErrorLabel, is.ErrorLabel, u.SetErrorLabel)
	write(was.TopFrame, is.TopFrame, u.SetTopFrame)
	write(was.WorkflowState, is.WorkflowState, u.SetWorkflowState)
	write(was.Priority, is.Priority, u.SetPriority)
	write(was.SeverityRank, SeverityRank(is.Severity), u.SetSeverityRank)
	write(was.LeaseSeconds, is.LeaseSeconds, u.SetLeaseSeconds)
	write(was.OccurrenceCount, is.OccurrenceCount, u.SetOccurrenceCount)
	write(was.EstimatedCount, is.EstimatedCount, u.SetEstimatedCount)
	write(was.RegressionCount, is.RegressionCount, u.SetRegressionCount)
	write(was.CommentCount, is.CommentCount, u.SetCommentCount)
	write(was.OpenPullRequestCount, is.OpenPullRequestCount, u.SetOpenPullRequestCount)
	write(was.MergedPullRequestCount, is.MergedPullRequestCount, u.SetMergedPullRequestCount)
	write(was.Told, is.Told, u.SetTold)
	write(utc(was.FirstSeenAt), utc(is.FirstSeenAt), u.SetFirstSeenAt)
	write(utc(was.LastSeenAt), utc(is.LastSeenAt), u.SetLastSeenAt)
	writeList(was.ResolvedVersions, is.ResolvedVersions, u.SetResolvedVersions)
	writeList(was.Versions, is.Versions, u.SetVersions)
	writeList(was.Environments, is.Environments, u.SetEnvironments)
	writeOr(was.Severity, is.Severity, u.SetSeverity, u.ClearSeverity)
	writeOr(was.SeveritySource, is.SeveritySource, u.SetSeveritySource, u.ClearSeveritySource)
	writeOr(was.AssignedActorID, is.AssignedActorID, u.SetAssignedActorID, u.ClearAssignedActorID)
	writeOr(was.LeaseHolderID, is.LeaseHolderID, u.SetLeaseHolderID, u.ClearLeaseHolderID)
	writeTime(was.LeaseExpiresAt, is.LeaseExpiresAt, u.SetLeaseExpiresAt, u.ClearLeaseExpiresAt)
	writeTime(was.ClaimedAt, is.ClaimedAt, u.SetClaimedAt, u.ClearClaimedAt)
	writeOr(was.Notes, is.Notes, u.SetNotes, u.ClearNotes)
	writeTime(was.ResolvedAt, is.ResolvedAt, u.SetResolvedAt, u.ClearResolvedAt)
	writeTime(was.LastResolvedAt, is.LastResolvedAt, u.SetLastResolvedAt, u.ClearLastResolvedAt)
	writeTime(was.LastRegressedAt, is.LastRegressedAt, u.SetLastRegressedAt, u.ClearLastRegressedAt)
	writeTime(was.SnoozeUntil, is.SnoozeUntil, u.SetSnoozeUntil, u.ClearSnoozeUntil)
	writeTime(was.ArchivedAt, is.ArchivedAt, u.SetArchivedAt, u.ClearArchivedAt)
	writeOr(was.OpenIncidentID, is.OpenIncidentID, u.SetOpenIncidentID, u.ClearOpenIncidentID)
	writeOr(was.OpenVerificationID, is.OpenVerificationID, u.SetOpenVerificationID, u.ClearOpenVerificationID)
	writeOr(was.MergedInto, is.MergedInto, u.SetMergedInto, u.ClearMergedInto)
	return u.Exec(ctx)
}

func write[T comparable, U any](was, is T, set func(T) U) {
	if was != is {
		set(is)
	}
}

func writeList[U any](was, is []string, set func([]string) U) {
	if !slices.Equal(was, is) {
		set(is)
	}
}

func writeOr[T comparable, U any](was, is *T, set func(T) U, unset func() U) {
	if (was == nil) != (is == nil) || was != nil && *was != *is {
		setOr(is, set, unset)
	}
}

func writeTime[U any](was, is *time.Time, set func(time.Time) U, unset func() U) {
	writeOr(utcPtr(was), utcPtr(is), set, unset)
}
