package sqlapi

import (
	"regexp"
	"strings"
)

var (
	timeMacro     = regexp.MustCompile(`\$__(timeFilter|startTime|endTime)\b`)
	timeCondition = regexp.MustCompile("(?i)\\b(Timestamp|Minute|Hour|StartTime|FirstSeen|LastSeen)\\b[`\"]?\\s*\\)?\\s*(=|>|<|between\\b|in\\b)")
	sampledTable  = regexp.MustCompile("(?i)\\b(from|join)\\s+[`\"]?(spans|traces|error_events)\\b")
	unweighted    = regexp.MustCompile(`(?i)\b(count|countIf|avg|avgIf|median|quantiles?|quantiles?(Exact|TDigest|Timing|BFloat16)?(If)?)\s*\(`)
)

// ofWindow reports whether a statement takes the window of the call.
func ofWindow(sql string) bool { return timeMacro.MatchString(sql) }

// warnings tells about a statement that does not use the window of the call, and about one that counts sampled spans without
// their weight.
func warnings(sql string) []string {
	var notes []string
	switch {
	case ofWindow(sql):
	case timeCondition.MatchString(sql):
		notes = append(notes, "The statement has its own condition on time, so start_time and end_time do not apply.")
	default:
		notes = append(notes, "The statement has no condition on time: it read all stored rows. Add $__timeFilter(Timestamp) for a time range.")
	}
	if sampledTable.MatchString(sql) && unweighted.MatchString(sql) && !strings.Contains(sql, "SampleRate") {
		notes = append(notes, "Spans may be sampled: count() counts the received rows, and avg and quantile weigh them alike. "+
			"sum(SampleRate), avgWeighted and quantileTDigestWeighted estimate all spans; see the notes of the table spans.")
	}
	return notes
}
