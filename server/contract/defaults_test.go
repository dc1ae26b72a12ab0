package contract

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/limits"
)

// defaults names the limit of each number in a comment that a field has when a request leaves it out. A path is `field`; where two
// messages differ, `Message.field`.
var defaults = []struct {
	limit float64
	paths string
}{
	{limits.DefaultSourceFiles, "SearchSourceCodeRequest.limit"},
	{limits.DefaultInsights, "QueryPlanetScaleQueryInsightsRequest.limit"},
	{limits.DefaultPlatformEventPage, "ListPlanetScaleEventsRequest.limit"},
	{limits.DefaultSourceRuns, "ListSourceCiRunsRequest.limit"},
	{limits.DefaultSourceCommits, "max_commits"},
	{1, "start_line"},
	{limits.DefaultPage, "limit"},
	{limits.DefaultSignalBreakdownRows, "QueryTraceBreakdownRequest.limit QueryLogBreakdownRequest.limit QueryMetricBreakdownRequest.limit " +
		"QueryProductEventBreakdownRequest.limit"},
	{limits.DefaultBreakdownRows, "QuerySpec.limit"},
	{limits.DefaultSeries, "series_limit"},
	{limits.DefaultListRows, "list_limit"},
	{limits.DefaultBuckets, "max_data_points bucket_seconds"},
	{limits.DefaultServiceBuckets, "GetServiceOverviewRequest.bucket_seconds GetServiceApdexRequest.bucket_seconds " +
		"ListServiceReleasesRequest.bucket_seconds"},
	{limits.DefaultErrorBuckets, "GetErrorEventRequest.bucket_seconds"},
	{limits.DefaultDistributionColumns, "QueryTraceDistributionRequest.bucket_seconds"},
	{limits.DefaultSQLIntervals, "granularity_seconds"},
	{limits.DefaultSQLRows, "max_rows"},
	{float64(limits.DefaultApdex.Milliseconds()), "apdex_threshold_ms"},
	{limits.DefaultSkeletonSpans, "max_spans"},
	{limits.DefaultPatternSample, "sample_size"},
	{limits.DefaultPatterns, "max_patterns"},
	{limits.DefaultLogContext, "GetLogContextRequest.before GetLogContextRequest.after"},
	{limits.DefaultErrorSamples, "sample_limit"},
	{limits.DefaultToolErrorSamples, "GetAgentToolErrorRequest.limit"},
	{limits.DefaultFunnelBreakdown, "breakdown_limit"},
	{limits.DefaultPathHops, "depth"},
	{limits.DefaultPathBranches, "branches"},
	{limits.DefaultFunnelWindow.Seconds(), "window_seconds"},
	{limits.DefaultScrapeInterval.Seconds(), "scrape_interval_seconds"},
	{limits.DefaultAlertBurnDays, "AlertBurn.period_days"},
	{limits.DefaultAlertBurnBad, "AlertBurn.minimum_bad"},
	{limits.DefaultAlertBreaches, "consecutive_breaches_required"},
	{limits.DefaultAlertHealthy, "consecutive_healthy_required"},
	{limits.DefaultAlertRenotify, "renotify_interval_minutes"},
	{limits.IssueLease.Seconds(), "lease_duration_seconds"},
	{limits.IssueBucket.Seconds(), "GetErrorIssueRequest.bucket_seconds"},
	{limits.IssueSamples, "GetErrorIssueRequest.sample_limit"},
	{1, "min_occurrence_count"},
}

var (
	// defaultText matches the number of a field that is left out, and the number of buckets for which the server then chooses a length.
	defaultText = regexp.MustCompile(`(?i)\b(` + number + `|a day) when left out|left out, the (?:server chooses|window has) [a-z ]*?(?:about|at most) (` +
		number + `) (?:buckets|intervals)`)
	rangeText = regexp.MustCompile(`(?:^|[ ,])([\d,]*\d) to ([\d,]*\d)\b`)
)

// figure reads a number of a comment.
func figure(text string) float64 {
	if text == "a day" {
		return limits.Day.Seconds()
	}
	if n, ok := numbers[strings.ToLower(text)]; ok {
		return float64(n)
	}
	n, _ := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	return n
}

// TestDefaults compares the numbers in comments of request fields with limits, for fields that are left out, and the ranges with the
// rules of the fields. TestBounds compares these rules with limits.
func TestDefaults(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	want, used := map[string]float64{}, map[string]bool{}
	for _, d := range defaults {
		for _, path := range strings.Fields(d.paths) {
			want[path] = d.limit
		}
	}
	text := comments(c)
	ranges := 0
	for _, f := range requestFields(c) {
		comment := text[strings.TrimPrefix(string(f.FullName()), "svc.v2.")]
		for _, m := range defaultText.FindAllStringSubmatch(comment, -1) {
			path := string(f.Parent().Name()) + "." + string(f.Name())
			if _, ok := want[path]; !ok {
				path = string(f.Name())
			}
			used[path] = true
			if got := figure(m[1] + m[2]); got != want[path] {
				t.Errorf("%s says %q; its limit is %v. Correct the comment, or bind the figure.", f.FullName(), m[0], want[path])
			}
		}
		m := rangeText.FindStringSubmatch(comment)
		if m == nil {
			continue
		}
		for i, names := range []string{lowerRules, upperRules} {
			eachBound(Rules(f), names, "", func(suffix, rule string, n float64) {
				if got := figure(m[i+1]); suffix == "" && got != n {
					t.Errorf("%s says %q; its rule is %s: %v", f.FullName(), strings.TrimSpace(m[0]), rule, n)
				}
				ranges++
			})
		}
	}
	for path := range want {
		if !used[path] {
			t.Errorf("%s is in this test, and its comment has no such number", path)
		}
	}
	if ranges < 90 {
		t.Errorf("%d bounds in ranges were found", ranges)
	}
}
