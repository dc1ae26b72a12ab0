package ingest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/logpush"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

const (
	logpushURL    = "/v1/logpush/cloudflare/http_requests/"
	goodConnector = "cfp_one?secret=svc_cf_one"
)

// connectors is a lookup with two connectors of two organizations. It records the outcome of pushes.
type connectors struct {
	mu       sync.Mutex
	problems []string
}

func (*connectors) AuthenticateConnector(_ context.Context, id, secret string) (ingest.Connector, error) {
	switch {
	case id == "cfp_one" && secret == "svc_cf_one":
		return ingest.Connector{Org: org, ID: id, Source: logpush.Source{ServiceName: "edge", ZoneName: "shop.example"}}, nil
	case id == "cfp_two" && secret == "svc_cf_two":
		return ingest.Connector{Org: "org_two", ID: id, Source: logpush.Source{ServiceName: "other", ZoneName: "other.example"}}, nil
	case id == "cfp_inactive" && secret == "svc_cf_inactive":
		return ingest.Connector{Org: "org_inactive", ID: id, Source: logpush.Source{ServiceName: "edge", ZoneName: "shop.example"}}, nil
	case secret == outageKey:
		return ingest.Connector{}, errors.New("database password is hunter2")
	default:
		return ingest.Connector{}, apierr.New(apierr.IngestUnauthorized, "There is no such connector.")
	}
}

func (c *connectors) Delivered(n ingest.Connector, problem string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.problems = append(c.problems, n.ID+": "+problem)
}

func pushed(path string) string {
	return `{"ClientRequestMethod":"GET","ClientRequestURI":"` + path + `","EdgeResponseStatus":503,"EdgeStartTimestamp":"` +
		time.Now().UTC().Format(time.RFC3339) + `"}` + "\n"
}

// queuedLogs walks every queued record again and returns the rows of table logs.
func (f *fixture) queuedLogs(t *testing.T) []map[string]any {
	t.Helper()
	d, err := ingest.NewDecoder()
	if err != nil {
		t.Fatal(err)
	}
	f.queue.mu.Lock()
	defer f.queue.mu.Unlock()
	var set blocks.Set
	for _, rec := range f.queue.records {
		if err := d.DecodeRecord(rec.Header, rec.Payload, &set); err != nil {
			t.Fatal(err)
		}
	}
	for table := range set.Tables() {
		if table.Name == "logs" {
			return nativetest.Rows(t, table)
		}
	}
	return nil
}

func TestLogpush(t *testing.T) {
	many := strings.Repeat(pushed("/many"), 5000) // More than packFrom.
	for name, tc := range map[string]struct {
		url     string
		body    []byte
		headers []string
		answer  string
		rows    int
		problem []string
	}{
		"lines": {goodConnector, []byte(pushed("/a") + pushed("/b")), nil, `{"accepted":2}`, 2, []string{"cfp_one: "}},
		"gzip": {
			goodConnector, gzipped(t, []byte(pushed("/a"))),
			[]string{"Content-Encoding", "gzip"},
			`{"accepted":1}`, 1,
			[]string{"cfp_one: "},
		},
		"gzip, not declared": {goodConnector, gzipped(t, []byte(pushed("/a"))), nil, `{"accepted":1}`, 1, []string{"cfp_one: "}},
		"many":               {goodConnector, []byte(many), nil, `{"accepted":5000}`, 5000, []string{"cfp_one: "}},
		"many, gzip":         {goodConnector, gzipped(t, []byte(many)), nil, `{"accepted":5000}`, 5000, []string{"cfp_one: "}},
		"secret as bearer":   {"cfp_one", []byte(pushed("/a")), bearer("svc_cf_one"), `{"accepted":1}`, 1, []string{"cfp_one: "}},
		"secret as key": {
			"cfp_one", []byte(pushed("/a")),
			[]string{"x-svc-ingest-key", "svc_cf_one"},
			`{"accepted":1}`, 1,
			[]string{"cfp_one: "},
		},
		"the query counts": {goodConnector, []byte(pushed("/a")), bearer(goodKey), `{"accepted":1}`, 1, []string{"cfp_one: "}},
		"ping":             {goodConnector, []byte(`{"content":"tests"}`), nil, `{"accepted":0}`, 0, []string{"cfp_one: "}},
		"ping, gzip": {
			goodConnector, gzipped(t, []byte(`{"content":"tests"}`)),
			[]string{"Content-Encoding", "gzip"},
			`{"accepted":0}`,
			0,
			[]string{"cfp_one: "},
		},
		"test key": {
			"cfp_any?secret=SVC_TEST", []byte(pushed("/a") + "{}"), nil,
			`{"accepted":0,"rejected":1,"reasons":["line 2: has none of the fields of an http_requests record"]}`, 0, nil,
		},
		"test key as bearer":  {"cfp_any", []byte(pushed("/a")), bearer(ingest.TestKey), `{"accepted":0}`, 0, nil},
		"other query members": {"cfp_one?a=b;c&secret=svc_cf_one&tags=x", []byte(pushed("/a")), nil, `{"accepted":1}`, 1, []string{"cfp_one: "}},
		"one of two": {
			goodConnector, []byte(pushed("/a") + "{}"), nil,
			`{"accepted":1,"rejected":1,"reasons":["line 2: has none of the fields of an http_requests record"]}`, 1,
			[]string{"cfp_one: 1 of 2 lines were not stored. The first problem: line 2: has none of the fields of an http_requests record"},
		},
		"long value": {
			goodConnector, []byte(`{"RayID":"1","EdgeStartTimestamp":"` + time.Now().UTC().Format(time.RFC3339) + `","ClientRequestUserAgent":"` +
				longText(70_000) + `"}`), nil,
			`{"accepted":1,"warnings":["a value is longer than 65536 bytes as text and was cut: it ends with …[cut]"]}`, 1,
			[]string{"cfp_one: "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, ingest.Limits{}, nil)
			res := f.do("POST", logpushURL+tc.url, tc.body, tc.headers...)
			if got := text(t, res.Body); res.StatusCode != 200 || got != tc.answer {
				t.Errorf("%d %s, want %s", res.StatusCode, got, tc.answer)
			}
			rows := f.queuedLogs(t)
			if len(rows) != tc.rows {
				t.Fatalf("%d rows are read back, want %d", len(rows), tc.rows)
			}
			if _, n := f.queue.count(); n != tc.rows {
				t.Errorf("%d rows were stored, want %d", n, tc.rows)
			}
			for _, row := range rows {
				resource := row["ResourceAttributes"].(map[string]string)
				if row["OrgId"] != org || row["ServiceName"] != "edge" || resource["svc_ingest_key_type"] != "connector" ||
					resource["svc_ingest_key_id"] != "" {
					t.Errorf("row %v", row)
				}
			}
			if d := cmp.Diff(tc.problem, f.connectors.problems); d != "" {
				t.Errorf("deliveries (-want +got):\n%s", d)
			}
		})
	}
}

// TestLogpushCredentials checks that the answer does not distinguish an unknown id from a wrong secret, and that both must belong
// to one connector.
func TestLogpushCredentials(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	var answers []string
	for _, url := range []string{
		"cfp_none?secret=svc_cf_one", "cfp_one?secret=svc_cf_none", "cfp_one?secret=svc_cf_two", "cfp_two?secret=svc_cf_one",
		"cfp_one?secret=" + goodKey,
	} {
		res := f.do("POST", logpushURL+url, []byte(pushed("/a")))
		answers = append(answers, refused(t, res, apierr.IngestUnauthorized).Message)
	}
	for _, a := range answers {
		if a != answers[0] || strings.Contains(a, "svc_cf_") {
			t.Errorf("%q, %q", a, answers[0])
		}
	}
	for _, headers := range [][]string{nil, bearer(""), {"Content-Type", "application/x-ndjson"}} {
		if e := refused(t, f.do("POST", logpushURL+"cfp_one", nil, headers...), apierr.IngestUnauthorized); !strings.Contains(e.Message,
			"No secret was sent") {
			t.Errorf("message %q", e.Message)
		}
	}
	refused(t, f.do("POST", logpushURL+"cfp_one", []byte(pushed("/a")), bearer(goodKey)...), apierr.IngestUnauthorized)
	refused(t, f.do("POST", "/v1/logs", wire(t, logRecords()), bearer("svc_cf_one")...), apierr.IngestUnauthorized)
	if n, _ := f.queue.count(); n != 0 || len(f.connectors.problems) != 0 {
		t.Errorf("%d records, deliveries %q", n, f.connectors.problems)
	}
}

// TestLogpushSecretIsNowhere makes pushes fail in every stage, and searches logs, answers, metrics and recorded problems for the
// secret.
func TestLogpushSecretIsNowhere(t *testing.T) {
	const secret = "svc_cf_one"
	f := newFixture(t, ingest.Limits{Body: 8 << 10}, nil)
	send := func(body string, url string) {
		res := f.do("POST", logpushURL+url, []byte(body), "Content-Type", "application/x-ndjson")
		if got := text(t, res.Body); strings.Contains(got, secret) || strings.Contains(got, outageKey) || strings.Contains(got, "hunter2") {
			t.Errorf("answer %s", got)
		}
		for name, values := range res.Header {
			if strings.Contains(strings.Join(values, " "), secret) {
				t.Errorf("header %s: %s", name, values)
			}
		}
	}
	send(pushed("/a"), goodConnector)
	send("{", goodConnector)
	send(longText(9<<10), goodConnector)
	send(pushed("/a"), "cfp_two?secret="+secret)
	send(pushed("/a"), "cfp_one?secret="+outageKey)
	send(pushed("/a"), "a/b?secret="+secret)
	f.queue.fail(errors.New("disk full"))
	send(pushed("/a"), goodConnector)
	if log := f.log.String(); strings.Contains(log, secret) || strings.Contains(log, outageKey) ||
		!strings.Contains(log, "ingest request failed") {
		t.Errorf("log:\n%s", log)
	}
	if strings.Contains(strings.Join(f.connectors.problems, " "), secret) || len(f.connectors.problems) != 4 {
		t.Errorf("deliveries %q", f.connectors.problems)
	}
	all, err := f.reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if strings.Contains(m.String(), secret) {
			t.Errorf("metric %s", m)
		}
	}
}

// ofKeys reports whether only keys have the check. The plan's check is at the same place of the same code, see TestPlanLimits.
func ofKeys(check string) bool { return check == "signal" || check == "key's rate" || check == "plan" }

// TestLogpushOrderOfChecks does the same as TestOrderOfChecks for a connector.
func TestLogpushOrderOfChecks(t *testing.T) {
	all := faults()
	for i, first := range all {
		for j := i; j < len(all); j++ {
			second := all[j]
			if i != j && first.group == second.group || ofKeys(first.name) || ofKeys(second.name) {
				continue
			}
			t.Run(first.name+" before "+second.name, func(t *testing.T) {
				b := broken{
					situation: situation{key: "svc_cf_one"}, method: "POST", path: logpushURL + "cfp_one", media: "application/x-ndjson",
					payload: []byte(pushed("/a")),
				}
				second.apply(&b)
				first.apply(&b)
				if b.media == "text/plain" {
					b.media = "application/xml" // Lines may be plain text.
				}
				f, res := b.send(t)
				e := refused(t, res, first.tag)
				if strings.Contains(e.Message, "/secret") || strings.Contains(e.Message, "hunter2") {
					t.Errorf("message %q shows an inner error", e.Message)
				}
				if n, _ := f.queue.count(); n != 0 {
					t.Errorf("%d records were written", n)
				}
			})
		}
	}
}

// TestLogpushCounted checks that pushes are counted as logs, with a separate door.
func TestLogpushCounted(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	f.do("POST", logpushURL+goodConnector, []byte(pushed("/a")+pushed("/b")+"{}"))
	f.do("POST", logpushURL+goodConnector, []byte("["))
	f.queue.fail(queue.ErrOwnerFull)
	f.do("POST", logpushURL+goodConnector, []byte(pushed("/c")))
	for _, c := range []struct {
		name, labels string
		want         float64
	}{
		{"svc_ingest_requests_total", "logpush logs ok", 1},
		{"svc_ingest_requests_total", "logpush logs @svc/ingest/BadRequest", 1},
		{"svc_ingest_requests_total", "logpush logs @svc/ingest/OrgQueueThrottled", 1},
		{"svc_ingest_request_seconds", "logpush logs", 3},
		{"svc_ingest_request_seconds", "logpush traces", -1},
		{"svc_ingest_items_total", "accepted logs", 2},
		{"svc_ingest_items_total", "rejected logs", 1},
	} {
		if got := f.metric(t, c.name, strings.Fields(c.labels)...); got != c.want {
			t.Errorf("%s of %s is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
}
