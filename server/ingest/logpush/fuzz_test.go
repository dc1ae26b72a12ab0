package logpush_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/logpush"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

// FuzzConvert checks three rules for every body. Convert returns an OTLP request that the walk accepts completely, or an error,
// but never both. It refuses exactly the bodies that are not JSON. Each line keeps every field that encoding/json finds in it.
func FuzzConvert(f *testing.F) {
	realistic, err := os.ReadFile(filepath.Join("testdata", "http_requests.ndjson"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(realistic)
	f.Add([]byte("{\"RayID\":\"\xff\\ud800\",\"\":[{}],\"a\":{\"b\":[null,1e5,-0]}}\r\n\n {} "))
	f.Add([]byte(`{"EdgeStartTimestamp":1773143999.000000001,"EdgeResponseStatus":"500","ClientRequestURI":"?","ClientRequestHost":":1"}`))
	f.Add([]byte(`{"RayID":"1","RequestHeaders":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","a":{}}}` + "\n{"))
	f.Fuzz(func(t *testing.T, body []byte) {
		lines, err := logpush.Convert(body, source, received.UnixNano(), limit)
		again, err2 := logpush.Convert(body, source, received.UnixNano(), limit)
		if d := cmp.Diff(lines, again); d != "" || (err == nil) != (err2 == nil) {
			t.Fatalf("the same body gave other records: %v %v\n%s", err, err2, d)
		}
		objects, wellFormed := reference(body)
		var bad *activity.Error
		switch {
		case err == nil && !wellFormed:
			t.Fatal("what is no NDJSON was accepted")
		case err != nil && (wellFormed || !errors.As(err, &bad) || bad.Line == 0 || lines.Request != nil):
			t.Fatalf("refused with %v, request of %d bytes", err, len(lines.Request))
		case err != nil:
			return
		}
		m, result, _ := convert(t, string(body))
		all := records(m)
		if result.Accepted != len(all) || result.Accepted+result.Rejected != len(objects) &&
			(result.Accepted+result.Rejected != 0 || len(objects) > 1) {
			t.Fatalf("%d records of %d lines, result %+v", len(all), len(objects), result)
		}
		if n := len(rows(t, lines.Request)); n != len(all) {
			t.Fatalf("%d rows of %d records", n, len(all))
		}
		if result.Rejected > 0 {
			return
		}
		for i, record := range all {
			keys := map[string]bool{}
			for _, kv := range record.Attributes {
				keys[kv.Key] = true
			}
			for name, value := range objects[i] {
				if key, ok := kept(name); ok && !void(value) && !keys[key] {
					t.Errorf("line %d lost %q, which would be %q", i, name, key)
				}
			}
		}
	})
}

// kept returns the attribute of a field that is all lower-case and needs no renaming.
func kept(name string) (key string, ok bool) {
	if name != strings.ToLower(name) || strings.ContainsRune(name, '\uFFFD') {
		return "", false
	}
	return "cloudflare." + name, true
}

func void(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	default:
		return false
	}
}

// reference reads lines with encoding/json.
func reference(body []byte) (objects []map[string]any, wellFormed bool) {
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var object map[string]any
		if line[0] != '{' || d.Decode(&object) != nil || d.More() || len(bytes.TrimSpace(line[d.InputOffset():])) > 0 {
			return nil, false
		}
		objects = append(objects, object)
	}
	return objects, true
}

// TestValues compares every value of realistic records with the values that encoding/json reads. The converted records pass
// through the walk that stores them. No value is lost and no text changes.
func TestValues(t *testing.T) {
	body, err := os.ReadFile(filepath.Join("testdata", "http_requests.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	objects, ok := reference(body)
	if !ok {
		t.Fatal("the test data is no NDJSON")
	}
	lines, err := logpush.Convert(body, source, received.UnixNano(), limit)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range rows(t, lines.Request) {
		attributes := row["LogAttributes"].(map[string]string)
		for name, value := range objects[i] {
			if void(value) || slices.Contains([]string{
				"EdgeStartTimestamp", "ClientRequestURI", "ClientRequestProtocol", "ClientSSLProtocol",
				"RequestHeaders", "ResponseHeaders",
			}, name) {
				continue // The other tests compare these, because their text is not kept.
			}
			want, _ := value.(string)
			if want == "" {
				b, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				want = string(b)
			}
			found := false
			for _, got := range attributes {
				found = found || got == want || got == `["`+want+`"]` || got+":"+attributes["server.port"] == want
			}
			if !found {
				t.Errorf("record %d: %s %s is nowhere", i, name, want)
			}
		}
	}
}

func BenchmarkConvert(b *testing.B) {
	body, err := os.ReadFile(filepath.Join("testdata", "http_requests.ndjson"))
	if err != nil {
		b.Fatal(err)
	}
	body, _, _ = bytes.Cut(body, []byte("\n"))
	body = bytes.Repeat(append(body, '\n'), 1000)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		lines, err := logpush.Convert(body, source, received.UnixNano(), otlp.DefaultMaxBytes)
		if err != nil || lines.Result.Accepted != 1000 {
			b.Fatal(lines.Result, err)
		}
	}
}
