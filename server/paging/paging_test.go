package paging

import (
	"encoding/base64"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/apierr"
)

// wantError wants an error that names the cursor.
func wantError(t *testing.T, err error, tag apierr.Tag) {
	t.Helper()
	var e *apierr.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v, want an *apierr.Error", err)
	}
	if e.Tag != tag || e.Param != "cursor" {
		t.Errorf("error = %v with param %q, want %v with cursor", e.Tag, e.Param, tag)
	}
}

func TestLimit(t *testing.T) {
	for _, tc := range []struct {
		in   *int32
		want int
	}{{nil, 20}, {new(int32(1)), 1}, {new(int32(100)), 100}} {
		if got := Limit(tc.in); got != tc.want {
			t.Errorf("Limit = %d; want %d", got, tc.want)
		}
	}
}

func TestOffset(t *testing.T) {
	if got, err := ParseOffset(nil); got != 0 || err != nil {
		t.Errorf("no cursor = %d, %v", got, err)
	}
	for _, n := range []int{0, 1, 20, 35, 36, 1 << 30} {
		if got, err := ParseOffset(new(FormatOffset(n))); got != n || err != nil {
			t.Errorf("%d came back as %d, %v", n, got, err)
		}
	}
	if got := FormatOffset(40); got != "off_14" {
		t.Errorf("FormatOffset(40) = %q", got)
	}
	for _, bad := range []string{"", "off_", "off_-1", "off_+1", "off_01", "off_1A", "off_ 1", "1", "trc_1", "off_zzzzzzzzzz", "off_!"} {
		_, err := ParseOffset(&bad)
		wantError(t, err, apierr.ParameterInvalid)
	}
}

func TestTraceKey(t *testing.T) {
	key := TraceKey{Start: time.Unix(1_700_000_000, 123_456_789).UTC(), TraceID: "0123456789abcdef0123456789abcdef"}
	got, err := ParseTrace(new(FormatTrace(key)))
	if err != nil || !cmp.Equal(*got, key) {
		t.Errorf("came back as %v, %v", got, err)
	}
	if none, err := ParseTrace(nil); none != nil || err != nil {
		t.Errorf("no cursor = %v, %v", none, err)
	}
	encode := func(text string) string { return "trc_" + base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, bad := range []string{
		"", "trc_", "trc_!!", "log_" + FormatTrace(key)[4:], encode(`["2023-11-14T22:13:20Z"]`), encode(`{"a":1}`), encode(`[1,2]`),
		encode(`["yesterday","0123456789abcdef0123456789abcdef"]`), encode(`["2023-11-14T22:13:20Z","xyz"]`),
		encode(`["3023-11-14T22:13:20Z","0123456789abcdef0123456789abcdef"]`),
		encode(`["2023-11-14T22:13:20Z","0123456789ABCDEF0123456789abcdef"]`),
	} {
		_, err := ParseTrace(&bad)
		wantError(t, err, apierr.CursorInvalid)
	}
}

func TestLogKey(t *testing.T) {
	for _, key := range []LogKey{
		{
			Timestamp: time.Unix(1_700_000_000, 1).UTC(), Service: `a "quoted" ü`, TraceID: "0123456789abcdef0123456789abcdef",
			SpanID: "0123456789abcdef",
			Record: "00112233445566778899aabbccddeeff", Copy: 3,
		},
		{Timestamp: time.Unix(1_700_000_000, 0).UTC(), Record: "00112233445566778899aabbccddeeff", Copy: 1},
	} {
		got, err := ParseLog(new(FormatLog(key)), key.Ascending)
		if err != nil || !cmp.Equal(*got, key) {
			t.Errorf("came back as %v, %v", got, err)
		}
	}
	encode := func(text string) string { return "log_" + base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, bad := range []string{
		"", "log_", encode(`["2023-11-14T22:13:20Z","s","","","00112233445566778899aabbccddeeff"]`),
		encode(`["2023-11-14T22:13:20Z","s","","","00112233445566778899aabbccddeeff.0"]`),
		encode(`["2023-11-14T22:13:20Z","s","xx","","00112233445566778899aabbccddeeff.1"]`),
		encode(`["2023-11-14T22:13:20Z","s","","xx","00112233445566778899aabbccddeeff.1"]`),
	} {
		_, err := ParseLog(&bad, false)
		wantError(t, err, apierr.CursorInvalid)
	}
}

func TestSpanKey(t *testing.T) {
	key := SpanKey{Start: time.Unix(1_700_000_000, 123_456_789).UTC(), SpanID: "0123456789abcdef"}
	got, err := ParseSpan(new(FormatSpan(key)))
	if err != nil || !cmp.Equal(*got, key) {
		t.Errorf("came back as %v, %v", got, err)
	}
	if none, err := ParseSpan(nil); none != nil || err != nil {
		t.Errorf("no cursor = %v, %v", none, err)
	}
	for _, bad := range []string{
		"", "spn_", "spn_!!", "trc_" + FormatSpan(key)[4:],
		"spn_" + base64.RawURLEncoding.EncodeToString([]byte(`["2023-11-14T22:13:20Z","0123456789ABCDEF"]`)),
	} {
		_, err := ParseSpan(&bad)
		wantError(t, err, apierr.CursorInvalid)
	}
}

// roundTrip checks that a cursor that is read is written and read back as the same place.
func roundTrip[K any](t *testing.T, cursor string, parse func(*string) (K, error), format func(K) string) {
	t.Helper()
	if k, err := parse(&cursor); err == nil {
		if again, err := parse(new(format(k))); err != nil || !cmp.Equal(k, again) {
			t.Errorf("%q is %v, which came back as %v, %v", cursor, k, again, err)
		}
	}
}

func pointed[K any](format func(K) string) func(*K) string {
	return func(k *K) string { return format(*k) }
}

func FuzzParse(f *testing.F) {
	at := time.Unix(1, 2)
	for _, seed := range []string{
		FormatOffset(40), FormatVersion(7), FormatChunk(8), FormatTrace(TraceKey{Start: at, TraceID: "0123456789abcdef0123456789abcdef"}),
		FormatLog(LogKey{Timestamp: at, Record: "00112233445566778899aabbccddeeff", Copy: 1}),
		FormatSpan(SpanKey{Start: at, SpanID: "0123456789abcdef"}),
		FormatSpanPlace(SpanPlace{
			Sort: ByDuration, Duration: 7, Start: at, TraceID: "0123456789abcdef0123456789abcdef",
			SpanID: "0123456789abcdef",
		}),
		FormatSession(SessionKey{}), FormatEvent(EventKey{}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := ParseOffset(&s); err == nil && FormatOffset(n) != s {
			t.Errorf("offset %q is %d", s, n)
		}
		roundTrip(t, s, ParseVersion, FormatVersion)
		roundTrip(t, s, ParseChunk, FormatChunk)
		roundTrip(t, s, ParseTrace, pointed(FormatTrace))
		for _, ascending := range []bool{false, true} {
			roundTrip(t, s, func(c *string) (*LogKey, error) { return ParseLog(c, ascending) }, pointed(FormatLog))
		}
		roundTrip(t, s, ParseSpan, pointed(FormatSpan))
		roundTrip(t, s, func(c *string) (*SpanPlace, error) { return ParseSpanPlace(c, ByDuration) }, pointed(FormatSpanPlace))
		roundTrip(t, s, ParseSession, pointed(FormatSession))
		roundTrip(t, s, ParseEvent, pointed(FormatEvent))
	})
}

func TestVersion(t *testing.T) {
	for _, n := range []int{1, 35, 36, 1 << 20} {
		if got, err := ParseVersion(new(FormatVersion(n))); err != nil || got != n {
			t.Errorf("%d comes back as %d, %v", n, got, err)
		}
	}
	if got, err := ParseVersion(nil); err != nil || got != 0 {
		t.Errorf("no cursor: %d, %v", got, err)
	}
	for _, bad := range []string{"", "ver_", "ver_0", "ver_-1", "ver_01", "ver_Z", "off_1", "ver_1 ", "ver_zzzzzzz"} {
		_, err := ParseVersion(&bad)
		wantError(t, err, apierr.ParameterInvalid)
	}
}
