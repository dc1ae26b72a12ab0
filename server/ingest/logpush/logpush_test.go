package logpush_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/logpush"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native/nativetest"
)

// received is the arrival time of all requests in these tests.
var received = time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)

var source = logpush.Source{ServiceName: "cloudflare/shop.example", ZoneName: "shop.example"}

const limit = 64 << 20

func convert(t testing.TB, body string) (*collogs.ExportLogsServiceRequest, activity.Result, error) {
	t.Helper()
	lines, err := logpush.Convert([]byte(body), source, received.UnixNano(), limit)
	m := &collogs.ExportLogsServiceRequest{}
	if err := proto.Unmarshal(lines.Request, m); err != nil {
		t.Fatalf("the request is not OTLP: %v", err)
	}
	return m, lines.Result, err
}

func records(m *collogs.ExportLogsServiceRequest) []*logspb.LogRecord {
	if len(m.GetResourceLogs()) == 0 {
		return nil
	}
	return m.ResourceLogs[0].ScopeLogs[0].LogRecords
}

// rows returns the warehouse rows of a request.
func rows(t testing.TB, request []byte) []map[string]any {
	t.Helper()
	var set blocks.Set
	result, err := otlp.Walk(otlp.Logs, request, &otlp.Stamp{
		Origin:           otlp.Origin{Org: "org_one", KeyType: otlp.KeyConnector},
		ReceivedUnixNano: received.UnixNano(),
	}, &set)
	if err != nil || result.Rejected > 0 {
		t.Fatalf("walk: %+v %v", result, err)
	}
	for table := range set.Tables() {
		if table.Name == "logs" {
			return nativetest.Rows(t, table)
		}
	}
	return nil
}

// one converts a line that must be accepted.
func one(t *testing.T, line string) map[string]any {
	t.Helper()
	lines, err := logpush.Convert([]byte(line), source, received.UnixNano(), limit)
	if err != nil || lines.Result.Accepted != 1 {
		t.Fatalf("%s: %+v %v", line, lines.Result, err)
	}
	return rows(t, lines.Request)[0]
}

// TestRows compares the rows of realistic records with the expected ones.
func TestRows(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("testdata", "http_requests.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := logpush.Convert(body, source, received.UnixNano(), limit)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(activity.Result{Accepted: 4}, lines.Result); d != "" {
		t.Errorf("result (-want +got):\n%s", d)
	}
	got, err := json.MarshalIndent(rows(t, lines.Request), "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "rows.golden.json", string(got)+"\n")
}

func TestSeverity(t *testing.T) {
	for status, want := range map[string]string{
		"100": "INFO", "200": "INFO", "399": "INFO", "400": "WARN", "404": "WARN", "499": "WARN", "500": "ERROR", "522": "ERROR", "999": "ERROR",
		`"503"`: "ERROR", "0": "INFO", "null": "INFO", `""`: "INFO",
	} {
		got := one(t, `{"RayID":"1","EdgeStartTimestamp":1773143999,"EdgeResponseStatus":`+status+`}`)
		if got["SeverityText"] != want {
			t.Errorf("status %s: %s, want %s", status, got["SeverityText"], want)
		}
	}
}

func TestTime(t *testing.T) {
	want := time.Date(2026, 3, 10, 11, 59, 59, 0, time.UTC)
	for value, want := range map[string]time.Time{
		`"2026-03-10T11:59:59Z"`:           want,
		`"2026-03-10T12:59:59+01:00"`:      want,
		`"2026-03-10T11:59:59.000000001Z"`: want.Add(1),
		`"2026-03-10T11:59:59.25Z"`:        want.Add(250 * time.Millisecond),
		`1773143999`:                       want,
		`"1773143999"`:                     want,
		`1773143999.5`:                     want.Add(time.Second / 2),
		`1773143999.0000000019`:            want.Add(1),
		`1773143999123`:                    want.Add(123 * time.Millisecond),
		`1773143999123456`:                 want.Add(123456 * time.Microsecond),
		`1773143999123456789`:              want.Add(123456789),
	} {
		for _, field := range []string{"EdgeStartTimestamp", "EdgeEndTimestamp"} {
			m, _, err := convert(t, `{"`+field+`":`+value+`}`)
			if err != nil || len(records(m)) != 1 || records(m)[0].TimeUnixNano != uint64(want.UnixNano()) {
				t.Errorf("%s %s: %v %v, want %d", field, value, records(m), err, want.UnixNano())
			}
		}
	}
	m, _, _ := convert(t, `{"EdgeEndTimestamp":1773143999,"EdgeStartTimestamp":1773143990}`)
	if got := records(m)[0].TimeUnixNano; got != 1773143990e9 {
		t.Errorf("with both, the record is of %d", got)
	}
	m, result, _ := convert(t, `{"RayID":"1","EdgeStartTimestamp":""}`)
	if got := records(m)[0].TimeUnixNano; got != uint64(received.UnixNano()) || len(result.Warnings) != 1 {
		t.Errorf("without a time, the record is of %d, result %+v", got, result)
	}
}

// TestRejected covers JSON lines that cannot be stored. Only the line itself is dropped.
func TestRejected(t *testing.T) {
	const good = `{"RayID":"1","EdgeStartTimestamp":1773143999}`
	for line, want := range map[string]activity.Note{
		`{}`: {Line: 2, Problem: "has none of the fields of an http_requests record", Count: 1},
		`{"content":"tests"}`: {
			Line: 2, Problem: "has none of the fields of an http_requests record", Count: 1,
		},
		`{"EdgeStartTimestamp":true}`: {
			Line: 2, Field: "EdgeStartTimestamp",
			Problem: "must be a time: RFC 3339, or Unix seconds or nanoseconds", Count: 1,
		},
		`{"EdgeStartTimestamp":"yesterday"}`: {
			Line: 2, Field: "EdgeStartTimestamp",
			Problem: "must be a time: RFC 3339, or Unix seconds or nanoseconds", Count: 1,
		},
		`{"EdgeStartTimestamp":{"t":1}}`: {
			Line: 2, Field: "EdgeStartTimestamp",
			Problem: "must be a time: RFC 3339, or Unix seconds or nanoseconds", Count: 1,
		},
		`{"EdgeStartTimestamp":-1}`: {
			Line: 2, Field: "EdgeStartTimestamp",
			Problem: "must be a time: RFC 3339, or Unix seconds or nanoseconds", Count: 1,
		},
		`{"EdgeStartTimestamp":1e9}`: {
			Line: 2, Field: "EdgeStartTimestamp",
			Problem: "must be a time: RFC 3339, or Unix seconds or nanoseconds", Count: 1,
		},
		`{"EdgeStartTimestamp":99999999999999999999}`: {
			Line: 2, Field: "EdgeStartTimestamp",
			Problem: "must be a time: RFC 3339, or Unix seconds or nanoseconds", Count: 1,
		},
		`{"EdgeEndTimestamp":"9999-01-01T00:00:00Z"}`: {
			Line: 2, Field: "EdgeEndTimestamp",
			Problem: "must be a time: RFC 3339, or Unix seconds or nanoseconds", Count: 1,
		},
		`{"EdgeStartTimestamp":"2026-02-08T11:59:59Z"}`: {
			Line: 2, Field: "EdgeStartTimestamp",
			Problem: "is more than 30 days back, which is the retention", Count: 1,
		},
		`{"EdgeStartTimestamp":"2026-03-11T12:00:01Z"}`: {
			Line: 2, Field: "EdgeStartTimestamp", Problem: "is more than 24 hours ahead",
			Count: 1,
		},
		`{"RayID":"1","EdgeResponseStatus":"OK"}`: {
			Line: 2, Field: "EdgeResponseStatus", Problem: "must be an HTTP status",
			Count: 1,
		},
		`{"RayID":"1","EdgeResponseStatus":1000}`: {
			Line: 2, Field: "EdgeResponseStatus", Problem: "must be an HTTP status",
			Count: 1,
		},
		`{"RayID":"1","EdgeResponseStatus":200.5}`: {
			Line: 2, Field: "EdgeResponseStatus", Problem: "must be an HTTP status",
			Count: 1,
		},
		`{"EdgeStartTimestamp":true,"EdgeResponseStatus":"X"}`: {
			Line: 2, Field: "EdgeStartTimestamp",
			Problem: "must be a time: RFC 3339, or Unix seconds or nanoseconds", Count: 1,
		},
	} {
		m, result, err := convert(t, good+"\n"+line+"\n"+good)
		if err != nil || len(records(m)) != 2 {
			t.Errorf("%s: %d records, %v", line, len(records(m)), err)
		}
		if d := cmp.Diff(activity.Result{Accepted: 2, Rejected: 1, Reasons: []activity.Note{want}}, result); d != "" {
			t.Errorf("%s (-want +got):\n%s", line, d)
		}
	}
	_, result, _ := convert(t, strings.Repeat("{}\n", 5))
	if result.Rejected != 5 || len(result.Reasons) != 1 || result.Reasons[0].Count != 5 {
		t.Errorf("five of a kind: %+v", result)
	}
}

// TestRefused covers lines that are not JSON objects. The request is refused, and the error names the line.
func TestRefused(t *testing.T) {
	const good = `{"RayID":"1","EdgeStartTimestamp":1773143999}` + "\n"
	for line, reason := range map[string]string{
		`{`:                     "is not valid JSON: unexpected end of JSON input",
		`{"RayID":}`:            "is not valid JSON: invalid character '}' looking for beginning of value",
		`{"RayID":"1"}{}`:       "is not valid JSON: invalid character '{' after top-level value",
		`{"RayID":"1",}`:        "is not valid JSON: invalid character '}' looking for beginning of object key string",
		`{"RayID":"\x"}`:        `is not valid JSON: invalid character 'x' in string escape code`,
		`[]`:                    "must be a JSON object: the body is NDJSON, one object to a line",
		`[{"RayID":"1"}]`:       "must be a JSON object: the body is NDJSON, one object to a line",
		`null`:                  "must be a JSON object: the body is NDJSON, one object to a line",
		`"91e8a3f0fb2d9a10"`:    "must be a JSON object: the body is NDJSON, one object to a line",
		"91e8a3f0fb2d9a10\t200": "must be a JSON object: the body is NDJSON, one object to a line",
		"\x1f\x8b\x08":          "must be a JSON object: the body is NDJSON, one object to a line",
	} {
		lines, err := logpush.Convert([]byte(good+"\r\n"+line+"\n"+good), source, received.UnixNano(), limit)
		if d := cmp.Diff(&activity.Error{Line: 3, Reason: reason}, err, cmpopts.EquateEmpty()); d != "" || len(lines.Request) > 0 {
			t.Errorf("%q (-want +got):\n%s", line, d)
		}
	}
	deep := `{"RayID":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}"
	if _, err := logpush.Convert([]byte(deep), source, received.UnixNano(), limit); err == nil {
		t.Error("20,000 levels were accepted")
	}
}

func TestPing(t *testing.T) {
	for _, body := range []string{`{"content":"tests"}`, " {\"content\" : \"tests\"}\n", "", "\n \r\n"} {
		lines, err := logpush.Convert([]byte(body), source, received.UnixNano(), limit)
		if d := cmp.Diff(logpush.Lines{}, lines); d != "" || err != nil {
			t.Errorf("%q: %v %s", body, err, d)
		}
	}
}

func TestTooLarge(t *testing.T) {
	line := `{"RayID":"1","x":"` + strings.Repeat("x", 1000) + "\"}\n"
	if _, err := logpush.Convert([]byte(strings.Repeat(line, 100)), source, received.UnixNano(),
		50_000); err != otlp.ErrTooLarge { //nolint:errorlint // Convert promises the bare value.
		t.Errorf("error %v", err)
	}
}
