package e2e

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// extremes are values at the limits of their fields. Each is accepted, so each must pass through the tables and all their views.
// A value that fails there would block the telemetry of all organizations.
func extremes(now int64) map[string][]string {
	const ends = `"-9223372036854775808","9223372036854775807","0"`
	var attributes []string
	for key, values := range map[string][]string{
		"SampleRate": {
			`{"doubleValue":1.7976931348623157e308}`, `{"doubleValue":1e300}`, `{"stringValue":"Infinity"}`,
			`{"stringValue":"NaN"}`, `{"intValue":"9223372036854775807"}`, `{"doubleValue":-1}`,
		},
		"http.response.status_code": {`{"intValue":"9223372036854775807"}`, `{"intValue":"-1"}`, `{"stringValue":"999999999999999999999"}`},
		"n": {
			`{"doubleValue":"NaN"}`, `{"doubleValue":"-Infinity"}`, `{"doubleValue":5e-324}`,
			`{"intValue":"-9223372036854775808"}`, `{"arrayValue":{"values":[{"doubleValue":"Infinity"}]}}`,
		},
		"gen_ai.usage.input_tokens": {`{"intValue":"9223372036854775807"}`, `{"doubleValue":1e308}`, `{"stringValue":"-1e999"}`},
	} {
		for _, v := range values {
			attributes = append(attributes, fmt.Sprintf(`{"key":%q,"value":%s}`, key, v))
		}
	}
	out := map[string][]string{}
	span := func(rest string) {
		out["/v1/traces"] = append(out["/v1/traces"], fmt.Sprintf(
			`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s"}}]},"scopeSpans":[{"spans":[`+
				`{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"n","startTimeUnixNano":"%d",%s}]}]}]}`, now, rest))
	}
	for i, a := range attributes {
		span(fmt.Sprintf(`"kind":%d,"endTimeUnixNano":"%d","status":{"code":2},"attributes":[%s,{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"svc.product_event.name","value":{"stringValue":"e"}}]`,
			i%6, now+int64(i), a))
	}
	for _, end := range []string{
		"0", "1", "9223372036854775807", "9223372036854775808", "18446744073709551615",
		fmt.Sprint(now + int64(23*time.Hour)), fmt.Sprint(now - 1),
	} {
		span(`"kind":3,"endTimeUnixNano":"` + end + `","flags":4294967295,"attributes":[{"key":"server.address","value":{"stringValue":"db"}},{"key":"SampleRate","value":{"doubleValue":1e300}}],` +
			`"events":[{"timeUnixNano":"` + end + `","name":"exception","attributes":[{"key":"exception.type","value":{"stringValue":""}}]}]`)
	}
	for _, state := range []string{"ot=th:ffffffffffffffff", "ot=th:ffffffffffffff", "ot=th:0", "ot=th:" + strings.Repeat("f", 40)} {
		span(`"kind":2,"endTimeUnixNano":"` + fmt.Sprint(now+1) + `","traceState":"` + state + `"`)
	}
	for _, r := range []string{
		`"severityNumber":2147483647`, `"severityNumber":-2147483648`, `"flags":4294967295`,
		`"observedTimeUnixNano":"18446744073709551615"`, `"body":{"doubleValue":"NaN"}`,
	} {
		out["/v1/logs"] = append(out["/v1/logs"],
			fmt.Sprintf(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d",%s}]}]}]}`, now, r))
	}
	metric := func(rest string) {
		out["/v1/metrics"] = append(out["/v1/metrics"], `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"m",`+rest+`}]}]}]}`)
	}
	at := fmt.Sprintf(`"timeUnixNano":"%d"`, now)
	for _, v := range []string{
		`"asDouble":"NaN"`, `"asDouble":"Infinity"`, `"asDouble":"-Infinity"`, `"asDouble":1.7976931348623157e308`,
		`"asDouble":5e-324`, `"asInt":"-9223372036854775808"`, `"asInt":"9223372036854775807"`,
	} {
		for _, start := range []string{"0", "1", fmt.Sprint(now + 1), "18446744073709551615"} {
			point := fmt.Sprintf(`{%s,"startTimeUnixNano":"%s",%s}`, at, start, v)
			metric(`"gauge":{"dataPoints":[` + point + `]}`)
			metric(`"sum":{"aggregationTemporality":2,"isMonotonic":true,"dataPoints":[` + point + `]}`)
			metric(`"sum":{"aggregationTemporality":1,"dataPoints":[` + point + `]}`)
		}
	}
	const most = `"18446744073709551615"`
	for _, sum := range []string{`"NaN"`, `"Infinity"`, `-1.7976931348623157e308`} {
		metric(`"histogram":{"aggregationTemporality":2,"dataPoints":[{` + at + `,"count":` + most + `,"sum":` + sum + `,"min":` + sum +
			`,"max":` + sum + `,"bucketCounts":[` + most + `,` + most + `],"explicitBounds":[1.7976931348623157e308]}]}`)
		for _, scale := range []string{"-2147483648", "2147483647", "20", "-10"} {
			metric(`"exponentialHistogram":{"aggregationTemporality":1,"dataPoints":[{` + at + `,"count":` + most + `,"sum":` + sum + `,"scale":` +
				scale + `,"zeroCount":` + most + `,"zeroThreshold":` + sum +
				`,"positive":{"offset":2147483647,"bucketCounts":[` + most + `]},"negative":{"offset":-2147483648,"bucketCounts":[` + most + `]}}]}`)
		}
		metric(`"summary":{"dataPoints":[{` + at + `,"count":` + most + `,"sum":` + sum + `,"quantileValues":[{"quantile":` + sum + `,"value":` +
			sum + `},{"quantile":-1,"value":0}]}]}`)
	}
	stamp := time.Unix(0, now).UTC().Format(time.RFC3339Nano)
	for _, n := range strings.Split(ends, ",") {
		n = strings.Trim(n, `"`)
		out["/v1/events"] = append(out["/v1/events"], fmt.Sprintf(
			`{"name":"e","user_id":"u","timestamp":%q,"attributes":{"n":%s,"d":1.7976931348623157e308}}`, stamp, n))
		out["/v1/sessionReplays/meta"] = append(out["/v1/sessionReplays/meta"],
			fmt.Sprintf(`{"session_id":"s","start_time":%q,"duration_ms":%s,"page_views":%[2]s,"click_count":%[2]s,"error_count":%[2]s}`, stamp, n))
		out["/v1/sessionEvents"] = append(out["/v1/sessionEvents"],
			fmt.Sprintf(`{"session_id":"s","timestamp":%q,"type":"click","x":%s,"y":%[2]s,"duration_ms":%[2]s}`, stamp, n))
	}
	return out
}

// TestExtremes checks that every accepted value is stored at the first attempt, with all rows that the views make from it.
func TestExtremes(t *testing.T) {
	t.Parallel()
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	accepted := 0
	for path, bodies := range extremes(time.Now().UnixNano()) {
		taken := 0
		for _, body := range bodies {
			kind := "application/json"
			if path == "/v1/events" || strings.HasPrefix(path, "/v1/session") {
				kind = "application/x-ndjson"
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.IngestURL+path, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header = http.Header{"Authorization": {"Bearer " + p.PrivateKey}, "Content-Type": {kind}}
			switch status, answer := roundTrip(t, req); status {
			case http.StatusOK:
				taken++
			case http.StatusBadRequest: // equally good: the answer gives the reason, and nothing is stored
			default:
				t.Errorf("%s %s: %d %s", path, body, status, answer)
			}
		}
		if taken == 0 {
			t.Errorf("%s: none of %d bodies was accepted", path, len(bodies))
		}
		accepted += taken
	}
	waitStored(t, p, 30*time.Second)
	for _, name := range []string{
		"svc_ingest_insert_retries_total", "svc_ingest_inserts_salvaged_total",
		"svc_ingest_quarantined_records_total",
	} {
		if n := metricValue(t, p, name); n != 0 {
			t.Errorf("%s is %g after %d requests\n%s", name, n, accepted, p.Log())
		}
	}
	t.Logf("%d requests accepted", accepted)
}
