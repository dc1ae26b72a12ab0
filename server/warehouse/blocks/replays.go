package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// SessionReplays are the columns of the table session_replays.
type SessionReplays struct {
	native.Block

	OrgID              *native.LowCardinality
	SessionID          *native.String
	Version            *native.UInt32
	StartTime          *native.Int64
	EndTime            *native.Int64
	LastActivityAt     *native.Int64
	DurationMs         *native.UInt64
	Status             *native.LowCardinality
	VisitorID          *native.String
	VisitorIsNew       *native.UInt8
	UserID             *native.String
	UserEmail          *native.String
	UserName           *native.String
	UserTraits         *native.Map
	GroupID            *native.String
	GroupName          *native.String
	URLInitial         *native.String
	Host               *native.LowCardinality
	EntryPath          *native.String
	ExitPath           *native.String
	Referrer           *native.String
	ReferrerHost       *native.LowCardinality
	UtmSource          *native.LowCardinality
	UtmMedium          *native.LowCardinality
	UtmCampaign        *native.LowCardinality
	UtmTerm            *native.LowCardinality
	UtmContent         *native.LowCardinality
	UserAgent          *native.String
	BrowserName        *native.LowCardinality
	OSName             *native.LowCardinality
	DeviceType         *native.LowCardinality
	Language           *native.LowCardinality
	Country            *native.LowCardinality
	ServiceName        *native.LowCardinality
	PageViews          *native.UInt32
	ClickCount         *native.UInt32
	ErrorCount         *native.UInt32
	TraceIDs           *native.Array[*native.String]
	ResourceAttributes *native.Map
}

func newSessionReplays() *SessionReplays {
	t := &SessionReplays{
		OrgID:              native.NewLowCardinality(),
		SessionID:          native.NewString(),
		Version:            native.NewUInt32(),
		StartTime:          native.NewDateTime64(),
		EndTime:            native.NewDateTime64(),
		LastActivityAt:     native.NewDateTime64(),
		DurationMs:         native.NewUInt64(),
		Status:             native.NewLowCardinality(),
		VisitorID:          native.NewString(),
		VisitorIsNew:       native.NewBool(),
		UserID:             native.NewString(),
		UserEmail:          native.NewString(),
		UserName:           native.NewString(),
		UserTraits:         native.NewMap(),
		GroupID:            native.NewString(),
		GroupName:          native.NewString(),
		URLInitial:         native.NewString(),
		Host:               native.NewLowCardinality(),
		EntryPath:          native.NewString(),
		ExitPath:           native.NewString(),
		Referrer:           native.NewString(),
		ReferrerHost:       native.NewLowCardinality(),
		UtmSource:          native.NewLowCardinality(),
		UtmMedium:          native.NewLowCardinality(),
		UtmCampaign:        native.NewLowCardinality(),
		UtmTerm:            native.NewLowCardinality(),
		UtmContent:         native.NewLowCardinality(),
		UserAgent:          native.NewString(),
		BrowserName:        native.NewLowCardinality(),
		OSName:             native.NewLowCardinality(),
		DeviceType:         native.NewLowCardinality(),
		Language:           native.NewLowCardinality(),
		Country:            native.NewLowCardinality(),
		ServiceName:        native.NewLowCardinality(),
		PageViews:          native.NewUInt32(),
		ClickCount:         native.NewUInt32(),
		ErrorCount:         native.NewUInt32(),
		TraceIDs:           native.NewArray(native.NewString()),
		ResourceAttributes: native.NewMap(),
	}
	t.Fields = []native.Field{
		{Name: "OrgId", Column: t.OrgID},
		{Name: "SessionId", Column: t.SessionID},
		{Name: "Version", Column: t.Version},
		{Name: "StartTime", Column: t.StartTime},
		{Name: "EndTime", Column: t.EndTime},
		{Name: "LastActivityAt", Column: t.LastActivityAt},
		{Name: "DurationMs", Column: t.DurationMs},
		{Name: "Status", Column: t.Status},
		{Name: "VisitorId", Column: t.VisitorID},
		{Name: "VisitorIsNew", Column: t.VisitorIsNew},
		{Name: "UserId", Column: t.UserID},
		{Name: "UserEmail", Column: t.UserEmail},
		{Name: "UserName", Column: t.UserName},
		{Name: "UserTraits", Column: t.UserTraits},
		{Name: "GroupId", Column: t.GroupID},
		{Name: "GroupName", Column: t.GroupName},
		{Name: "UrlInitial", Column: t.URLInitial},
		{Name: "Host", Column: t.Host},
		{Name: "EntryPath", Column: t.EntryPath},
		{Name: "ExitPath", Column: t.ExitPath},
		{Name: "Referrer", Column: t.Referrer},
		{Name: "ReferrerHost", Column: t.ReferrerHost},
		{Name: "UtmSource", Column: t.UtmSource},
		{Name: "UtmMedium", Column: t.UtmMedium},
		{Name: "UtmCampaign", Column: t.UtmCampaign},
		{Name: "UtmTerm", Column: t.UtmTerm},
		{Name: "UtmContent", Column: t.UtmContent},
		{Name: "UserAgent", Column: t.UserAgent},
		{Name: "BrowserName", Column: t.BrowserName},
		{Name: "OsName", Column: t.OSName},
		{Name: "DeviceType", Column: t.DeviceType},
		{Name: "Language", Column: t.Language},
		{Name: "Country", Column: t.Country},
		{Name: "ServiceName", Column: t.ServiceName},
		{Name: "PageViews", Column: t.PageViews},
		{Name: "ClickCount", Column: t.ClickCount},
		{Name: "ErrorCount", Column: t.ErrorCount},
		{Name: "TraceIds", Column: t.TraceIDs},
		{Name: "ResourceAttributes", Column: t.ResourceAttributes},
	}
	return t
}

// SessionReplayEvents are the columns of the table session_replay_events.
type SessionReplayEvents struct {
	native.Block

	OrgID              *native.LowCardinality
	SessionID          *native.String
	ChunkSeq           *native.UInt32
	Timestamp          *native.Int64
	DurationMs         *native.UInt32
	EventCount         *native.UInt32
	ByteSize           *native.UInt64
	IsCheckpoint       *native.UInt8
	Payload            *native.String
	ResourceAttributes *native.Map
}

func newSessionReplayEvents() *SessionReplayEvents {
	t := &SessionReplayEvents{
		OrgID:              native.NewLowCardinality(),
		SessionID:          native.NewString(),
		ChunkSeq:           native.NewUInt32(),
		Timestamp:          native.NewDateTime64(),
		DurationMs:         native.NewUInt32(),
		EventCount:         native.NewUInt32(),
		ByteSize:           native.NewUInt64(),
		IsCheckpoint:       native.NewBool(),
		Payload:            native.NewString(),
		ResourceAttributes: native.NewMap(),
	}
	t.Fields = []native.Field{
		{Name: "OrgId", Column: t.OrgID},
		{Name: "SessionId", Column: t.SessionID},
		{Name: "ChunkSeq", Column: t.ChunkSeq},
		{Name: "Timestamp", Column: t.Timestamp},
		{Name: "DurationMs", Column: t.DurationMs},
		{Name: "EventCount", Column: t.EventCount},
		{Name: "ByteSize", Column: t.ByteSize},
		{Name: "IsCheckpoint", Column: t.IsCheckpoint},
		{Name: "Payload", Column: t.Payload},
		{Name: "ResourceAttributes", Column: t.ResourceAttributes},
	}
	return t
}
