package corpus

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// jsonRequest wraps the fields of one item into a JSON request.
func jsonRequest(signal otlp.Signal, fields string) string {
	switch signal {
	case otlp.Traces:
		return `{"resourceSpans":[{"scopeSpans":[{"spans":[{` + fields + `}]}]}]}`
	case otlp.Logs:
		return `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{` + fields + `}]}]}]}`
	default:
		return `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{` + fields + `}]}]}]}`
	}
}

func (m maker) jsonSpan(more string) string {
	return fmt.Sprintf(`"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","startTimeUnixNano":"%d","endTimeUnixNano":%d%s`, m.now, m.now+1000, more)
}

// json returns malformed JSON, and JSON that is not OTLP.
func (m maker) json() []Case {
	all := m.malformedJSON()
	post := func(signal otlp.Signal, name, fields, message string) {
		all = append(all, Case{
			Name: signal.String() + " JSON: " + name, Signal: signal, Header: jsonHeader(), Body: []byte(jsonRequest(signal, fields)),
			Want: BadRequest, Message: message,
		})
	}
	for _, c := range []struct{ name, fields, message string }{
		{"enum name", `"kind":"SPAN_KIND_SERVER"`, "spans[0].kind: must be the number of the enum value"},
		{"enum number in quotes", `"kind":"2"`, "spans[0].kind: must be the number"},
		{"enum with a fraction", `"kind":1.5`, "spans[0].kind: must be a whole number"},
		{"status code by name", `"status":{"code":"STATUS_CODE_ERROR"}`, "spans[0].status.code: must be the number"},
		{"id not hexadecimal", `"traceId":"zz8efff798038103d269b633813fc60c"`, "spans[0].traceId: must be hexadecimal"},
		{"id with half a byte", `"spanId":"eee19b7ec3c1b17"`, "spans[0].spanId: must be hexadecimal"},
		{"id in base64", `"traceId":"W47/95gDgQPSabYzgT/GDA=="`, "spans[0].traceId: must be hexadecimal"},
		{"id as number", `"traceId":5`, "spans[0].traceId: must be text"},
		{"id of a link", `"links":[{"spanId":"g1"}]`, "spans[0].links[0].spanId: must be hexadecimal"},
		{"id escaped to no hexadecimal", `"spanId":"\u00e9\u00e9"`, "spans[0].spanId: must be hexadecimal"},
		{
			"time beyond 64 bits", `"startTimeUnixNano":"18446744073709551616"`,
			"spans[0].startTimeUnixNano: must be a whole number from 0 to 18446744073709551615",
		},
		{"time beyond 64 bits, bare", `"startTimeUnixNano":18446744073709551616`, "spans[0].startTimeUnixNano: must be a whole number"},
		{"negative time", `"startTimeUnixNano":"-1"`, "spans[0].startTimeUnixNano: must be a whole number"},
		{"time with a fraction", `"startTimeUnixNano":1.5`, "spans[0].startTimeUnixNano: must be a whole number"},
		{
			"time as exponent with a fraction", `"startTimeUnixNano":1.7952393840827085123e18`,
			"spans[0].startTimeUnixNano: must be a whole number",
		},
		{"time as exponent beyond 64 bits", `"startTimeUnixNano":"1.9e19"`, "spans[0].startTimeUnixNano: must be a whole number"},
		{"time as exponent beyond all bits", `"startTimeUnixNano":1e999999999999`, "spans[0].startTimeUnixNano: must be a whole number"},
		{"time in words", `"startTimeUnixNano":"2026-11-21T02:00:00Z"`, "spans[0].startTimeUnixNano: must be a whole number"},
		{"empty number", `"startTimeUnixNano":""`, "spans[0].startTimeUnixNano: must be a whole number"},
		{"number with a space", `"startTimeUnixNano":" 1"`, "spans[0].startTimeUnixNano: must be a whole number"},
		{"hexadecimal number", `"flags":0x10`, "spans[0]"},
		{"flags beyond 32 bits", `"flags":4294967296`, "spans[0].flags: must be a whole number from 0 to 4294967295"},
		{"count beyond 32 bits", `"droppedAttributesCount":"99999999999"`, "spans[0].droppedAttributesCount: must be a whole number"},
		{
			"int beyond 64 bits", `"attributes":[{"key":"a","value":{"intValue":"9223372036854775808"}}]`,
			"attributes[0].value.intValue: must be a whole number of 64 bits",
		},
		{
			"int below 64 bits", `"attributes":[{"key":"a","value":{"intValue":-9223372036854775809}}]`,
			"attributes[0].value.intValue: must be a whole number of 64 bits",
		},
		{"int as NaN", `"attributes":[{"key":"a","value":{"intValue":"NaN"}}]`, "attributes[0].value.intValue: must be a whole number"},
		{"NaN without quotes", `"attributes":[{"key":"a","value":{"doubleValue":NaN}}]`, "attributes[0].value.doubleValue: must be a JSON value"},
		{
			"Infinity without quotes", `"attributes":[{"key":"a","value":{"doubleValue":-Infinity}}]`,
			"attributes[0].value.doubleValue: must be a JSON value",
		},
		{"infinity in short", `"attributes":[{"key":"a","value":{"doubleValue":"Inf"}}]`, "attributes[0].value.doubleValue: must be a number"},
		{
			"double beyond its range", `"attributes":[{"key":"a","value":{"doubleValue":1e400}}]`,
			"attributes[0].value.doubleValue: must be a number",
		},
		{"bool as text", `"attributes":[{"key":"a","value":{"boolValue":"true"}}]`, "attributes[0].value.boolValue: must be true or false"},
		{"bool as number", `"attributes":[{"key":"a","value":{"boolValue":1}}]`, "attributes[0].value.boolValue: must be true or false"},
		{"text as number", `"name":5`, "spans[0].name: must be text in quotes"},
		{"text as object", `"name":{}`, "spans[0].name: must be text in quotes"},
		{"bytes not base64", `"attributes":[{"key":"a","value":{"bytesValue":"%%%"}}]`, "attributes[0].value.bytesValue: must be base64"},
		{"value as text", `"attributes":[{"key":"a","value":"b"}]`, "attributes[0].value: must be an object"},
		{"attributes as object", `"attributes":{"a":"b"}`, "spans[0].attributes: must be an array"},
		{"null among attributes", `"attributes":[null]`, "spans[0].attributes[0]: null is not allowed"},
		{"events as text", `"events":"none"`, "spans[0].events: must be an array"},
		{"status as number", `"status":2`, "spans[0].status: must be an object"},
		{"half a surrogate pair", `"name":"\ud83d"`, `spans[0].name: bad \u escape`},
		{"second half first", `"name":"\ude00\ud83d"`, `spans[0].name: bad \u escape`},
		{"escape cut short", `"name":"\u12"`, `spans[0].name: bad \u escape`},
		{"unknown escape", `"name":"\x41"`, "spans[0].name: unknown escape"},
		{"line break in a text", "\"name\":\"a\nb\"", "spans[0].name: control character"},
		{"ignored field wrong inside", `"color":{"a":tru}`, "spans[0].color"},
		{"duplicate key, last wrong", `"name":"a","name":7`, "spans[0].name: must be text"},
		{"duplicate key, first wrong", `"name":7,"name":"a"`, "spans[0].name: must be text"},
	} {
		post(otlp.Traces, c.name, c.fields, c.message)
	}
	for _, c := range []struct{ name, fields, message string }{
		{"severity by name", `"severityNumber":"SEVERITY_NUMBER_INFO"`, "logRecords[0].severityNumber: must be the number"},
		{"severity beyond 32 bits", `"severityNumber":2147483648`, "logRecords[0].severityNumber: must be a whole number of 32 bits"},
		{"body as text", `"body":"hello"`, "logRecords[0].body: must be an object"},
		{"body as array", `"body":[]`, "logRecords[0].body: must be an object"},
		{"array value without object", `"body":{"arrayValue":["a"]}`, "logRecords[0].body.arrayValue: must be an object"},
		{"kvlist as map", `"body":{"kvlistValue":{"values":{"a":"b"}}}`, "logRecords[0].body.kvlistValue.values: must be an array"},
		{"record as text", `"x":1},"record",{`, "logRecords[1]: must be an object"},
	} {
		post(otlp.Logs, c.name, c.fields, c.message)
	}
	for _, c := range []struct{ name, fields, message string }{
		{
			"temporality by name", `"sum":{"aggregationTemporality":"AGGREGATION_TEMPORALITY_DELTA"}`,
			"metrics[0].sum.aggregationTemporality: must be the number",
		},
		{"points as object", `"gauge":{"dataPoints":{}}`, "metrics[0].gauge.dataPoints: must be an array"},
		{"asInt with a fraction", `"gauge":{"dataPoints":[{"asInt":"1.5"}]}`, "dataPoints[0].asInt: must be a whole number of 64 bits"},
		{"asDouble in words", `"gauge":{"dataPoints":[{"asDouble":"three"}]}`, "dataPoints[0].asDouble: must be a number"},
		{"negative count", `"histogram":{"dataPoints":[{"count":-1}]}`, "dataPoints[0].count: must be a whole number"},
		{
			"bucket with a fraction", `"histogram":{"dataPoints":[{"bucketCounts":["1","2.5"]}]}`,
			"dataPoints[0].bucketCounts[1]: must be a whole number",
		},
		{"bound as null", `"histogram":{"dataPoints":[{"explicitBounds":[1,null]}]}`, "dataPoints[0].explicitBounds[1]: null is not allowed"},
		{
			"scale beyond 32 bits", `"exponentialHistogram":{"dataPoints":[{"scale":9999999999}]}`,
			"dataPoints[0].scale: must be a whole number of 32 bits",
		},
		{"monotonic as number", `"sum":{"isMonotonic":1}`, "metrics[0].sum.isMonotonic: must be true or false"},
		{
			"quantile in words", `"summary":{"dataPoints":[{"quantileValues":[{"quantile":"p99"}]}]}`,
			"quantileValues[0].quantile: must be a number",
		},
		{"exemplar id", `"gauge":{"dataPoints":[{"exemplars":[{"traceId":"no"}]}]}`, "exemplars[0].traceId: must be hexadecimal"},
	} {
		post(otlp.Metrics, c.name, c.fields, c.message)
	}
	return append(all, m.oddJSON()...)
}

// malformedJSON returns cases for every signal.
func (m maker) malformedJSON() []Case {
	var all []Case
	for _, signal := range signals() {
		good := jsonRequest(signal, `"attributes":[{"key":"a"}]`)
		for name, body := range map[string]string{
			"white space":                " \r\n\t ",
			"array":                      "[" + good + "]",
			"text":                       `"{}"`,
			"number":                     "0",
			"null":                       "null",
			"protobuf":                   string(request(m.item(signal, "x"))),
			"byte order mark":            "\ufeff{}",
			"cut in the middle":          good[:len(good)/2],
			"cut at the last byte":       good[:len(good)-1],
			"two requests":               good + good,
			"requests by lines":          good + "\n" + good,
			"rubbish after":              good + "x",
			"comma at the end":           `{"a":1,}`,
			"comma at the end of a list": `{"a":[1,]}`,
			"comma missing":              `{"a":1 "b":2}`,
			"colon missing":              `{"a" 1}`,
			"name without quotes":        `{a:1}`,
			"single quotes":              `{'a':1}`,
			"comment":                    `{/* none */}`,
			"leading zero":               `{"a":01}`,
			"leading plus":               `{"a":+1}`,
			"point without digits":       `{"a":1.}`,
			"exponent without digits":    `{"a":1e}`,
			"invalid UTF-8":              "{\"a\":\"\xff\"}",
			"invalid UTF-8 in a name":    "{\"\xc0\xaf\":1}",
			"text without end":           `{"a":"b`,
			"zero byte":                  "{\x00}",
			"objects 2,000 deep":         strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000),
			"arrays a million deep":      `{"a":` + strings.Repeat("[", 1_000_000),
			"values 2,000 deep":          jsonRequest(signal, `"attributes":[{"key":"a","value":`+strings.Repeat(`{"arrayValue":{"values":[`, 2000)),
		} {
			all = append(all, Case{
				Name: signal.String() + " JSON: " + name, Signal: signal, Header: jsonHeader(), Body: []byte(body), Want: BadRequest,
				Message: "The body is not valid OTLP",
			})
		}
	}
	return all
}

// oddJSON returns unusual but valid JSON. It is stored, and unknown fields are ignored. A body without JSON is refused.
func (m maker) oddJSON() []Case {
	now := strconv.FormatUint(m.now, 10)
	ok := func(signal otlp.Signal, name, body string, stored ...string) Case {
		return Case{
			Name: signal.String() + " odd JSON: " + name, Signal: signal, Header: jsonHeader(), Body: []byte(body), Want: OK,
			Stored: stored,
		}
	}
	refused := func(signal otlp.Signal, name, body string) Case {
		c := ok(signal, name, body)
		c.Want, c.Message = BadRequest, "must be an object"
		return c
	}
	unknownKind := ok(otlp.Traces, "unknown enum number", jsonRequest(otlp.Traces, m.jsonSpan(`,"kind":77,"name":"kind"`)), "kind")
	unknownKind.Message = "spans[0].kind: is a number that OTLP does not define"
	noTime := ok(otlp.Logs, "no fields at all", jsonRequest(otlp.Logs, ""), "")
	noTime.Message = "log_records[0].time_unix_nano: is not set"
	return []Case{
		ok(otlp.Traces, "empty object", "{}"),
		refused(otlp.Traces, "nothing", ""),
		refused(otlp.Logs, "nothing", ""),
		refused(otlp.Metrics, "white space only", " \r\n"),
		ok(otlp.Traces, "white space around", " \n{ } \t"),
		ok(otlp.Traces, "null for the list", `{"resourceSpans":null}`),
		ok(otlp.Traces, "snake_case is another field, ignored", strings.Replace(jsonRequest(otlp.Traces, m.jsonSpan("")), "resourceSpans",
			"resource_spans", 1)),
		ok(otlp.Traces, "snake_case item field ignored", jsonRequest(otlp.Traces, m.jsonSpan(`,"name":"camel","trace_state":5`)), "camel"),
		ok(otlp.Traces, "upper-case ids", strings.Replace(jsonRequest(otlp.Traces, m.jsonSpan(`,"name":"upper"`)),
			"5b8efff798038103d269b633813fc60c", "5B8EFFF798038103D269B633813FC60C", 1), "upper"),
		ok(otlp.Traces, "duplicate name, the last counts", jsonRequest(otlp.Traces, m.jsonSpan(`,"name":"first","name":"last"`)), "last"),
		ok(otlp.Traces, "duplicate list, the last counts", jsonRequest(otlp.Traces,
			m.jsonSpan(`,"name":"one"`)+`}]}],"scopeSpans":[{"spans":[{`+m.jsonSpan(`,"name":"two"`)), "two"),
		ok(otlp.Traces, "time with an exponent", jsonRequest(otlp.Traces,
			m.jsonSpan(`,"startTimeUnixNano":`+now[:1]+"."+now[1:]+`e+18,"endTimeUnixNano":"`+now[:1]+"."+now[1:]+`E18","name":"exponent"`)),
			"exponent"),
		ok(otlp.Traces, "time with a zero fraction", jsonRequest(otlp.Traces,
			m.jsonSpan(`,"startTimeUnixNano":`+now+`.0,"endTimeUnixNano":"`+now+`.00","name":"fraction"`)), "fraction"),
		unknownKind,
		ok(otlp.Traces, "nulls", jsonRequest(otlp.Traces, m.jsonSpan(`,"name":"nulls","attributes":null,"status":null,"kind":null`)), "nulls"),
		ok(otlp.Traces, "two values in one attribute", jsonRequest(otlp.Traces,
			m.jsonSpan(`,"name":"oneof","attributes":[{"key":"a","value":{"intValue":1,"stringValue":"b"}}]`)), "oneof"),
		noTime,
		ok(otlp.Logs, "largest times", jsonRequest(otlp.Logs, `"timeUnixNano":`+now+`,"body":{"stringValue":"now"}`), "now"),
		ok(otlp.Metrics, "NaN and Infinity in quotes", jsonRequest(otlp.Metrics,
			`"name":"nan","gauge":{"dataPoints":[{"timeUnixNano":"`+now+`","asDouble":"NaN"},{"timeUnixNano":`+now+`,"asDouble":"-Infinity"}]}`),
			"nan", "nan"),
		ok(otlp.Metrics, "numbers in and out of quotes", jsonRequest(otlp.Metrics,
			`"name":"both","gauge":{"dataPoints":[{"timeUnixNano":"`+now+`","asInt":5},{"timeUnixNano":"`+now+`","asInt":"-5"}]}`), "both", "both"),
		ok(otlp.Metrics, "metric without data", jsonRequest(otlp.Metrics, `"name":"nothing"`)),
	}
}
