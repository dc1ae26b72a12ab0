package sessionreplays

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query/reads"
)

func toSummary(row reads.SessionRow, recorded, matched bool) *svcv2.SessionReplaySummary {
	p := &svcv2.SessionReplaySummary{
		Id: formatID(row.SessionID), Object: "session_replay", StartTime: timestamppb.New(row.StartTime), EndTime: moment(row.EndTime),
		DurationMs: known(row.Duration), Status: row.Status, LastActivityAt: moment(row.LastActivityAt), UserId: text(row.UserID),
		UserName: row.UserName, UserEmail: row.UserEmail, GroupId: row.GroupID, GroupName: row.GroupName, VisitorId: row.VisitorID,
		UtmSource: row.UtmSource, EntryPath: row.EntryPath,
		UrlInitial: row.URLInitial, BrowserName: row.BrowserName, OsName: row.OSName, DeviceType: row.DeviceType, Country: row.Country,
		ServiceName: row.ServiceName, PageViews: row.PageViews, ClickCount: row.ClickCount, ErrorCount: row.ErrorCount,
		TraceCount: uint32(row.TraceCount), Recorded: recorded, Tags: row.Tags,
	}
	if matched {
		count := uint32(row.MatchCount)
		p.MatchCount = &count
		p.FirstMatch = &svcv2.SessionReplayMatch{Timestamp: timestamppb.New(row.FirstMatch), Url: row.FirstMatchURL}
	}
	return p
}

func toDetail(row reads.SessionDetailRow) (*svcv2.SessionReplay, error) {
	traits, err := jsonText(row.UserTraits)
	if err != nil {
		return nil, err
	}
	resource, err := jsonText(row.ResourceAttributes)
	if err != nil {
		return nil, err
	}
	p := &svcv2.SessionReplay{
		Id: formatID(row.SessionID), Object: "session_replay", StartTime: timestamppb.New(row.StartTime), EndTime: moment(row.EndTime),
		DurationMs: known(row.Duration), Status: row.Status, LastActivityAt: moment(row.LastActivityAt), UserId: text(row.UserID),
		UserName: row.UserName, UserEmail: row.UserEmail, GroupId: row.GroupID, GroupName: row.GroupName, VisitorId: row.VisitorID,
		UtmSource: row.UtmSource, EntryPath: row.EntryPath,
		UrlInitial: row.URLInitial, BrowserName: row.BrowserName, OsName: row.OSName, DeviceType: row.DeviceType, Country: row.Country,
		ServiceName: row.ServiceName, PageViews: row.PageViews, ClickCount: row.ClickCount, ErrorCount: row.ErrorCount,
		TraceCount: uint32(row.TraceCount), VisitorIsNew: row.VisitorIsNew, UserTraits: traits, Referrer: row.Referrer,
		ReferrerHost: row.ReferrerHost, UtmMedium: row.UtmMedium,
		UtmCampaign: row.UtmCampaign, UtmTerm: row.UtmTerm, UtmContent: row.UtmContent, Host: row.Host, ExitPath: row.ExitPath,
		Language: row.Language, UserAgent: row.UserAgent, TraceIds: row.TraceIDs, ResourceAttributes: resource,
	}
	if row.HasEvents {
		active, idle := row.ActiveMs, row.IdleMs
		p.ActiveTimeMs, p.IdleTimeMs = &active, &idle
	}
	return p, nil
}

func toTranscriptEvent(row reads.SessionEventRow) (*svcv2.SessionReplayTranscriptEvent, error) {
	attributes, err := jsonText(row.Attributes)
	if err != nil {
		return nil, err
	}
	p := &svcv2.SessionReplayTranscriptEvent{
		Object: "session_replay.transcript_event", Timestamp: timestamppb.New(row.Timestamp), Seq: row.Seq, Type: row.Type, Url: row.URL,
		TraceId: text(row.TraceID), Level: text(row.Level), Message: text(row.Message), TargetSelector: text(row.TargetSelector),
		TargetText: text(row.TargetText), NetMethod: text(row.NetMethod), NetUrl: text(row.NetURL), Attributes: attributes,
		ErrorStack: text(row.ErrorStack),
	}
	if row.NetStatus != 0 {
		status := uint32(row.NetStatus)
		p.NetStatus = &status
	}
	if row.Type == "network" {
		p.NetDurationMs = &row.NetDurationMs
	}
	return p, nil
}

// jsonText writes a map as a JSON object with its keys in order.
func jsonText(m map[string]string) (string, error) {
	if len(m) == 0 {
		return "{}", nil
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return "", fmt.Errorf("attributes of a session: %w", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// text is nil for an empty column.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// moment is nil for an unknown time.
func moment(t time.Time) *timestamppb.Timestamp {
	if t.Unix() <= 0 {
		return nil
	}
	return timestamppb.New(t)
}

// known is nil for an unknown duration.
func known(ms float64) *float64 {
	if ms < 0 {
		return nil
	}
	return &ms
}

func lower(s *string) *string {
	if s == nil {
		return nil
	}
	out := strings.ToLower(*s)
	return &out
}
