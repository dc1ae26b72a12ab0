package sqlapi

import (
	"strings"
	"testing"
)

func TestWarnings(t *testing.T) {
	const all, own, sampled = "read all stored rows", "its own condition on time", "Spans may be sampled"
	for sql, want := range map[string][]string{
		"SELECT count() FROM spans":                                                             {all, sampled},
		"SELECT count() FROM spans WHERE $__timeFilter(Timestamp)":                              {sampled},
		"SELECT sum(SampleRate) FROM spans WHERE $__timeFilter(Timestamp)":                      nil,
		"SELECT quantile(0.95)(DurationNano) FROM traces WHERE Timestamp > now() - 60":          {own, sampled},
		"SELECT quantileExact(0.95)(DurationNano) FROM spans WHERE $__timeFilter(Timestamp)":    {sampled},
		"SELECT count() FROM logs WHERE $__timeFilter(Timestamp)":                               nil,
		"SELECT count() FROM logs":                                                              {all},
		"SELECT TraceId FROM spans WHERE Timestamp BETWEEN $__startTime AND $__endTime LIMIT 3": nil,
	} {
		got := warnings(sql)
		ok := len(got) == len(want)
		for i := range got {
			ok = ok && strings.Contains(got[i], want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}
