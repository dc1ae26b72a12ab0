package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// SessionReplays are the columns of the table session_replays.
type SessionReplays struct {
	native.Block `table:"session_replays"`

	OrgID              *native.LowCardinality        `ch:"OrgId"`
	SessionID          *native.String                `ch:"SessionId"`
	Version            *native.UInt32                `ch:"Version"`
	StartTime          *native.Int64                 `ch:"StartTime" type:"DateTime64(9, 'UTC')"`
	EndTime            *native.Int64                 `ch:"EndTime" type:"DateTime64(9, 'UTC')"`
	LastActivityAt     *native.Int64                 `ch:"LastActivityAt" type:"DateTime64(9, 'UTC')"`
	DurationMs         *native.UInt64                `ch:"DurationMs"`
	Status             *native.LowCardinality        `ch:"Status"`
	VisitorID          *native.String                `ch:"VisitorId"`
	VisitorIsNew       *native.UInt8                 `ch:"VisitorIsNew" type:"Bool"`
	UserID             *native.String                `ch:"UserId"`
	UserEmail          *native.String                `ch:"UserEmail"`
	UserName           *native.String                `ch:"UserName"`
	UserTraits         *native.Map                   `ch:"UserTraits"`
	GroupID            *native.String                `ch:"GroupId"`
	GroupName          *native.String                `ch:"GroupName"`
	URLInitial         *native.String                `ch:"UrlInitial"`
	Host               *native.LowCardinality        `ch:"Host"`
	EntryPath          *native.String                `ch:"EntryPath"`
	ExitPath           *native.String                `ch:"ExitPath"`
	Referrer           *native.String                `ch:"Referrer"`
	ReferrerHost       *native.LowCardinality        `ch:"ReferrerHost"`
	UtmSource          *native.LowCardinality        `ch:"UtmSource"`
	UtmMedium          *native.LowCardinality        `ch:"UtmMedium"`
	UtmCampaign        *native.LowCardinality        `ch:"UtmCampaign"`
	UtmTerm            *native.LowCardinality        `ch:"UtmTerm"`
	UtmContent         *native.LowCardinality        `ch:"UtmContent"`
	UserAgent          *native.String                `ch:"UserAgent"`
	BrowserName        *native.LowCardinality        `ch:"BrowserName"`
	OSName             *native.LowCardinality        `ch:"OsName"`
	DeviceType         *native.LowCardinality        `ch:"DeviceType"`
	Language           *native.LowCardinality        `ch:"Language"`
	Country            *native.LowCardinality        `ch:"Country"`
	ServiceName        *native.LowCardinality        `ch:"ServiceName"`
	PageViews          *native.UInt32                `ch:"PageViews"`
	ClickCount         *native.UInt32                `ch:"ClickCount"`
	ErrorCount         *native.UInt32                `ch:"ErrorCount"`
	TraceIDs           *native.Array[*native.String] `ch:"TraceIds"`
	ResourceAttributes *native.Map                   `ch:"ResourceAttributes"`
}

// SessionReplayEvents are the columns of the table session_replay_events.
type SessionReplayEvents struct {
	native.Block `table:"session_replay_events"`

	OrgID              *native.LowCardinality `ch:"OrgId"`
	SessionID          *native.String         `ch:"SessionId"`
	ChunkSeq           *native.UInt32         `ch:"ChunkSeq"`
	Timestamp          *native.Int64          `ch:"Timestamp" type:"DateTime64(9, 'UTC')"`
	DurationMs         *native.UInt32         `ch:"DurationMs"`
	EventCount         *native.UInt32         `ch:"EventCount"`
	ByteSize           *native.UInt64         `ch:"ByteSize"`
	IsCheckpoint       *native.UInt8          `ch:"IsCheckpoint" type:"Bool"`
	Payload            *native.String         `ch:"Payload"`
	ResourceAttributes *native.Map            `ch:"ResourceAttributes"`
}
