package activity

import (
	"cmp"
	"encoding/json"
	"math"
	"strings"

	"github.com/svc-observability/svc/server/ingest/productevents"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// Values of session_replays.Status.
const (
	statusActive = "active"
	statusEnded  = "ended"
)

// sessionReplay reads a row about a session. An unreadable field refuses the request.
func (r *reader) sessionReplay() bool {
	id := r.sessionID()
	version, status := r.version()
	start, hasStart := r.time("start_time")
	end, hasEnd := r.time("end_time")
	last, hasLast := r.time("last_activity_at")
	duration := r.number("duration_ms", math.MaxInt64)
	isNew := r.flag("visitor_is_new")
	pages, clicks, errs := r.number(
		"page_views",
		math.MaxUint32,
	), r.number(
		"click_count",
		math.MaxUint32,
	), r.number(
		"error_count",
		math.MaxUint32,
	)
	traces := r.traceIDs("trace_ids")
	traits := r.attributes("user_traits", maxTraits)
	resource := r.resource(r.attributes("resource_attributes", maxResourceAttributes))
	address, referrer := r.text("url_initial", maxText), r.text("referrer", maxText)
	urlHost, urlPath := productevents.SplitURL(address)
	host, entry := strings.ToLower(r.text("host", maxDimension)), r.text("entry_path", maxText)
	referrerHost := strings.ToLower(r.text("referrer_host", maxDimension))
	if referrerHost == "" {
		referrerHost, _ = productevents.SplitURL(referrer)
	}
	service := r.text("service_name", maxDimension)
	t := r.set.SessionReplays()
	texts := r.texts(t)
	if !r.readable() {
		return false
	}
	if !hasStart {
		// The receive time may put this version into another partition than the others. Versions replace each other only within a
		// partition, and reads do not rely on the partition.
		r.warn("start_time", "is missing: the receive time stands for it")
		start = r.stamp.ReceivedUnixNano
	}
	if problem := r.storable(start); problem != "" {
		return r.reject("start_time", problem)
	}
	for _, later := range []struct {
		field string
		nano  *int64
		sent  bool
	}{{"end_time", &end, hasEnd}, {"last_activity_at", &last, hasLast}} {
		if !later.sent {
			continue
		}
		if problem := r.storable(*later.nano); problem != "" && !r.stamp.Acknowledged {
			return r.reject(later.field, problem)
		}
		if *later.nano < start {
			r.warn(later.field, "is before the start of the session, which stands for it")
			*later.nano = start
		}
	}
	t.OrgID.AppendString(string(r.stamp.Org))
	t.SessionID.AppendString(id)
	t.Version.Append(version)
	t.StartTime.Append(start)
	t.EndTime.Append(end)
	t.LastActivityAt.Append(last)
	t.DurationMs.Append(duration)
	t.Status.AppendString(status)
	native.AppendBool(t.VisitorIsNew, isNew)
	productevents.AppendMap(t.UserTraits, traits)
	t.URLInitial.AppendString(address)
	t.Host.AppendString(cmp.Or(host, productevents.Cut(urlHost, maxDimension)))
	t.EntryPath.AppendString(cmp.Or(entry, productevents.Cut(urlPath, maxText)))
	t.Referrer.AppendString(referrer)
	t.ReferrerHost.AppendString(productevents.Cut(strings.TrimPrefix(referrerHost, "www."), maxDimension))
	t.ServiceName.AppendString(r.service(service, resource))
	t.PageViews.Append(uint32(pages))
	t.ClickCount.Append(uint32(clicks))
	t.ErrorCount.Append(uint32(errs))
	for _, trace := range traces {
		t.TraceIDs.Elements.AppendString(trace)
	}
	t.TraceIDs.EndRow()
	productevents.AppendMap(t.ResourceAttributes, resource)
	for _, x := range texts {
		x.column.AppendString(x.value)
	}
	return true
}

// columnText is a text that is stored unchanged.
type columnText struct {
	column interface{ AppendString(v string) }
	field  string
	limit  int
	value  string
}

// texts reads the texts that need no conversion.
func (r *reader) texts(t *blocks.SessionReplays) []columnText {
	all := []columnText{
		{column: t.VisitorID, field: "visitor_id", limit: maxID},
		{column: t.UserID, field: "user_id", limit: maxID},
		{column: t.UserEmail, field: "user_email", limit: maxText},
		{column: t.UserName, field: "user_name", limit: maxText},
		{column: t.GroupID, field: "group_id", limit: maxID},
		{column: t.GroupName, field: "group_name", limit: maxText},
		{column: t.ExitPath, field: "exit_path", limit: maxText},
		{column: t.UtmSource, field: "utm_source", limit: maxDimension},
		{column: t.UtmMedium, field: "utm_medium", limit: maxDimension},
		{column: t.UtmCampaign, field: "utm_campaign", limit: maxDimension},
		{column: t.UtmTerm, field: "utm_term", limit: maxDimension},
		{column: t.UtmContent, field: "utm_content", limit: maxDimension},
		{column: t.UserAgent, field: "user_agent", limit: maxText},
		{column: t.BrowserName, field: "browser_name", limit: maxDimension},
		{column: t.OSName, field: "os_name", limit: maxDimension},
		{column: t.DeviceType, field: "device_type", limit: maxDimension},
		{column: t.Language, field: "language", limit: maxDimension},
		{column: t.Country, field: "country", limit: maxDimension},
	}
	for i := range all {
		all[i].value = r.text(all[i].field, all[i].limit)
	}
	return all
}

// version reads version and status. Each determines the other: a session starts as version 1 and ends as version 2.
func (r *reader) version() (version uint32, status string) {
	version, status = uint32(r.number("version", math.MaxUint32)), r.whole("status")
	switch {
	case status == statusActive, status == statusEnded:
	case status != "":
		r.refuse("status", "must be active or ended")
	case version > 1:
		status = statusEnded
	default:
		status = statusActive
	}
	if version == 0 {
		version = 1
		if status == statusEnded {
			version = 2
		}
	}
	return version, status
}

// traceIDs reads a list of trace ids and leaves out invalid ones.
func (r *reader) traceIDs(field string) []string {
	v := r.value(field)
	if v == nil {
		return nil
	}
	var ids []string
	if v[0] != '[' || json.Unmarshal(v, &ids) != nil {
		r.refuse(field, "must be a list of texts")
		return nil
	}
	out := ids[:0]
	for _, id := range ids {
		if id = r.traceID(field, id); id != "" {
			out = append(out, id)
		}
	}
	return out
}

// traceID returns a trace id in lower case, or an empty text if the value is not one.
func (r *reader) traceID(field, id string) string {
	id = strings.ToLower(id)
	if id == "" || strings.Trim(id, "0") == "" {
		return ""
	}
	if len(id) != 32 || strings.Trim(id, "0123456789abcdef") != "" {
		r.warn(field, "must be 32 hexadecimal digits: it was left out")
		return ""
	}
	return id
}
