package sessionreplays

import (
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query/reads"
)

// toFilters reads the filters of a search or of its facets. Both requests use the same field names.
func toFilters(req any) (reads.SessionFilters, error) {
	var f reads.SessionFilters
	var events *svcv2.SessionEventFilters
	switch r := req.(type) {
	case *svcv2.SearchSessionReplaysRequest:
		f = reads.SessionFilters{
			ServiceName: r.ServiceName, BrowserName: r.Browser, Country: r.Country, DeviceType: r.DeviceType, UserID: r.UserId,
			GroupName: r.GroupName, VisitorID: r.VisitorId, UserSearch: r.UserSearch, URLSearch: r.Search, PagePath: r.PagePath,
			HasErrors: r.HasErrors, Tags: r.GetTags(),
			MinDuration: r.DurationMinMs, MaxDuration: r.DurationMaxMs, MinActive: r.ActiveTimeMinMs, MaxActive: r.ActiveTimeMaxMs,
		}
		events = r.GetEvents()
	case *svcv2.SearchSessionReplayFacetsRequest:
		f = reads.SessionFilters{
			ServiceName: r.ServiceName, BrowserName: r.Browser, Country: r.Country, DeviceType: r.DeviceType, UserID: r.UserId,
			GroupName: r.GroupName, VisitorID: r.VisitorId, UserSearch: r.UserSearch, URLSearch: r.Search, PagePath: r.PagePath,
			HasErrors: r.HasErrors, Tags: r.GetTags(),
			MinDuration: r.DurationMinMs, MaxDuration: r.DurationMaxMs, MinActive: r.ActiveTimeMinMs, MaxActive: r.ActiveTimeMaxMs,
		}
		events = r.GetEvents()
	}
	if events != nil {
		f.Events = &reads.SessionEventFilters{
			Type: events.Type, Level: events.Level, TraceID: lower(events.TraceId), URLSearch: events.UrlSearch, MessageSearch: events.MessageSearch,
			MinStatus: events.MinStatus,
		}
	}
	for _, r := range []struct {
		name     string
		min, max *float64
	}{{"duration_max_ms", f.MinDuration, f.MaxDuration}, {"active_time_max_ms", f.MinActive, f.MaxActive}} {
		if r.min != nil && r.max != nil && *r.max < *r.min {
			return f, apierr.New(apierr.ParameterInvalid, r.name+" is below the lower bound: nothing can match.", apierr.Param(r.name))
		}
	}
	return f, nil
}
