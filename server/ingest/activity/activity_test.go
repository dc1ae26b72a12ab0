package activity_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

// received is the arrival time of all requests in these tests.
var received = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

func stamp() *otlp.Stamp {
	return &otlp.Stamp{Origin: otlp.Origin{Org: "org_one", KeyType: otlp.KeyPublic}, ReceivedUnixNano: received.UnixNano()}
}

type row = map[string]any

// rows reads back the content of a set.
func rows(t testing.TB, set *blocks.Set) []row {
	t.Helper()
	var all []row
	for table := range set.Tables() {
		all = append(all, nativetest.Rows(t, table)...)
	}
	return all
}

func walk(t testing.TB, kind activity.Kind, s *otlp.Stamp, lines ...string) ([]row, activity.Result, error) {
	t.Helper()
	var set blocks.Set
	result, err := activity.Walk(t.Context(), kind, []byte(strings.Join(lines, "\n")), s, &set)
	all := rows(t, &set)
	if len(all) != result.Accepted {
		t.Errorf("%d rows, but %d lines accepted", len(all), result.Accepted)
	}
	return all, result, err
}

func at(s string) int64 {
	t, err := time.ParseInLocation("2006-01-02 15:04:05.999", s, time.UTC)
	if err != nil {
		panic(err)
	}
	return t.UnixNano()
}

var stamps = map[string]string{"svc_org_id": "org_one", "svc_ingest_key_type": "public", "svc_ingest_source": "svc-ingest-gateway"}

func with(base map[string]string, more ...string) map[string]string {
	out := map[string]string{}
	for k, v := range base {
		out[k] = v
	}
	for i := 0; i < len(more); i += 2 {
		out[more[i]] = more[i+1]
	}
	return out
}

func TestSessionReplay(t *testing.T) {
	got, result, err := walk(t, activity.SessionReplays, stamp(),
		`{"session_id":"s_1","start_time":"2026-03-10 11:00:00.250","status":"active","version":1,"url_initial":"https://Shop.example:8443/cart?x=1","end_time":null}`,
		"",
		strings.ReplaceAll(`{"session_id":"s_1","start_time":"2026-03-10T12:00:00.25+01:00","end_time":"2026-03-10 11:30:00","last_activity_at":"2026-03-10 11:29:59","duration_ms":1799750.5,
"status":"ended","version":2,"visitor_id":"v1","visitor_is_new":1,"user_id":"u1","user_email":"a@example.com","user_name":"Ada","group_id":"g1","group_name":"Acme",
"user_traits":{"plan":"pro","seats":3,"beta":true,"tags":["a", "b"],"gone":null},"host":"SHOP.example","entry_path":"/in","exit_path":"/out",
"referrer":"https://www.News.example/x","utm_source":"us","utm_medium":"um","utm_campaign":"uc","utm_term":"ut","utm_content":"uo",
"user_agent":"UA","browser_name":"Firefox","os_name":"Linux","device_type":"desktop","language":"de","country":"DE","service_name":"web",
"page_views":3,"click_count":4,"error_count":5,"trace_ids":["5B8EFFF798038103D269B633813FC60C",""],
"resource_attributes":{"service.version":"1","svc_org_id":"org_forged","svc_ingest_key_type":"forged","org_id":"x"},"unknown":[{}]}`, "\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	blank := row{
		"OrgId": "org_one", "SessionId": "s_1", "Version": uint32(1), "StartTime": at("2026-03-10 11:00:00.25"), "EndTime": int64(0),
		"LastActivityAt": int64(0),
		"DurationMs":     uint64(0), "Status": "active", "VisitorId": "", "VisitorIsNew": false, "UserId": "", "UserEmail": "", "UserName": "",
		"UserTraits": map[string]string{},
		"GroupId":    "", "GroupName": "", "UrlInitial": "https://Shop.example:8443/cart?x=1", "Host": "shop.example", "EntryPath": "/cart",
		"ExitPath": "", "Referrer": "",
		"ReferrerHost": "", "UtmSource": "", "UtmMedium": "", "UtmCampaign": "", "UtmTerm": "", "UtmContent": "", "UserAgent": "",
		"BrowserName": "", "OsName": "",
		"DeviceType": "", "Language": "", "Country": "", "ServiceName": "", "PageViews": uint32(0), "ClickCount": uint32(0),
		"ErrorCount": uint32(0),
		"TraceIds":   []string(nil), "ResourceAttributes": stamps,
	}
	full := row{
		"OrgId": "org_one", "SessionId": "s_1", "Version": uint32(2), "StartTime": at("2026-03-10 11:00:00.25"),
		"EndTime":        at("2026-03-10 11:30:00"),
		"LastActivityAt": at("2026-03-10 11:29:59"), "DurationMs": uint64(1799750), "Status": "ended", "VisitorId": "v1", "VisitorIsNew": true,
		"UserId":    "u1",
		"UserEmail": "a@example.com", "UserName": "Ada", "UserTraits": map[string]string{
			"plan": "pro", "seats": "3", "beta": "true",
			"tags": `["a","b"]`,
		},
		"GroupId": "g1", "GroupName": "Acme", "UrlInitial": "", "Host": "shop.example", "EntryPath": "/in", "ExitPath": "/out",
		"Referrer":     "https://www.News.example/x",
		"ReferrerHost": "news.example", "UtmSource": "us", "UtmMedium": "um", "UtmCampaign": "uc", "UtmTerm": "ut", "UtmContent": "uo",
		"UserAgent":   "UA",
		"BrowserName": "Firefox", "OsName": "Linux", "DeviceType": "desktop", "Language": "de", "Country": "DE", "ServiceName": "web",
		"PageViews": uint32(3), "ClickCount": uint32(4), "ErrorCount": uint32(5), "TraceIds": []string{"5b8efff798038103d269b633813fc60c"},
		"ResourceAttributes": with(stamps, "service.version", "1"),
	}
	if diff := cmp.Diff([]row{blank, full}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(activity.Result{Accepted: 2}, result); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestVersionAndStatusTellEachOther(t *testing.T) {
	for fields, want := range map[string]string{
		``: "1 active", `,"status":"active"`: "1 active", `,"status":"ended"`: "2 ended", `,"version":2`: "2 ended",
		`,"version":7,"status":"active"`: "7 active",
	} {
		got, _, err := walk(t, activity.SessionReplays, stamp(), `{"session_id":"s","start_time":"2026-03-10 11:00:00"`+fields+`}`)
		if err != nil || fmt.Sprint(got[0]["Version"], " ", got[0]["Status"]) != want {
			t.Errorf("%s: %v, %v; want %s", fields, got, err, want)
		}
	}
}

func TestSessionEvent(t *testing.T) {
	got, _, err := walk(t, activity.SessionEvents, stamp(),
		strings.ReplaceAll(`{"session_id":"s_1","timestamp":"2026-03-10 11:00:00.250","seq":7,"type":"network","url":"https://shop.example/",
"trace_id":"5b8efff798038103d269b633813fc60c","level":"error","message":"m","target_selector":"#b","target_text":"Buy","net_method":"GET","net_url":"/api","net_status":503,
"net_duration_ms":12,"error_stack":"at x","attributes":{"k":"v"},"visitor_id":"v","user_id":"u","group_id":"g"}`, "\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	want := []row{{
		"OrgId": "org_one", "SessionId": "s_1", "Timestamp": at("2026-03-10 11:00:00.25"), "Seq": uint32(7), "Type": "network",
		"Url":     "https://shop.example/",
		"TraceId": "5b8efff798038103d269b633813fc60c", "Level": "error", "Message": "m", "TargetSelector": "#b", "TargetText": "Buy",
		"NetMethod": "GET", "NetUrl": "/api",
		"NetStatus": uint16(503), "NetDurationMs": uint32(12), "ErrorStack": "at x", "VisitorId": "v", "UserId": "u", "GroupId": "g",
		"Attributes": map[string]string{"k": "v"}, "ResourceAttributes": stamps,
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, typ := range []string{"navigation", "click", "input", "console", "network", "error", "custom"} {
		if got, _, err := walk(t, activity.SessionEvents, stamp(), `{"session_id":"s","type":"`+typ+`"}`); err != nil || got[0]["Type"] != typ ||
			got[0]["Timestamp"] != received.UnixNano() {
			t.Errorf("%s: %v, %v", typ, got, err)
		}
	}
}

func TestProductEvent(t *testing.T) {
	custom := stamp()
	custom.KeyType, custom.KeyID = otlp.KeyCustom, "ingk_1"
	custom.Attributes = []otlp.ResourceAttribute{{Key: "team", Value: "checkout"}, {Key: "service.name", Value: "fallback", IfMissing: true}}
	got, _, err := walk(t, activity.ProductEvents, custom,
		`{"name":"order placed","timestamp":"2026-03-10T11:00:00Z","source":"mobile","visitor_id":"v","user_id":"u","group_id":"g","session_id":"s","service_name":"shop","url":"https://Shop.example/a%20b?c=d","attributes":{"total":12.50,"currency":"EUR"}}`,
		`{"name":"$screen","url":"https://shop.example/a","page_path":"/wins"}`)
	if err != nil {
		t.Fatal(err)
	}
	resource := with(stamps, "svc_ingest_key_type", "custom", "svc_ingest_key_id", "ingk_1", "team", "checkout", "service.name", "fallback")
	want := []row{
		{
			"OrgId": "org_one", "Name": "order placed", "Timestamp": at("2026-03-10 11:00:00"), "Kind": "custom", "Source": "mobile",
			"VisitorId": "v", "UserId": "u",
			"GroupId": "g", "SessionId": "s", "ServiceName": "shop", "Url": "https://Shop.example/a%20b?c=d", "Host": "shop.example",
			"PagePath":   "/a%20b",
			"Attributes": map[string]string{"total": "12.50", "currency": "EUR"}, "ResourceAttributes": resource,
		},
		{
			"OrgId": "org_one", "Name": "$screen", "Timestamp": received.UnixNano(), "Kind": "screen", "Source": "server", "VisitorId": "",
			"UserId":  "",
			"GroupId": "", "SessionId": "", "ServiceName": "fallback", "Url": "https://shop.example/a", "Host": "shop.example", "PagePath": "/wins",
			"Attributes": map[string]string{}, "ResourceAttributes": resource,
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A key that always sets a resource attribute wins over the sender's value.
func TestKeyAttributes(t *testing.T) {
	s := stamp()
	s.Attributes = []otlp.ResourceAttribute{
		{Key: "service.name", Value: "forced"},
		{Key: "env", Value: "test"},
		{Key: "kept", Value: "no", IfMissing: true},
	}
	got, _, err := walk(t, activity.SessionReplays, s, `{"session_id":"s","service_name":"mine","resource_attributes":{"service.name":"also mine","env":"prod","kept":"yes"}}`)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(with(stamps, "a", "b"), forged(t, `{"svc_dropped_attributes_count":"7","svc_x":"y","a":"b"}`)); diff != "" {
		t.Errorf("forged stamps, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(with(stamps, "svc_dropped_attributes_count", "1"),
		forged(t, `{"svc_dropped_attributes_count":"7","":"b"}`)); diff != "" {
		t.Errorf("a forged count beside the true one, -want +got:\n%s", diff)
	}
	if got[0]["ServiceName"] != "forced" {
		t.Errorf("service %q", got[0]["ServiceName"])
	}
	if diff := cmp.Diff(with(stamps, "service.name", "forced", "env", "test", "kept", "yes"), got[0]["ResourceAttributes"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// forged returns the resource that is stored with a session.
func forged(t *testing.T, resource string) any {
	t.Helper()
	got, _, err := walk(t, activity.SessionReplays, stamp(), `{"session_id":"s","resource_attributes":`+resource+`}`)
	if err != nil {
		t.Fatal(err)
	}
	return got[0]["ResourceAttributes"]
}

// Product events with half of a surrogate pair are refused, but escapes of complete characters are accepted. Sessions with half
// of a pair are stored with a warning. Records that the queue holds already are stored too.
func TestSurrogates(t *testing.T) {
	for text, want := range map[string]string{
		`\ud83d\ude00`: "😀", `\\ud800`: `\ud800`, `\u0041\n\"`: "A\n\"", `\uFFFD`: "\uFFFD",
		`\uD7FF\uE000`: "\uD7FF\uE000",
	} {
		got, result, err := walk(t, activity.ProductEvents, stamp(), `{"name":"`+text+`"}`)
		if err != nil || len(result.Warnings) != 0 || got[0]["Name"] != want {
			t.Errorf("%s: %v, %v, %v; want %q", text, got, result.Warnings, err, want)
		}
	}
	const half = `{"session_id":"s","type":"click","timestamp":"2026-03-10 11:00:00","name":"n","target_text":"Buy \ud83d"}`
	queued := stamp()
	queued.Acknowledged = true
	for kind, s := range map[activity.Kind]*otlp.Stamp{activity.SessionEvents: stamp(), activity.ProductEvents: queued} {
		got, result, err := walk(t, kind, s, half)
		if err != nil || len(result.Warnings) != 1 || result.Warnings[0].String() != `line 1: holds half of a surrogate pair (\ud800 to \udfff), for which U+FFFD stands` {
			t.Errorf("%s: %v, %v", kind, result, err)
		} else if kind == activity.SessionEvents && got[0]["TargetText"] != "Buy \uFFFD" {
			t.Errorf("%q", got[0]["TargetText"])
		}
	}
}

// TestOrderOfTimes: a session must not end before it starts.
func TestOrderOfTimes(t *testing.T) {
	const line = `{"session_id":"s","start_time":"2026-03-10 11:00:00","end_time":"2026-03-10 10:59:59","last_activity_at":"2026-03-10 10:59:58"}`
	got, result, err := walk(t, activity.SessionReplays, stamp(), line)
	if err != nil || len(result.Warnings) != 2 || result.Warnings[0].String() != "line 1: end_time is before the start of the session, "+
		"which stands for it" ||
		result.Warnings[1].Field != "last_activity_at" {
		t.Errorf("%+v, %v", result, err)
	}
	if start := at("2026-03-10 11:00:00"); got[0]["StartTime"] != start || got[0]["EndTime"] != start || got[0]["LastActivityAt"] != start {
		t.Errorf("%v", got[0])
	}
	queued := stamp()
	queued.Acknowledged = true
	if got, result, err := walk(t, activity.SessionReplays, queued, `{"session_id":"s","end_time":"2030-01-01T00:00:00Z"}`); err != nil ||
		len(got) != 1 {
		t.Errorf("what was acknowledged before is gone: %+v, %v", result, err)
	}
}

func TestRefusedRequests(t *testing.T) {
	ok := map[activity.Kind]string{
		activity.SessionReplays: `{"session_id":"s"}`, activity.SessionEvents: `{"session_id":"s","type":"click"}`,
		activity.ProductEvents: `{"name":"n"}`,
	}
	type refusal struct {
		kind activity.Kind
		line string
		want string
	}
	var all []refusal
	for kind := range ok {
		all = append(all,
			refusal{kind, `[{"session_id":"s"}]`, "line 3: must be a JSON object"}, refusal{kind, `7`, "line 3: must be a JSON object"},
			refusal{kind, `nonsense`, "line 3: must be a JSON object"}, refusal{kind, `null`, "line 3: must be a JSON object"},
			refusal{kind, `{"a":1`, "line 3: is not valid JSON: unexpected end of JSON input"},
			refusal{kind, `{"a":1}}`, "line 3: is not valid JSON"},
			refusal{kind, `{"a":1} {"b":2}`, "line 3: is not valid JSON"}, refusal{kind, `{"a":NaN}`, "line 3: is not valid JSON"},
			refusal{kind, `{'a':1}`, "line 3: is not valid JSON"},
			refusal{kind, "{\"a\":\"\xff\"}", "line 3: is not valid UTF-8"}, refusal{kind, "{\"a\":\"\x00\"}", "line 3: is not valid JSON"},
			refusal{
				kind, `{"a":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`,
				"line 3: is not valid JSON: invalid character '[' exceeded max depth",
			})
	}
	for field, reason := range map[string]string{
		`"session_id":7`: "session_id must be a text", `"session_id":"a b"`: "session_id must be 1 to 128",
		`"session_id":""`: "session_id is required",
		`"session_id":"` + strings.Repeat("x", 129) + `"`: "session_id must be 1 to 128", `"session_id":null`: "session_id is required",
	} {
		all = append(all, refusal{activity.SessionReplays, `{` + field + `}`, "line 3: " + reason},
			refusal{activity.SessionEvents, `{"type":"click",` + field + `}`, "line 3: " + reason})
	}
	for field, reason := range map[string]string{
		`"start_time":"yesterday"`: "start_time must be a time", `"start_time":1700000000`: "start_time must be a text",
		`"end_time":"2026-13-01 00:00:00"`:    "end_time must be a time",
		`"start_time":"1969-01-01T00:00:00Z"`: "start_time must be a time", `"start_time":"9999-01-01T00:00:00Z"`: "start_time must be a time",
		`"last_activity_at":{}`: "last_activity_at must be a text", `"version":-1`: "version must be a number from 0 to 4294967295",
		`"version":4294967296`: "version must be a number",
		`"duration_ms":"12"`:   "duration_ms must be a number", `"duration_ms":1e300`: "duration_ms must be a number",
		`"duration_ms":9223372036854775808`:   "duration_ms must be a number from 0 to 9223372036854775807",
		`"duration_ms":9.3e18`:                "duration_ms must be a number",
		`"duration_ms":9223372036854775807.5`: "duration_ms must be a number",
		`"page_views":[]`:                     "page_views must be a number",
		`"status":"paused"`:                   "status must be active or ended", `"visitor_is_new":2`: "visitor_is_new must be 0 or 1",
		`"trace_ids":"x"`: "trace_ids must be a list",
		`"trace_ids":[1]`: "trace_ids must be a list of texts", `"user_traits":[]`: "user_traits must be an object",
		`"resource_attributes":"x"`: "resource_attributes must be an object",
		`"utm_source":{}`:           "utm_source must be a text", `"url_initial":true`: "url_initial must be a text",
	} {
		all = append(all, refusal{activity.SessionReplays, `{"session_id":"s",` + field + `}`, "line 3: " + reason})
	}
	for field, reason := range map[string]string{
		`"type":"scroll"`: "type must be navigation, click", `"type":"Click"`: "type must be", `"x":1`: "type must be",
		`"type":"click","timestamp":"2026"`: "timestamp must be a time",
		`"type":"click","seq":1e10`:         "seq must be a number from 0 to 4294967295",
		`"type":"click","net_status":70000`: "net_status must be a number from 0 to 65535",
		`"type":"click","attributes":1`:     "attributes must be an object", `"type":"click","message":["x"]`: "message must be a text",
		`"type":"click","net_duration_ms":-1`: "net_duration_ms must",
		`"type":"click","trace_id":5`:         "trace_id must be a text",
	} {
		all = append(all, refusal{activity.SessionEvents, `{"session_id":"s",` + field + `}`, "line 3: " + reason})
	}
	for _, text := range []string{`\ud800`, `\uDFFF`, `a\ud83dx`, `\ud83d\ud83d`, `\ude00\ud83d`, `\\\ud800`, `\u0041\ud83d\u0041`} {
		for _, line := range []string{
			`{"name":"` + text + `"}`, `{"name":"n","attributes":{"a":["` + text + `"]}}`,
			`{"name":"n","` + text + `":1}`,
		} {
			all = append(all, refusal{activity.ProductEvents, line, `line 3: is not valid JSON: bad \u escape`})
		}
	}
	for _, c := range all {
		var set blocks.Set
		if _, err := activity.Walk(t.Context(), c.kind, []byte(ok[c.kind]), stamp(), &set); err != nil {
			t.Fatal(err)
		}
		_, err := activity.Walk(t.Context(), c.kind, []byte(ok[c.kind]+"\r\n\n"+c.line+"\n"+ok[c.kind]), stamp(), &set)
		var bad *activity.Error
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s line %.60q: %v, want %q", c.kind, c.line, err, c.want)
		}
		if n := len(rows(t, &set)); n != 1 {
			t.Errorf("%s line %.60q left %d rows, want the 1 of before", c.kind, c.line, n)
		}
	}
	t.Logf("%d refusals", len(all))
}

func TestRejectedLines(t *testing.T) {
	const old, ahead = "2026-02-08 11:59:59", "2026-03-11 12:00:01"
	for _, c := range []struct {
		kind       activity.Kind
		line, want string
	}{
		{activity.ProductEvents, `{}`, "name must be 1 to 128 bytes long"},
		{activity.ProductEvents, `{"name":""}`, "name must be 1 to 128 bytes long"},
		{activity.ProductEvents, `{"name":"` + strings.Repeat("é", 65) + `"}`, "name must be 1 to 128 bytes long"},
		{activity.ProductEvents, `{"name":7}`, "name must be a text"},
		{activity.ProductEvents, `{"name":"$pageview"}`, "name must not begin with $, which is reserved"},
		{activity.ProductEvents, `{"name":"n","source":"browser"}`, "source must be server or mobile"},
		{activity.ProductEvents, `{"name":"n","timestamp":"soon"}`, "timestamp must be a time"},
		{activity.ProductEvents, `{"name":"n","timestamp":1700000000}`, "timestamp must be a text"},
		{activity.ProductEvents, `{"name":"n","timestamp":"` + old + `"}`, "timestamp is more than 30 days back"},
		{activity.ProductEvents, `{"name":"n","timestamp":"` + ahead + `"}`, "timestamp is more than 24 hours ahead"},
		{activity.ProductEvents, `{"name":"n","user_id":12}`, "user_id must be a text"},
		{activity.ProductEvents, `{"name":"n","attributes":[]}`, "attributes must be an object"},
		{activity.SessionReplays, `{"session_id":"s","start_time":"` + old + `"}`, "start_time is more than 30 days back"},
		{activity.SessionReplays, `{"session_id":"s","start_time":"` + ahead + `"}`, "start_time is more than 24 hours ahead"},
		{
			activity.SessionReplays, `{"session_id":"s","start_time":"2026-03-10 11:00:00","end_time":"` + old + `"}`,
			"end_time is more than 30 days back",
		},
		{activity.SessionReplays, `{"session_id":"s","end_time":"2030-01-01T00:00:00Z"}`, "end_time is more than 24 hours ahead"},
		{
			activity.SessionReplays, `{"session_id":"s","start_time":"2026-03-10 11:00:00","last_activity_at":"` + ahead + `"}`,
			"last_activity_at is more than 24 hours ahead",
		},
		{activity.SessionEvents, `{"session_id":"s","type":"click","timestamp":"` + old + `"}`, "timestamp is more than 30 days back"},
		{activity.SessionEvents, `{"session_id":"s","type":"click","timestamp":"` + ahead + `"}`, "timestamp is more than 24 hours ahead"},
	} {
		good := map[activity.Kind]string{
			activity.SessionReplays: `{"session_id":"s","start_time":"2026-02-08 12:00:00","end_time":"2026-03-11 12:00:00"}`,
			activity.SessionEvents:  `{"session_id":"s","type":"click","timestamp":"2026-03-11 12:00:00"}`,
			activity.ProductEvents:  `{"name":"n","timestamp":"2026-02-08 12:00:00"}`,
		}[c.kind]
		_, result, err := walk(t, c.kind, stamp(), good, c.line, good, c.line)
		if err != nil || result.Accepted != 2 || result.Rejected != 2 || len(result.Reasons) != 1 || len(result.Warnings) != 0 {
			t.Errorf("%s: %+v, %v", c.line, result, err)
			continue
		}
		if got := result.Reasons[0].String(); !strings.HasPrefix(got, "line 2: "+c.want) || !strings.HasSuffix(got, "(2 times in this request)") {
			t.Errorf("%s: reason %q, want %q", c.line, got, c.want)
		}
	}
}

func TestCuts(t *testing.T) {
	quoted := func(n int) string { return `"` + strings.Repeat("é", n) + `"` } // two bytes each
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%03d":"v"`, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	for _, c := range []struct {
		kind          activity.Kind
		fields        string
		column        string
		bytes         int
		warning       string
		entries, mark int
	}{
		{
			kind: activity.SessionReplays, fields: `"browser_name":` + quoted(65), column: "BrowserName", bytes: 128,
			warning: "browser_name is longer than 128 bytes",
		},
		{
			kind: activity.SessionReplays, fields: `"browser_name":"a` + quoted(65)[1:], column: "BrowserName", bytes: 127,
			warning: "browser_name is longer than 128 bytes",
		},
		{
			kind: activity.SessionReplays, fields: `"user_agent":` + quoted(600), column: "UserAgent", bytes: 1024,
			warning: "user_agent is longer than 1024 bytes",
		},
		{
			kind: activity.SessionReplays, fields: `"user_traits":` + many(30), column: "UserTraits", entries: 25, mark: 6,
			warning: "user_traits has more than 24 entries",
		},
		{
			kind: activity.SessionEvents, fields: `"target_text":` + quoted(121), column: "TargetText", bytes: 240,
			warning: "target_text is longer than 120 characters",
		},
		{
			kind: activity.SessionEvents, fields: `"error_stack":` + quoted(4001), column: "ErrorStack", bytes: 8000,
			warning: "error_stack is longer than 4000 characters",
		},
		{
			kind: activity.SessionEvents, fields: `"message":` + quoted(513), column: "Message", bytes: 1024,
			warning: "message is longer than 1024 bytes",
		},
		{
			kind: activity.SessionEvents, fields: `"type":"custom","message":` + quoted(65), column: "Message", bytes: 130,
			warning: "message is longer than 128 bytes, the most that the name of a product event may have",
		},
		{
			kind: activity.SessionEvents, fields: `"type":"custom","message":"$foo"`, column: "Message", bytes: 4,
			warning: "message must not begin with $, which is reserved, to name a product event: the event is on the timeline only",
		},
		{
			kind: activity.SessionEvents, fields: `"type":"custom","message":"$screen"`, column: "Message", bytes: 7,
			warning: "message must not begin with $",
		},
		{
			kind: activity.SessionEvents, fields: `"type":"custom","message":""`, column: "Message", bytes: 0,
			warning: "message is empty, and is the name of the product event: the event is on the timeline only",
		},
		{kind: activity.SessionEvents, fields: `"type":"custom"`, column: "Message", bytes: 0, warning: "message is empty"},
		{
			kind: activity.SessionEvents, fields: `"attributes":` + many(33), column: "Attributes", entries: 33, mark: 1,
			warning: "attributes has more than 32 entries",
		},
		{
			kind: activity.SessionEvents, fields: `"trace_id":"xyz"`, column: "TraceId", bytes: 0,
			warning: "trace_id must be 32 hexadecimal digits",
		},
		{
			kind: activity.ProductEvents, fields: `"user_id":` + quoted(129), column: "UserId", bytes: 256,
			warning: "user_id is longer than 256 bytes",
		},
		{
			kind: activity.ProductEvents, fields: `"service_name":` + quoted(65), column: "ServiceName", bytes: 128,
			warning: "service_name is longer",
		},
		{kind: activity.ProductEvents, fields: `"url":` + quoted(1025), column: "Url", bytes: 2048, warning: "url is longer than 2048 bytes"},
		{
			kind: activity.ProductEvents, fields: `"page_path":` + quoted(513), column: "PagePath", bytes: 1024,
			warning: "page_path is longer than 1024 bytes",
		},
		{
			kind: activity.ProductEvents, fields: `"attributes":{"` + strings.Repeat("k", 65) + `":"v","":"v","a":"b"}`, column: "Attributes",
			entries: 2, mark: 2, warning: "attributes has more than 32 entries, or keys",
		},
	} {
		base := map[activity.Kind]string{
			activity.SessionReplays: `"session_id":"s","start_time":"2026-03-10 11:00:00"`,
			activity.SessionEvents:  `"session_id":"s","type":"click","timestamp":"2026-03-10 11:00:00"`,
			activity.ProductEvents:  `"name":"n"`,
		}[c.kind]
		got, result, err := walk(t, c.kind, stamp(), `{`+base+`,`+c.fields+`}`)
		if err != nil || len(result.Warnings) != 1 || !strings.HasPrefix(result.Warnings[0].String(), "line 1: "+c.warning) {
			t.Errorf("%.40s: warnings %v, %v; want %q", c.fields, result.Warnings, err, c.warning)
			continue
		}
		if len(got) != 1 {
			t.Errorf("%.40s: %d rows; a name that is too long makes no product event", c.fields, len(got))
		}
		switch v := got[0][c.column].(type) {
		case string:
			if len(v) != c.bytes || strings.Contains(v, "\uFFFD") || strings.ToValidUTF8(v, "") != v {
				t.Errorf("%.40s: %d bytes, want %d", c.fields, len(v), c.bytes)
			}
		case map[string]string:
			if len(v) != c.entries || v["svc_dropped_attributes_count"] != fmt.Sprint(c.mark) {
				t.Errorf("%.40s: %v", c.fields, v)
			}
		}
	}
	got, _, err := walk(t, activity.ProductEvents, stamp(), `{"name":"n","attributes":{"k":`+quoted(513)+`}}`)
	if v := got[0]["Attributes"].(map[string]string)["k"]; err != nil || len(v) > 1024 || len(v) < 1020 || !strings.HasSuffix(v, "é…") {
		t.Errorf("a long value became %d bytes that end with %q, %v", len(v), v[max(0, len(v)-10):], err)
	}
}

func TestRowsAreBounded(t *testing.T) {
	s := stamp()
	s.MaxBytes = 64 << 10
	var set blocks.Set
	if _, err := activity.Walk(t.Context(), activity.ProductEvents, bytes.Repeat([]byte(`{"name":"n"}`+"\n"), 10_000), s,
		&set); !errors.Is(err, otlp.ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	if n := len(rows(t, &set)); n != 0 {
		t.Errorf("%d rows are left", n)
	}
}

func TestKindsThatAreNoLines(t *testing.T) {
	var set blocks.Set
	for _, kind := range []activity.Kind{0, activity.SessionReplayEvents, 99} {
		if _, err := activity.Walk(t.Context(), kind, []byte(`{}`), stamp(), &set); err == nil {
			t.Errorf("%s was walked", kind)
		}
	}
}
