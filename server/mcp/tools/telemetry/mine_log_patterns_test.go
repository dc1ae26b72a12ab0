package telemetry

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
)

// TestNotesOfTheTimeBefore: the answer says so when the time before has records only in a part of it, or hardly any.
func TestNotesOfTheTimeBefore(t *testing.T) {
	t.Parallel()
	w := tool.Period(tooltest.Now().Add(-time.Hour), tooltest.Now())
	for name, c := range map[string]struct {
		length time.Duration // of the part with records; 0 for none
		thin   bool
		want   string
	}{
		"whole":                {time.Hour, false, ""},
		"nine tenths":          {54 * time.Minute, false, ""},
		"a part":               {53 * time.Minute, false, "only from 2026-01-31T10:07:00Z to 2026-01-31T11:00:00Z, and the column Before counts"},
		"thin":                 {time.Minute, true, "no pattern counts as new"},
		"thin without records": {0, true, "no pattern counts as new"},
		"no comparison":        {0, false, ""},
	} {
		out := &svcv2.LogPatternList{BaselineIsThin: c.thin}
		if c.length > 0 {
			out.BaselineDataStartTime, out.BaselineDataEndTime = timestamppb.New(w.From.Add(-c.length)), timestamppb.New(w.From)
		}
		notes := baselineNotes(out, w)
		if c.want == "" && len(notes) > 0 || c.want != "" && (len(notes) != 1 || !strings.Contains(notes[0], c.want)) {
			t.Errorf("%s: %q, want one with %q", name, notes, c.want)
		}
	}
}
