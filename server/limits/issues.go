package limits

import "time"

// Error issues.
const (
	// IssueLease is the length of a lease that does not say more; IssueLeaseShortest and IssueLeaseLongest are its bounds.
	IssueLease         = 30 * time.Minute
	IssueLeaseShortest = time.Minute
	IssueLeaseLongest  = 2 * time.Hour
	// IssueQuiet is the time without occurrences after which an incident ends.
	IssueQuiet = 30 * time.Minute
	// IssueArchive is the time after which an issue that is done is archived, IssueDelete that after which an archived one is deleted.
	IssueArchive = 14 * Day
	IssueDelete  = 90 * Day
	// IssueRegressionGrace is the time after the end of an issue in which occurrences without a version do not count as regressions.
	// IssueStaticVersion is that for occurrences in a version that ran when it was done.
	IssueRegressionGrace = 5 * time.Minute
	IssueStaticVersion   = 72 * time.Hour
	// IssuesAMinute is the number of new issues of an organization in a minute, OpenIssues that of its open issues. Further groups count on
	// one issue a service.
	IssuesAMinute = 500
	OpenIssues    = 100_000
	// IssueNames is the number of versions, and of environments, that an issue remembers.
	IssueNames = 50
	// IssueNotices is the number of messages about issues of an organization within IssueNoticeTime; further issues come in one digest.
	IssueNotices    = 20
	IssueNoticeTime = 5 * time.Minute
	// IssueDigest is the number of issues that a digest names.
	IssueDigest = 20
	// IssueBatch is the number of sums that one transaction applies.
	IssueBatch = 1000
	// IssueLook is the pause between two looks for occurrences, IssueTick that between two looks for leases and pauses that are over.
	IssueLook = time.Second
	IssueTick = time.Minute
	// IssueTickRows is the number of issues that one look changes, IssueTickTogether that of one transaction.
	IssueTickRows     = 500
	IssueTickTogether = 100
	// IssueIncidents is the number of incidents that an issue shows, IssueFingerprints that of its fingerprints, IssueLinks that of its pull
	// requests.
	IssueIncidents    = 50
	IssueFingerprints = 100
	IssueLinks        = 100
	// IssueNote is the length of a note of a move, IssueComment that of a comment, IssueFix that of a proposed fix, IssueArtifacts the number
	// of further results of a fix, AgentName the length of the name of an agent and of one of its abilities, AgentCapabilities the number of
	// these. IssueMerge is the number of issues that are merged at once, IssueSplit that of fingerprints that are split off.
	// IssueFirstSeenCount is the largest number of occurrences that a policy may demand.
	IssueNote           = 2000
	IssueComment        = 10_000
	IssueFix            = 4000
	IssueArtifacts      = 20
	AgentName           = 100
	AgentCapabilities   = 50
	IssueMerge          = 50
	IssueFirstSeenCount = 100_000
	// IssueHash is the length of a fingerprint in a request, IssueHashes that of a list of them.
	IssueHash   = 200
	IssueHashes = 4000
	// IssueMostSamples is the number of occurrences that an issue can show.
	IssueMostSamples = 100
	// IssueFilterHashes is the number of fingerprints in a filter.
	IssueFilterHashes = 100
	// IssueWindow is the window of the occurrences of an issue when a request does not say more, IssueBucket the length of a bucket.
	IssueWindow = 24 * time.Hour
	IssueBucket = time.Hour
	// IssueSamples is the number of occurrences that an issue shows when a request does not say more.
	IssueSamples = 25
	// IssueCheckLook is the pause between two looks for checks of fixes that are due, IssueCheckEvery that between two looks at one, and
	// IssueCheckRows the number of checks of a look.
	IssueCheckLook  = 10 * time.Second
	IssueCheckEvery = 5 * time.Minute
	IssueCheckRows  = 100
	// PullRequestEvery is the pause between two questions to a source host about an open pull request, PullRequestClosed that about a closed
	// one, PullRequestUnknown that about one in a repository that no connected account has. PullRequestRows bounds the questions of a look,
	// and PullRequestTime the time of one.
	PullRequestEvery   = 5 * time.Minute
	PullRequestClosed  = Day
	PullRequestUnknown = time.Hour
	PullRequestRows    = 20
	PullRequestTime    = 10 * time.Second
	// PullRequestLook bounds the time of a look for all its questions, PullRequestCommits the questions about commits for a check of a fix.
	PullRequestLook    = 30 * time.Second
	PullRequestCommits = 20
	// PullRequestWait is the time in which the host has to answer while somebody links a pull request.
	PullRequestWait = 3 * time.Second
	// IssueDeployWait is the time that a fix may take to be deployed. IssueVerdictExpected is the number of occurrences that releases with the
	// fix would have without it before it is verified, IssueVerdictLeast and IssueVerdictMost the time that this takes at least and at most.
	IssueDeployWait      = 7 * Day
	IssueVerdictExpected = 5
	IssueVerdictLeast    = time.Hour
	IssueVerdictMost     = 72 * time.Hour
	// IssueRateWindow is the time before the deployment of a fix in which the rate of its error is measured.
	IssueRateWindow = 7 * Day
	// IssueVerdictAttempts is the number of checks of a fix, IssueVerifications that of the checks that an issue shows, and IssueFixReleases
	// that of the releases that a check names.
	IssueVerdictAttempts = 2
	IssueVerifications   = 10
	IssueFixReleases     = 20
	// IssueRollbackAfter is the time without telemetry of the releases with a fix, while others go on, after which they are rolled back.
	IssueRollbackAfter = 15 * time.Minute
	// IssueMergeAhead is how far in the future a reported merge may be: the clocks of build servers differ a little.
	IssueMergeAhead = 5 * time.Minute
	// CommitShortest is the length of the shortest name of a commit.
	CommitShortest = 7
	// IssueFixVersion is the length of the name of a version that has a fix.
	IssueFixVersion = 200
	// ErrorSumsFlush is the pause between two flushes of sums of errors to the database, ErrorSumsTimeout the time that one may take.
	ErrorSumsFlush   = 2 * time.Second
	ErrorSumsTimeout = 30 * time.Second
	// ErrorSumsMemory bounds the sums that wait for the database, in bytes, ErrorSumsGroups their groups when they are joined.
	ErrorSumsMemory = 64 << 20
	ErrorSumsGroups = 20_000
	// DefaultToolIssues is the number of issues that a tool lists when a call does not say more.
	DefaultToolIssues = 50
)

func issues() []Limit {
	return []Limit{
		lasts("IssueLease", IssueLease, "A lease of an issue lasts %s when a claim does not say more."),
		lasts("IssueLeaseShortest", IssueLeaseShortest, "A lease of an issue lasts at least %s."),
		lasts("IssueLeaseLongest", IssueLeaseLongest, "A lease of an issue lasts at most %s."),
		lasts("IssueQuiet", IssueQuiet, "An incident of an issue ends after %s without an occurrence."),
		lasts("IssueArchive", IssueArchive, "An issue that is done is archived after %s."),
		lasts("IssueDelete", IssueDelete, "An archived issue is deleted after %s."),
		lasts("IssueRegressionGrace", IssueRegressionGrace,
			"Occurrences without a version do not count as regressions for %s after an issue is done."),
		lasts("IssueStaticVersion", IssueStaticVersion,
			"Occurrences in a version that ran when an issue was done do not count as regressions for %s."),
		count("IssuesAMinute", IssuesAMinute,
			"An organization gets at most %s new issues in a minute; further groups of a service share one issue."),
		count("OpenIssues", OpenIssues, "An organization has at most %s open issues."),
		count("IssueNames", IssueNames, "An issue remembers the last %s versions and environments."),
		count("IssueNotices", IssueNotices,
			"Of the issues of one digest period, at most %s get a message each; further issues come in one digest."),
		lasts("IssueNoticeTime", IssueNoticeTime, "A digest period of issues lasts %s."),
		count("IssueDigest", IssueDigest, "A digest names at most %s issues."),
		count("IssueBatch", IssueBatch, "One transaction applies at most %s sums of occurrences."),
		lasts("IssueLook", IssueLook, "The server looks for new occurrences every %s."),
		lasts("IssueTick", IssueTick, "Every %s, the server looks for leases, pauses and incidents that have ended."),
		count("IssueTickRows", IssueTickRows, "A look for ended leases, pauses and incidents changes at most %s issues of a shard."),
		count("IssueTickTogether", IssueTickTogether, "One transaction of such a look changes at most %s issues."),
		count("IssueIncidents", IssueIncidents, "An issue shows its last %s incidents."),
		count("IssueFingerprints", IssueFingerprints, "It shows at most %s fingerprints."),
		count("IssueLinks", IssueLinks, "It shows at most %s pull requests."),
		characters("IssueNote", IssueNote, "A note of a move has at most %s."),
		characters("IssueComment", IssueComment, "A comment has at most %s."),
		characters("IssueFix", IssueFix, "A proposed fix has at most %s."),
		count("IssueArtifacts", IssueArtifacts, "It names at most %s further results."),
		characters("AgentName", AgentName, "The name of an agent, and an ability of it, have at most %s."),
		count("AgentCapabilities", AgentCapabilities, "An agent has at most %s abilities."),
		count("IssueMerge", IssueMerge, "At most %s issues are merged into one at once."),
		count("IssueFirstSeenCount", IssueFirstSeenCount, "A policy demands at most %s occurrences of a new issue."),
		characters("IssueHash", IssueHash, "A fingerprint in a request has at most %s."),
		characters("IssueHashes", IssueHashes, "A list of fingerprints in a filter has at most %s."),
		count("IssueMostSamples", IssueMostSamples, "An issue shows at most %s occurrences."),
		count("IssueFilterHashes", IssueFilterHashes, "A filter names at most %s fingerprints."),
		lasts("IssueWindow", IssueWindow, "An issue shows the occurrences of %s when a request does not say more."),
		lasts("IssueBucket", IssueBucket, "Their timeseries then has buckets of %s."),
		count("IssueSamples", IssueSamples, "It shows %s occurrences when a request does not say more."),
		lasts("IssueCheckLook", IssueCheckLook, "The server looks for fixes to check every %s."),
		lasts("IssueCheckEvery", IssueCheckEvery, "It checks one fix every %s."),
		lasts("PullRequestEvery", PullRequestEvery, "The server asks the source host about an open pull request of an issue every %s."),
		lasts("PullRequestClosed", PullRequestClosed, "The server asks about a closed pull request every %s."),
		lasts("PullRequestUnknown", PullRequestUnknown,
			"The server looks every %s for a connected account that has the repository of a pull request."),
		lasts("PullRequestLook", PullRequestLook, "A look asks no more of source hosts after %s."),
		count("PullRequestCommits", PullRequestCommits, "A check of a fix asks a source host about at most %s commits."),
		lasts("PullRequestWait", PullRequestWait, "A caller who links a pull request waits at most %s for the source host."),
		count("PullRequestRows", PullRequestRows, "A look asks about at most %s pull requests of a shard."),
		lasts("PullRequestTime", PullRequestTime, "A source host has %s to answer about a pull request."),
		count("IssueCheckRows", IssueCheckRows, "A look for fixes to check takes at most %s of a shard."),
		lasts("IssueDeployWait", IssueDeployWait, "A fix must be deployed within %s; otherwise its check is abandoned."),
		count("IssueVerdictExpected", IssueVerdictExpected,
			"A fix is verified when its releases have no occurrence and would have at least %s without the fix."),
		lasts("IssueVerdictLeast", IssueVerdictLeast, "A fix is verified at the earliest after %s."),
		lasts("IssueVerdictMost", IssueVerdictMost, "A check without a result ends after %s."),
		lasts("IssueRateWindow", IssueRateWindow, "The rate of an error before its fix is measured over %s."),
		count("IssueVerdictAttempts", IssueVerdictAttempts, "A fix is checked at most %s times."),
		count("IssueVerifications", IssueVerifications, "An issue shows its last %s checks of fixes."),
		count("IssueFixReleases", IssueFixReleases, "A check names at most %s releases."),
		lasts("IssueRollbackAfter", IssueRollbackAfter,
			"A fix counts as rolled back when its releases send nothing for %s and an earlier release goes on."),
		lasts("IssueMergeAhead", IssueMergeAhead, "The time of a merge may be at most %s in the future."),
		characters("CommitShortest", CommitShortest, "The name of a commit has at least %s."),
		characters("IssueFixVersion", IssueFixVersion, "The version that has a fix has at most %s."),
		lasts("ErrorSumsFlush", ErrorSumsFlush, "An ingest node hands its sums of errors to the database every %s."),
		lasts("ErrorSumsTimeout", ErrorSumsTimeout, "The database has %s to take the sums of errors of an ingest node."),
		size("ErrorSumsMemory", ErrorSumsMemory,
			"While the database does not answer, sums of %s wait on the node one by one; further sums are joined."),
		count("ErrorSumsGroups", ErrorSumsGroups, "When more than %s groups are joined, their occurrences are counted by service."),
		count("DefaultToolIssues", DefaultToolIssues, "A tool lists %s issues when a call does not say more."),
	}
}
