package wirejson_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/wirejson"
)

func TestUnmarshal(t *testing.T) {
	at := timestamppb.New(time.Date(2026, 1, 31, 9, 30, 0, 5e8, time.UTC))
	for _, c := range []struct {
		name, in   string
		into, want proto.Message
	}{
		{"empty object", ` {} `, &svcv2.CreateApiKeyRequest{}, &svcv2.CreateApiKeyRequest{}},
		{
			"all fields", `{"name":"n","description":"","expires_in_seconds":3600,"kind":"mcp","scopes":["a:read","*"]}`,
			&svcv2.CreateApiKeyRequest{},
			&svcv2.CreateApiKeyRequest{
				Name: "n", Description: proto.String(""), ExpiresInSeconds: proto.Int32(3600), Kind: proto.String("mcp"),
				Scopes: []string{"a:read", "*"},
			},
		},
		{
			"null for nullable ones", `{"description":null,"expires_in_seconds":null,"scopes":null}`, &svcv2.CreateApiKeyRequest{},
			&svcv2.CreateApiKeyRequest{},
		},
		{
			"integers in other spellings", `{"expires_in_seconds":36.0e2}`, &svcv2.CreateApiKeyRequest{},
			&svcv2.CreateApiKeyRequest{ExpiresInSeconds: proto.Int32(3600)},
		},
		{
			"nested", `{"start_time":"2026-01-31T09:30:00.5Z","end_time":"2026-01-31T09:30:00.500+00:00","filters":{"has_error":false,"min_duration_ms":0,` +
				`"attributes":[{"key":"k","operator":"gt","value":1.5},{"value":"x"},{"value":null},{"value":{"a":[1,true]}}]}}`,
			&svcv2.SearchTracesRequest{},
			&svcv2.SearchTracesRequest{StartTime: at, EndTime: at, Filters: &svcv2.TraceFilters{
				HasError: proto.Bool(false), MinDurationMs: proto.Float64(0),
				Attributes: []*svcv2.AttributeFilter{
					{Key: "k", Operator: "gt", Value: structpb.NewNumberValue(1.5)},
					{Value: structpb.NewStringValue("x")},
					{Value: structpb.NewNullValue()},
					{Value: value(t, map[string]any{"a": []any{1, true}})},
				},
			}},
		},
		{
			"escapes", `{"name":"\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00é"}`, &svcv2.CreateApiKeyRequest{},
			&svcv2.CreateApiKeyRequest{Name: "\"\\/\b\f\n\r\té😀é"},
		},
		{
			"other kinds", `{"int64_field":-9223372036854775808,"uint64_field":18446744073709551615,"float_field":0.1,"bytes_field":"AP8=","color":"RED","left":"x","counts":{"9":2},"children":[{},{"uint32_field":1}]}`,
			newEverything(t),
			everythingOf(t, `int64_field: -9223372036854775808 uint64_field: 18446744073709551615 float_field: 0.1 bytes_field: "\x00\xff" color: RED left: "x" counts { key: 9 value: 2 } children {} children { uint32_field: 1 }`),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := wirejson.Unmarshal([]byte(c.in), c.into); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, c.into, protocmp.Transform()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	key := func() proto.Message { return &svcv2.CreateApiKeyRequest{} }
	search := func() proto.Message { return &svcv2.SearchTracesRequest{} }
	any := func() proto.Message { return newEverything(t) }
	const timeText = "must be a time in UTC such as `2026-01-31T09:30:00Z`"
	for _, c := range []struct {
		name, in string
		into     func() proto.Message
		path     string
		want     string
	}{
		{"nothing", ``, key, "", "The body is empty"},
		{"white space", " \n", key, "", "The body is empty"},
		{"a list", `[]`, key, "", "must be a JSON object"},
		{"a string", `"x"`, key, "", "must be a JSON object"},
		{"cut short", `{"name":"x"`, key, "", "The body is not valid JSON: the text ends where"},
		{"cut in a string", `{"name":"x`, key, "", "a string has no end"},
		{"two documents", `{} {}`, key, "", "more text follows"},
		{"trailing comma", `{"name":"x",}`, key, "", "a comma stands before"},
		{"trailing comma in a list", `{"scopes":["a",]}`, key, "", "a comma stands before"},
		{"single quotes", `{'name':'x'}`, key, "", "not valid JSON"},
		{"comment", `{/**/}`, key, "", "not valid JSON"},
		{"byte order mark", "\ufeff{}", key, "", "must be a JSON object"},
		{"invalid UTF-8", "{\"name\":\"\xff\"}", key, "", "not valid UTF-8"},
		{"raw control character", "{\"name\":\"\x01\"}", key, "", "raw control character"},
		{"half a surrogate pair", `{"name":"\ud83d"}`, key, "", "a string holds"},
		{"unknown escape", `{"name":"\x"}`, key, "", "unknown escape"},
		{"the place of a syntax error", "{\n  \"name\": ?}", key, "", "at line 2, byte 11"},
		{"unknown field", `{"nmae":"x"}`, key, "nmae", "`nmae` is not a known field."},
		{"camelCase", `{"expiresInSeconds":1}`, key, "expiresInSeconds", "the name is `expires_in_seconds`"},
		{"duplicate", `{"name":"a","name":"b"}`, key, "name", "`name` is given twice."},
		{"number for a string", `{"name":1}`, key, "name", "`name` must be a string, not a number."},
		{"null for a string that is not nullable", `{"name":null}`, key, "name", "`name` must be a string, not null."},
		{"string for a number", `{"expires_in_seconds":"1"}`, key, "expires_in_seconds", "must be an integer, not a string"},
		{"fraction", `{"expires_in_seconds":1.5}`, key, "expires_in_seconds", "must be an integer."},
		{"out of range", `{"expires_in_seconds":2147483648}`, key, "expires_in_seconds", "must be an integer between -2147483648 and 2147483647"},
		{"out of range, with exponent", `{"expires_in_seconds":1e300}`, key, "expires_in_seconds", "must be an integer"},
		{"leading zero", `{"expires_in_seconds":01}`, key, "", "a number is malformed"},
		{"NaN", `{"expires_in_seconds":NaN}`, key, "", "not valid JSON"},
		{"string for a list", `{"scopes":"a"}`, key, "scopes", "must be a list, not a string"},
		{"empty list", `{"scopes":[]}`, key, "scopes", "must not be an empty list"},
		{"bad element", `{"scopes":["a",1]}`, key, "scopes[1]", "`scopes[1]` must be a string, not a number."},
		{"null element", `{"scopes":[null]}`, key, "scopes[0]", "must be a string, not null"},
		{
			"deep", `{"filters":{"attributes":[{},{},{"key":3}]}}`, search, "filters.attributes[2].key",
			"`filters.attributes[2].key` must be a string",
		},
		{"deep unknown field", `{"filters":{"attributes":[{"x":{"y":[1,{}]}}]}}`, search, "filters.attributes[0].x", "not a known field"},
		{"null list", `{"filters":{"attributes":null}}`, search, "filters.attributes", "must be a list, not null"},
		{"list for an object", `{"filters":[]}`, search, "filters", "must be an object, not a list"},
		{"string for a boolean", `{"filters":{"has_error":"true"}}`, search, "filters.has_error", "must be a boolean, not a string"},
		{"number too large", `{"filters":{"min_duration_ms":1e400}}`, search, "filters.min_duration_ms", "too large"},
		{"value too large", `{"filters":{"attributes":[{"value":1e400}]}}`, search, "filters.attributes[0].value", "too large"},
		{
			"duplicate in free-form JSON", `{"filters":{"attributes":[{"value":{"a":1,"a":2}}]}}`, search, `filters.attributes[0].value["a"]`,
			"given twice",
		},
		{"time as a number", `{"start_time":1}`, search, "start_time", "must be a time in UTC"},
		{"time without an offset", `{"start_time":"2026-01-31T09:30:00"}`, search, "start_time", timeText},
		{"time of another zone", `{"start_time":"2026-01-31T09:30:00+02:00"}`, search, "start_time", timeText},
		{"time with a space", `{"start_time":"2026-01-31 09:30:00Z"}`, search, "start_time", timeText},
		{"date", `{"start_time":"2026-01-31"}`, search, "start_time", timeText},
		{"a day that does not exist", `{"start_time":"2026-02-30T09:30:00Z"}`, search, "start_time", "does not exist"},
		{"year 0", `{"start_time":"0000-01-01T00:00:00Z"}`, search, "start_time", "between the years 1 and 9999"},
		{
			"too deep", `{"filters":{"attributes":[{"value":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}]}}`, search, "",
			"nested deeper",
		},
		{"too deep in what is skipped", `{"x":` + strings.Repeat("[", 100000), search, "", "nested deeper"},
		{"negative unsigned", `{"uint32_field":-1}`, any, "uint32_field", "between 0 and 4294967295"},
		{"64-bit overflow", `{"uint64_field":18446744073709551616}`, any, "uint64_field", "between 0 and 18446744073709551615"},
		{"64-bit underflow", `{"int64_field":-9223372036854775809}`, any, "int64_field", "between -9223372036854775808 and 9223372036854775807"},
		{"unknown enum name", `{"color":"BLUE"}`, any, "color", "must be one of `NONE`, `RED`"},
		{"enum number", `{"color":1}`, any, "color", "must be one of"},
		{"bad base64", `{"bytes_field":"%"}`, any, "bytes_field", "must be a base64 string"},
		{"both sides of a oneof", `{"left":"x","right":1}`, any, "right", "cannot be given together with `left`"},
		{"bad map key", `{"counts":{"x":1}}`, any, `counts["x"]`, "must have an integer as its key"},
		{"two spellings of one map key", `{"counts":{"1":1,"1":2}}`, any, `counts["1"]`, "given twice"},
		{"map value", `{"counts":{"1":"1"}}`, any, `counts["1"]`, "must be an integer, not a string"},
		{"a type without a form", `{"duration":"1s"}`, any, "duration", "cannot be given in JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := wirejson.Unmarshal([]byte(c.in), c.into())
			var e *wirejson.DecodeError
			if !errors.As(err, &e) {
				t.Fatalf("got %v, want a DecodeError", err)
			}
			if e.Path() != c.path || !strings.Contains(e.Error(), c.want) {
				t.Errorf("got %q at %q, want %q at %q", e.Error(), e.Path(), c.want, c.path)
			}
		})
	}
}

func TestUnmarshalCountsProblems(t *testing.T) {
	err := wirejson.Unmarshal([]byte(`{"name":1,"kind":2,"x":3,"scopes":[]}`), &svcv2.CreateApiKeyRequest{})
	want := "`name` must be a string, not a number. (and 3 other invalid fields)"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	err = wirejson.Unmarshal([]byte(`{"name":1,"kind":2}`), &svcv2.CreateApiKeyRequest{})
	if want := "`name` must be a string, not a number. (and 1 other invalid field)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
	var e *wirejson.DecodeError
	err = wirejson.Unmarshal([]byte(`{"scopes":[`+strings.Repeat("1,", 999)+`1]}`), &svcv2.CreateApiKeyRequest{})
	if !errors.As(err, &e) || e.Count != 1000 || len(e.Problems) > 100 {
		t.Errorf("1000 bad values: %v", err)
	}
}

// FuzzUnmarshal compares the decoder with protojson. Text that the decoder accepts, protojson accepts too and reads the same way.
// The decoder reads back what the encoder writes.
func FuzzUnmarshal(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"start_time":"2026-01-31T09:30:00.5Z","limit":3,"filters":{"attributes":[{"key":"\u00e9","value":{"a":[1e2,null,-0.0]}}]}}`,
		`{"cursor":null,"filters":{"min_duration_ms":1E-7,"has_error":true}}`, `{"limit":1.0}`, `{"limit":-0}`, `{"a":{"b":[1,{}]}}`,
		"{\"cursor\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got := &svcv2.SearchTracesRequest{}
		if wirejson.Unmarshal(data, got) != nil {
			return
		}
		want := &svcv2.SearchTracesRequest{}
		if err := protojson.Unmarshal(data, want); err != nil {
			t.Fatalf("%q: protojson refuses what we take: %v", data, err)
		}
		if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
			t.Fatalf("%q: (-protojson +ours)\n%s", data, diff)
		}
		text, err := wirejson.Marshal(got)
		if err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		again := &svcv2.SearchTracesRequest{}
		if err := wirejson.Unmarshal(text, again); err != nil {
			t.Fatalf("%q: we do not read what we wrote, %s: %v", data, text, err)
		}
		if err := protojson.Unmarshal(text, &svcv2.SearchTracesRequest{}); err != nil {
			t.Fatalf("%q: protojson does not read what we wrote, %s: %v", data, text, err)
		}
	})
}
