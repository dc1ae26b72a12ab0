package activity_test

import (
	"bytes"
	"errors"
	"net/http"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// fuzzLines checks every body. Walk returns rows or an *activity.Error, but never both. The rows can be inserted, are within
// their bounds, and are the same the second time.
func fuzzLines(f *testing.F, kind activity.Kind) {
	f.Add([]byte("{\"session_id\":\"s\",\"type\":\"x\xff\"}\n"))
	f.Add([]byte("\r\n \n{}\n[]"))
	f.Add([]byte(`{"session_id":null,"name":{},"type":[],"timestamp":1e999,"start_time":"","attributes":null}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		s := stamp()
		s.MaxBytes = 1 << 20
		var set, again blocks.Set
		result, err := activity.Walk(t.Context(), kind, body, s, &set)
		var bad *activity.Error
		if err != nil && (!errors.As(err, &bad) && !errors.Is(err, otlp.ErrTooLarge) || bad != nil && bad.Line == 0) {
			t.Fatalf("refused with %v", err)
		}
		got := rows(t, &set)
		if len(got) != result.Accepted || err != nil && len(got) > 0 {
			t.Fatalf("%d rows, result %+v, %v", len(got), result, err)
		}
		for _, r := range got {
			for column, v := range r {
				switch v := v.(type) {
				case string:
					if len(v) > 4000 || !utf8.ValidString(v) {
						t.Errorf("%s holds %d bytes: %q", column, len(v), v)
					}
				case map[string]string:
					if len(v) > 70 {
						t.Errorf("%s holds %d entries", column, len(v))
					}
				}
			}
			if id := r["ResourceAttributes"].(map[string]string)["svc_org_id"]; id != "org_one" || r["OrgId"] != "org_one" {
				t.Errorf("stamped with %q and %q", id, r["OrgId"])
			}
		}
		if _, err2 := activity.Walk(t.Context(), kind, body, s, &again); (err == nil) != (err2 == nil) {
			t.Fatalf("%v, then %v", err, err2)
		}
		if !bytes.Equal(encoded(t, &set), encoded(t, &again)) {
			t.Error("the same body gave other rows")
		}
	})
}

func encoded(t *testing.T, set *blocks.Set) []byte {
	t.Helper()
	var b bytes.Buffer
	for table := range set.Tables() {
		if _, err := table.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func FuzzSessionReplays(f *testing.F) {
	f.Add([]byte(`{"session_id":"s_1","start_time":"2026-03-10 11:00:00.250","end_time":null,"version":2,"status":"ended","visitor_is_new":1,"user_traits":{"plan":"pro","n":1},` +
		`"url_initial":"https://shop.example/cart","referrer":"https://www.news.example/","trace_ids":["5b8efff798038103d269b633813fc60c"],"resource_attributes":{"svc_org_id":"x","a":[1, 2]}}`))
	fuzzLines(f, activity.SessionReplays)
}

func FuzzSessionEvents(f *testing.F) {
	f.Add([]byte(`{"session_id":"s_1","timestamp":"2026-03-10 11:00:00.250","seq":7,"type":"network","net_status":503,"net_duration_ms":1.5,"attributes":{"k":"v"}}` + "\n" +
		`{"session_id":"s_1","type":"custom","message":"order placed"}`))
	fuzzLines(f, activity.SessionEvents)
}

func FuzzProductEvents(f *testing.F) {
	f.Add([]byte(`{"name":"order placed","timestamp":"2026-03-10T11:00:00Z","source":"mobile","url":"https://shop.example/a?b=c","attributes":{"total":12.5}}` + "\n" +
		`{"name":"$screen"}` + "\n" + `{"name":"$nope"}`))
	fuzzLines(f, activity.ProductEvents)
}

// FuzzParseChunk: an accepted chunk equals its headers.
func FuzzParseChunk(f *testing.F) {
	f.Add("s_1", "0", "1", "12", "5000")
	f.Add("", "", "", "", "")
	f.Add("a b", "-1", "yes", "4294967296", "1e3")
	f.Fuzz(func(t *testing.T, session, seq, checkpoint, count, duration string) {
		h := http.Header{}
		h.Set("x-svc-session-id", session)
		h.Set("x-svc-chunk-seq", seq)
		h.Set("x-svc-is-checkpoint", checkpoint)
		h.Set("x-svc-event-count", count)
		h.Set("x-svc-duration-ms", duration)
		c, err := activity.ParseChunk(h)
		if err != nil {
			var bad *activity.Error
			if !errors.As(err, &bad) || bad.Field == "" {
				t.Errorf("refused with %v, which names no header", err)
			}
			return
		}
		n, err := strconv.ParseUint(seq, 10, 32)
		if err != nil || uint32(n) != c.Seq || c.SessionID != session || session == "" || len(session) > 128 {
			t.Errorf("%q %q became %+v", session, seq, c)
		}
	})
}
