package limits

import "time"

// Evaluation of alert rules.
const (
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
	// AlertCheckRetention is how long checks are kept.
	AlertCheckRetention = 90 * 24 * time.Hour
)

func alerts() []Limit {
	return []Limit{
		lasts("AlertSettle", AlertSettle, "The rules of a minute are evaluated %s after its end, when its telemetry has arrived."),
		lasts("AlertSpread", AlertSpread, "The evaluations of different organizations are spread over %s."),
		lasts("AlertRetry", AlertRetry, "An evaluation that had to wait is tried again after %s."),
		lasts("AlertPatience", AlertPatience, "An evaluation waits at most %s for telemetry that is not stored yet, and is then recorded as failed."),
		count("AlertCatchUp", AlertCatchUp, "After a gap, all missed minutes are evaluated, if there are at most %s."),
		count("AlertReplay", AlertReplay, "After a longer gap, the last %s minutes are evaluated, or as many as a rule needs."),
		count("AlertGroups", AlertGroups, "A rule has at most %s groups. The rule says how many were left out."),
		count("AlertSQLGroups", AlertSQLGroups, "A rule with SQL has at most %s groups."),
		count("AlertSQLRows", AlertSQLRows, "The statement of a rule gives at most %s rows."),
		count("AlertCheckBatches", AlertCheckBatches, "Checks of at most %s organizations and minutes are stored with one insert."),
		lasts("AlertCheckRetention", AlertCheckRetention, "A check of a rule is kept for %s."),
		count("AlertLongestReplay", AlertLongestReplay, "They are at most %s minutes."),
	}
}
