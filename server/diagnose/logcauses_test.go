package diagnose

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// TestLogCauses: an error counts in small numbers, a warning as a good part of all records, and requests with a warning here and there
// do not count.
func TestLogCauses(t *testing.T) {
	at := timestamppb.New(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	for name, tc := range map[string]struct {
		severities map[string]int32
		before     float64
		share      float64
		factor     float64
		want       bool
	}{
		"few errors among many records":   {map[string]int32{"ERROR": 9}, 0, 0.0001, 1, true},
		"two errors":                      {map[string]int32{"ERROR": 2}, 0, 0.5, 1, false},
		"a few fatal records":             {map[string]int32{"FATAL": 8}, 0, 0.0001, 1, true},
		"warnings that are a small part":  {map[string]int32{"WARN": 100}, 0, 0.001, 1, false},
		"warnings that are a large part":  {map[string]int32{"WARN": 100}, 0, 0.1, 1, true},
		"requests with a warning":         {map[string]int32{"INFO": 9000, "WARN": 3}, 0, 0.5, 1, false},
		"as frequent as before":           {map[string]int32{"ERROR": 90}, 80, 0.1, 1, false},
		"far more frequent":               {map[string]int32{"ERROR": 90}, 10, 0.1, 1, true},
		"more frequent in a shorter time": {map[string]int32{"ERROR": 90}, 10, 0.1, 4, false},
	} {
		p := &svcv2.LogPattern{
			Template: "t", SeverityCounts: tc.severities, ServiceCounts: map[string]int32{"a": 1}, Share: tc.share, IsNew: tc.before == 0,
			BaselineEstimatedCount: tc.before, FirstSeen: at, LastSeen: at,
		}
		for _, n := range tc.severities {
			p.EstimatedCount += float64(n)
		}
		got := logCauses(&svcv2.LogPatternList{Data: []*svcv2.LogPattern{p}}, "", tc.factor)
		if (len(got) > 0) != tc.want {
			t.Errorf("%s: %v", name, got)
		}
		if len(got) > 0 && !strings.Contains(got[0].statement, "in a:") {
			t.Errorf("%s: the statement does not name the service: %s", name, got[0].statement)
		}
	}
}
