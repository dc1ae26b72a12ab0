package paging

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/apierr"
)

func TestActivityKeys(t *testing.T) {
	at := time.Unix(1_700_000_000, 1).UTC()
	session := SessionKey{Start: at, SessionID: `a "quoted" ü`}
	if got, err := ParseSession(new(FormatSession(session))); err != nil || !cmp.Equal(*got, session) {
		t.Errorf("came back as %v, %v", got, err)
	}
	event := EventKey{Timestamp: at, Record: strings.Repeat("0a", 16), Copy: 3}
	if got, err := ParseEvent(new(FormatEvent(event))); err != nil || !cmp.Equal(*got, event) {
		t.Errorf("came back as %v, %v", got, err)
	}
	for _, n := range []uint32{0, 35, 36, 1<<32 - 1} {
		if got, err := ParseChunk(new(FormatChunk(n))); got != n || err != nil {
			t.Errorf("%d came back as %d, %v", n, got, err)
		}
	}
	if s, err := ParseSession(nil); s != nil || err != nil {
		t.Errorf("no cursor = %v, %v", s, err)
	}
	if e, err := ParseEvent(nil); e != nil || err != nil {
		t.Errorf("no cursor = %v, %v", e, err)
	}
	encode := func(prefix, text string) string {
		return prefix + base64.RawURLEncoding.EncodeToString([]byte(text))
	}
	for _, bad := range []string{
		"", "ses_", FormatEvent(event), encode("ses_", `["2023-11-14T22:13:20Z",""]`),
		encode("ses_", `["yesterday","s"]`), encode("ses_", `["2023-11-14T22:13:20Z"]`),
	} {
		_, err := ParseSession(&bad)
		wantError(t, err, apierr.CursorInvalid)
	}
	for _, bad := range []string{
		"", "pev_", FormatSession(session), encode("pev_", `["2023-11-14T22:13:20Z","0a"]`),
		encode("pev_", `["2023-11-14T22:13:20Z","`+event.Record+`.0"]`),
	} {
		_, err := ParseEvent(&bad)
		wantError(t, err, apierr.CursorInvalid)
	}
	for _, bad := range []string{"", "chk_", "chk_-1", "chk_01", "chk_A", "off_1", "chk_zzzzzzzz"} {
		_, err := ParseChunk(&bad)
		wantError(t, err, apierr.ParameterInvalid)
	}
}
