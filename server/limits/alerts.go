package limits

import "time"

// Evaluation of alert rules.
const (
	// AlertBurnDays is the longest period of a service level objective. DefaultAlertBurnDays and DefaultAlertBurnBad are for one that leaves
	// out its period, and the number of failed requests below which nothing burns.
	AlertBurnDays        = 90
	DefaultAlertBurnDays = 30
	DefaultAlertBurnBad  = 10
	// AlertBaseline is how far a baseline looks back, AlertBaselineHours the number of hours with data that it needs. AlertBaselines is the
	// number of groups whose past is remembered for an hour.
	AlertBaseline      = 7 * Day
	AlertBaselineHours = 6
	AlertBaselines     = 100_000
	// AlertTogether is the longest window in minutes of a rule that is read together with others, AlertCells the number of windows that one
	// statement reads.
	AlertTogether = 60
	AlertCells    = 32
	// AlertHoldVolume, AlertHoldSampling and AlertHoldNoData are the longest times for which an incident is held because its samples
	// collapsed, because their sampling changed, and because there is no data.
	AlertHoldVolume   = 30 * time.Minute
	AlertHoldSampling = 15 * time.Minute
	AlertHoldNoData   = time.Hour
	// AlertNoDataMemory is how long after its last data a group without data is a breach, for rules that alert on missing data.
	AlertNoDataMemory = 24 * time.Hour
	// An objective burns in a long window and in a short one, which together use up a share of the budget in percent: fast and steady burns
	// are critical, slow and creeping ones are warnings. The pairs are those of the SRE workbook, "Alerting on SLOs".
	AlertFastBurn, AlertFastBurnShort, AlertFastBurnShare             = time.Hour, 5 * time.Minute, 2
	AlertSteadyBurn, AlertSteadyBurnShort, AlertSteadyBurnShare       = 6 * time.Hour, 30 * time.Minute, 5
	AlertSlowBurn, AlertSlowBurnShort, AlertSlowBurnShare             = 24 * time.Hour, 2 * time.Hour, 10
	AlertCreepingBurn, AlertCreepingBurnShort, AlertCreepingBurnShare = 3 * Day, 6 * time.Hour, 10
	// AlertSettle is how long after a minute its rules are evaluated. Organizations are spread over AlertSpread more.
	AlertSettle = 20 * time.Second
	AlertSpread = 10 * time.Second
	// AlertRetry is the pause before an evaluation that had to wait is tried again. After AlertPatience it is recorded as failed.
	AlertRetry    = 5 * time.Second
	AlertPatience = 5 * time.Minute
	// AlertCatchUp is the number of missed minutes that are all evaluated later. After a longer gap, it is the last AlertReplay minutes,
	// or as many as a rule needs, but at most AlertLongestReplay.
	AlertCatchUp       = 15
	AlertReplay        = 10
	AlertLongestReplay = 60
	// AlertGroups is the number of groups of a rule; AlertSQLGroups is that of a rule with SQL, whose statement gives at most AlertSQLRows
	// rows.
	AlertGroups    = 1000
	AlertSQLGroups = 100
	AlertSQLRows   = 1000
	// AlertCheckBatches is how many batches of checks go into the warehouse with one insert. A batch has the checks of one organization
	// and minute.
	AlertCheckBatches = 200
	// AlertCheckInsert bounds the time of moving the waiting checks of a shard. Checks that are left are moved after the next evaluation.
	AlertCheckInsert = 15 * time.Second
	// AlertCheckRetention is how long checks are kept.
	AlertCheckRetention = 90 * Day
	// AlertCheckHourRetention is how long their sums by hour are kept. A summary covers at most as much.
	AlertCheckHourRetention = 365 * Day
	// AlertCheckGroups is the number of groups that a summary shows one by one.
	AlertCheckGroups = 20
	// ToolAlertChecks is the number of checks that a tool lists, DefaultToolAlertChecks that of a call that does not say more.
	ToolAlertChecks        = 2000
	DefaultToolAlertChecks = 100
	// AlertMuteMinutes is the longest mute of a rule.
	AlertMuteMinutes = 30 * 24 * 60
	// AlertNotices is the number of incidents of one rule with a message each when they open at the same minute.
	AlertNotices = 10
	// AlertIssues is the number of incidents of an organization that become issues in one evaluation.
	AlertIssues = 50
	// AlertTags is the number of tags of a rule, AlertTag the length of one. AlertDestinations is the number of its destinations.
	AlertTags         = 20
	AlertTag          = 32
	AlertDestinations = 50
	// AlertWindowMinutes is the longest window of a rule.
	AlertWindowMinutes = 1440
	// AlertPreview is the longest range of a preview.
	AlertPreview = 7 * Day
	// AlertPreviewPoints is the number of minutes that a preview evaluates one by one. A longer range is evaluated at every n-th minute.
	// AlertPreviewPointsTogether is that number for a rule whose figures are read for many minutes with one statement.
	AlertPreviewPoints         = 240
	AlertPreviewPointsTogether = 1440
	// These numbers are for a rule that leaves them out. DefaultAlertRenotify is in minutes.
	DefaultAlertBreaches = 2
	DefaultAlertHealthy  = 2
	DefaultAlertRenotify = 30
	// A rule of an assistant that leaves them out fires at the first breach.
	DefaultToolAlertBreaches = 1
	DefaultToolAlertRenotify = 60
	DefaultToolAlertWindow   = 5
	// DefaultAlertPreview is the range of a preview by a tool.
	DefaultAlertPreview = Day
)

func alerts() []Limit {
	return []Limit{
		count("AlertBurnDays", AlertBurnDays, "The period of a service level objective is at most %s days long."),
		count("DefaultAlertBurnDays", DefaultAlertBurnDays, "The period is %s days long when a rule sets none."),
		count("DefaultAlertBurnBad", DefaultAlertBurnBad, "By default, a burn needs %s failed requests."),
		lasts("AlertHoldVolume", AlertHoldVolume, "An incident whose samples collapsed is held for at most %s."),
		lasts("AlertHoldSampling", AlertHoldSampling, "An incident whose sampling changed is held for at most %s."),
		lasts("AlertHoldNoData", AlertHoldNoData, "An incident without data is resolved after %s."),
		lasts("AlertNoDataMemory", AlertNoDataMemory,
			"A rule that alerts on missing data fires for a group that has no data now and had some in the last %s. After that, the group is "+
				"skipped."),
		lasts("AlertFastBurn", AlertFastBurn, "A fast burn of an objective is seen in a window of %s."),
		lasts("AlertFastBurnShort", AlertFastBurnShort, "It is also seen in a short window of %s."),
		count("AlertFastBurnShare", AlertFastBurnShare, "A fast burn uses up %s percent of the budget in the longer window."),
		lasts("AlertSteadyBurn", AlertSteadyBurn, "A steady burn is seen in a window of %s."),
		lasts("AlertSteadyBurnShort", AlertSteadyBurnShort, "It is also seen in a short window of %s."),
		count("AlertSteadyBurnShare", AlertSteadyBurnShare, "A steady burn uses up %s percent of the budget in the longer window."),
		lasts("AlertSlowBurn", AlertSlowBurn, "A slow burn, which is a warning, is seen in a window of %s."),
		lasts("AlertSlowBurnShort", AlertSlowBurnShort, "It is also seen in a short window of %s."),
		count("AlertSlowBurnShare", AlertSlowBurnShare, "A slow burn uses up %s percent of the budget in the longer window."),
		lasts("AlertCreepingBurn", AlertCreepingBurn, "A creeping burn, which is a warning, is seen in a window of %s."),
		lasts("AlertCreepingBurnShort", AlertCreepingBurnShort, "It is also seen in a short window of %s."),
		count("AlertCreepingBurnShare", AlertCreepingBurnShare, "A creeping burn uses up %s percent of the budget in the longer window."),
		lasts("AlertBaseline", AlertBaseline, "A baseline looks back %s."),
		count("AlertBaselineHours", AlertBaselineHours, "A baseline needs %s hours with data."),
		count("AlertBaselines", AlertBaselines, "A server remembers the past of at most %s groups for an hour."),
		count("AlertTogether", AlertTogether, "Rules of services with windows of at most %s minutes are read together."),
		count("AlertCells", AlertCells, "One statement reads at most %s windows of such rules."),
		lasts("AlertSettle", AlertSettle, "The rules of a minute are evaluated %s after its end, when its telemetry has arrived."),
		lasts("AlertSpread", AlertSpread, "The evaluations of different organizations are spread over %s."),
		lasts("AlertRetry", AlertRetry, "An evaluation that had to wait is tried again after %s."),
		lasts("AlertPatience", AlertPatience,
			"An evaluation waits at most %s for telemetry that is not stored yet, and is then recorded as failed."),
		count("AlertCatchUp", AlertCatchUp, "After a gap, all missed minutes are evaluated, if there are at most %s."),
		count("AlertReplay", AlertReplay, "After a longer gap, the last %s minutes are evaluated, or as many as a rule needs."),
		count("AlertLongestReplay", AlertLongestReplay, "A rule that needs more minutes after a gap gets at most %s."),
		count("AlertNotices", AlertNotices,
			"One message reports all incidents of a rule that open at the same minute if there are more than %s."),
		count("AlertIssues", AlertIssues, "At most %s incidents of an organization become error issues in one evaluation."),
		count("AlertTags", AlertTags, "A rule has at most %s tags."),
		characters("AlertTag", AlertTag, "A tag of a rule has at most %s."),
		count("AlertDestinations", AlertDestinations, "A rule has at most %s destinations."),
		count("AlertWindowMinutes", AlertWindowMinutes, "The window of a rule is at most %s minutes long."),
		lasts("AlertPreview", AlertPreview, "A preview evaluates a rule over at most %s."),
		count("AlertPreviewPoints", AlertPreviewPoints,
			"A preview evaluates about %s minutes at most. In a longer range, it evaluates every n-th minute."),
		count("AlertPreviewPointsTogether", AlertPreviewPointsTogether,
			"A preview of a rule that is read together with others evaluates about %s minutes at most."),
		count("DefaultAlertBreaches", DefaultAlertBreaches, "By default, %s breaches in a row open an incident."),
		count("DefaultAlertHealthy", DefaultAlertHealthy, "By default, %s healthy evaluations in a row resolve an incident."),
		count("DefaultAlertRenotify", DefaultAlertRenotify, "By default, reminders are %s minutes apart."),
		count("DefaultToolAlertBreaches", DefaultToolAlertBreaches,
			"A rule that an assistant creates opens after %[1]s breach and resolves after %[1]s healthy evaluation by default."),
		count("DefaultToolAlertRenotify", DefaultToolAlertRenotify,
			"A rule that an assistant creates sends reminders every %s minutes by default."),
		count("DefaultToolAlertWindow", DefaultToolAlertWindow, "The window of a rule that an assistant creates is %s minutes long by default."),
		lasts("DefaultAlertPreview", DefaultAlertPreview, "By default, a preview by a tool covers the last %s."),
		count("AlertGroups", AlertGroups, "A rule has at most %s groups. The rule says how many were left out."),
		count("AlertSQLGroups", AlertSQLGroups, "A rule with SQL has at most %s groups."),
		count("AlertSQLRows", AlertSQLRows, "The statement of a rule gives at most %s rows."),
		count("AlertCheckBatches", AlertCheckBatches,
			"One insert stores at most %s batches of checks. A batch has the checks of one organization and minute."),
		lasts("AlertCheckInsert", AlertCheckInsert, "Storing checks may delay the next evaluation by at most %s."),
		lasts("AlertCheckRetention", AlertCheckRetention, "A check of a rule is kept for %s."),
		lasts("AlertCheckHourRetention", AlertCheckHourRetention, "Sums of checks by hour are kept for %s; a summary covers at most as much."),
		count("AlertCheckGroups", AlertCheckGroups, "A summary of checks shows %s groups one by one, and the sum of the others."),
		count("ToolAlertChecks", ToolAlertChecks, "A tool lists at most %s checks of a rule."),
		count("DefaultToolAlertChecks", DefaultToolAlertChecks, "By default, it lists %s checks."),
		count("AlertMuteMinutes", AlertMuteMinutes, "A rule is muted for at most %s minutes at a time."),
	}
}
