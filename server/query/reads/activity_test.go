package reads

import (
	"time"

	"github.com/svc-observability/svc/server/paging"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// activityCases are the statements about sessions and product events.
func activityCases(w query.Window, value func(string) *string, every query.Filter) map[string]sqlbuild.Statement {
	received := Bounds{From: w.Start, To: w.End}
	filters := SessionFilters{
		ServiceName: value("service"), BrowserName: value("browser"), Country: value("country"), DeviceType: value("device"),
		UserID:    value("user"),
		GroupName: value("group"), VisitorID: value("visitor"), UserSearch: value("user search"), URLSearch: value("url"),
		PagePath: value("path"), HasErrors: new(true),
		Tags: []string{marker}, MinDuration: new(1.), MaxDuration: new(2.), MinActive: new(3.), MaxActive: new(4.),
		Events: &SessionEventFilters{
			Type: value("type"), Level: value("level"), TraceID: value("trace"), URLSearch: value("event url"), MessageSearch: value("message"),
			MinStatus: new(int32(500)),
		},
	}
	chunks := ChunkRange{SessionID: marker, From: 3, To: 7, Limit: 100}
	bounded := chunks
	bounded.Received = received
	sessions := query.ProductSessionFilters{
		Host: value("s host"), ReferrerHost: value("s referrer"), Country: value("s country"), DeviceType: value("s device"),
		BrowserName: value("s browser"),
		OSName:      value("s os"), Language: value("s language"), UtmSource: value("s source"), UtmMedium: value("s medium"),
		UtmCampaign:  value("s campaign"),
		VisitorIsNew: new(true), PagePath: value("s path"),
	}
	steps := []Step{
		{EventName: marker + " one", Attributes: match(query.OwnAttribute, marker, query.OpEqual, marker)},
		{PagePath: marker + "/two", Host: value("host")},
		{EventName: marker + " three"},
	}
	funnel := Funnel{Window: w, Steps: steps, KeyBy: query.ByPerson, Within: time.Hour}
	grouped := Funnel{
		Window: w, Steps: append([]Step{{Dimension: "utm_source", Value: marker}}, steps...), KeyBy: query.BySession,
		Within: time.Hour, Dimension: "country", Groups: 6, Sessions: sessions,
	}
	byAttribute := Funnel{Window: w, Steps: steps[:1], KeyBy: query.ByUser, Within: time.Hour, Attribute: marker, Groups: 6}
	paths := Paths{Window: w, Anchor: steps[1], Depth: 3, Branches: 4, KeyBy: query.ByVisitor, Within: time.Hour, Include: IncludeAll}
	narrow := Paths{
		Window: w, Anchor: steps[0], Before: true, Depth: 5, Branches: 10, KeyBy: query.ByPerson, Within: time.Hour, Include: IncludePages,
		Exclude: []string{marker}, Sessions: sessions,
	}
	return map[string]sqlbuild.Statement{
		"search_sessions": SearchSessions(SessionSearch{Window: w, Limit: 21}),
		"search_sessions_page": SearchSessions(SessionSearch{
			Window: w, Limit: 21,
			Before: &paging.SessionKey{Start: w.Start, SessionID: marker},
		}),
		"search_sessions_filtered": SearchSessions(SessionSearch{Window: w, Limit: 21, Filters: filters}),
		"session_facets":           SessionFacets(w, filters),
		"sessions_of_trace":        SessionsOfTrace(marker, w, 20, 21),
		"recorded_sessions":        RecordedSessions([]string{marker}),
		"session":                  Session(marker, Bounds{}),
		"session_bounded":          Session(marker, received),
		"session_extent":           SessionExtent(marker),
		"session_chunks":           SessionChunks(chunks),
		"session_manifest":         SessionManifest(bounded),
		"session_timeline":         SessionTimeline(Timeline{SessionID: marker, Limit: 100}),
		"session_timeline_filtered": SessionTimeline(Timeline{
			SessionID: marker, Happened: received, Types: []string{marker, "click"}, ErrorsOnly: true, TraceID: value("trace"), Offset: 20,
			Limit: 100,
		}),
		"session_traces":        SessionTraces(marker, w, 20, 21),
		"search_product_events": SearchProductEvents(ProductEventSearch{Window: w, Limit: 21}),
		"search_product_events_page": SearchProductEvents(ProductEventSearch{
			Window: w, Limit: 21, Before: &paging.EventKey{Timestamp: w.Start, Record: marker, Copy: 2},
		}),
		"search_product_events_filtered": SearchProductEvents(ProductEventSearch{Window: w, Limit: 21, Filters: ProductEventFilters{
			Names: []string{marker}, Kind: value("kind"), Source: value("source"), UserID: value("user"), VisitorID: value("visitor"),
			GroupID:   value("group"),
			SessionID: value("session"), ServiceName: value("service"), Host: value("host"), PagePath: value("path"), NameSearch: value("search"),
			Attributes: query.And(every, match(query.ResourceAttribute, marker, query.OpContains, marker)),
		}}),
		"product_event_names": ListProductEventNames(ProductEventNameList{Window: w, Limit: 21}),
		"product_event_names_filtered": ListProductEventNames(ProductEventNameList{
			Window: w, Offset: 20, Limit: 21, Sessions: sessions, Events: ProductEventFilters{
				Kind: value("kind"), NameSearch: value("search"),
				Host: value("host"), PagePath: value("path"),
			},
		}),
		"funnel":              FunnelCounts(funnel),
		"funnel_groups":       FunnelCounts(grouped),
		"funnel_by_attribute": FunnelCounts(byAttribute),
		"funnel_leavers":      FunnelLeavers(funnel),
		"path_nodes":          PathNodes(paths),
		"path_links":          PathLinks(paths, []PathNodeRow{{Hop: 1, Node: marker}}),
		"path_nodes_narrow":   PathNodes(narrow),
		"path_links_narrow":   PathLinks(narrow, nil),
	}
}
