package limits

import "time"

// Integrations and source code.
const (
	// IntegrationLogin is the time in which an account can be connected after the start.
	IntegrationLogin = 10 * time.Minute
	// ProviderAnswer is for an answer of a provider, ProviderComparison for a comparison of commits, which holds the patches of all files.
	ProviderAnswer     = 8 << 20
	ProviderComparison = 32 << 20
	// ProviderTime bounds a request to a provider, ProviderArchiveTime one for the archive of a commit.
	ProviderTime        = 10 * time.Second
	ProviderArchiveTime = 2 * time.Minute
	// SuspectReleases is how many releases are searched for the one before an error.
	SuspectReleases = 50
	// ReturnTo is the length of the path to which the browser returns.
	ReturnTo = 2048
	// WebhookBody bounds a delivery of a provider.
	WebhookBody = 1 << 20
	// WebhookSigned is how old, or how new, a signed delivery may be.
	WebhookSigned = 5 * time.Minute
	// WebhookForgeries is how many bad signatures an address may send in WebhookForgeriesPeriod.
	WebhookForgeries       = 20
	WebhookForgeriesPeriod = time.Minute
	// WebhookRetention is how long the id of a delivery is kept.
	WebhookRetention = 7 * Day
	// IntegrationSync is the time between two synchronizations of an account without a delivery.
	IntegrationSync = 12 * time.Hour
	// DatabaseSync is that time for a database platform, PlatformEvents how long its events are kept.
	DatabaseSync   = 10 * time.Minute
	PlatformEvents = 30 * Day
	// Insights is the largest number of queries in an answer of a database platform, InsightsKept how long an answer is kept.
	Insights        = 25
	DefaultInsights = 10
	InsightsKept    = 60 * time.Second
	// PlatformEventPage is the largest page of events, DefaultPlatformEventPage its size if a request does not say it.
	PlatformEventPage        = 500
	DefaultPlatformEventPage = 100
	// PlatformEndpoints is the largest number of endpoints with metrics of one account that are scraped.
	PlatformEndpoints = 500
	// PlatformDatabases, PlatformBranches of a database, PlatformChanges of a database and PlatformAudit entries of the audit log are read at
	// each synchronization.
	PlatformDatabases = 200
	PlatformBranches  = 500
	PlatformChanges   = 100
	PlatformAudit     = 100
	// ChatSync is that time for a chat workspace, and ChatPoll that for one whose provider does not tell of changes. ChatChannels is the
	// largest number of channels in an answer.
	ChatSync     = 6 * time.Hour
	ChatPoll     = time.Hour
	ChatChannels = 1000
	// HostingSync is that time for a hosting platform, HostingSyncWait the wait for a synchronization that somebody asked for.
	HostingSync     = 10 * time.Minute
	HostingSyncWait = 20 * time.Second
	// HostingRetention is how long deployments are kept, HostingMissing how long a drain is shown that the platform no longer lists.
	HostingRetention = 30 * Day
	HostingMissing   = 7 * Day
	// HostingEnvironments is the largest number of environments of Railway that are read, HostingNewest that of deployments of each.
	HostingEnvironments = 100
	HostingNewest       = 50
	// PlatformToken is the length of a token of a platform.
	PlatformToken = 4096
	// RailwayProjects and VercelProjects are the largest numbers of projects of an account that are read.
	RailwayProjects = 1000
	VercelProjects  = 2000
	// HostingText bounds a name that a platform gives.
	HostingText = 500
	// ChatPause is the least time between two readings of a chat workspace after deliveries. ChatWait is the pause of a message whose
	// workspace waits for a person.
	ChatPause = time.Minute
	ChatWait  = 15 * time.Minute
	// IntegrationRetryLeast and IntegrationRetryMost bound the pause after a failed synchronization, IntegrationProbe is the pause while
	// somebody has to connect the account again.
	IntegrationRetryLeast = 30 * time.Second
	IntegrationRetryMost  = 15 * time.Minute
	IntegrationProbe      = Day
	// IntegrationRefusal is the time after which a second refusal of our credentials counts, IntegrationPause the longest pause that a
	// provider may ask for.
	IntegrationRefusal = time.Minute
	IntegrationPause   = time.Hour
	// IntegrationRenewal is how long a request waits until the access to an account is renewed.
	IntegrationRenewal = 5 * time.Second
	// IntegrationFailures in a row, or failures for IntegrationFailing, make the state of an account error.
	IntegrationFailures = 3
	IntegrationFailing  = 15 * time.Minute
	// IntegrationLoud is how long an account may be out of order before the audit of the setup says so.
	IntegrationLoud = 15 * time.Minute
	// RepositoryFormerName is how long a renamed repository is found by its former name; RepositoryFormerNames of them are kept.
	RepositoryFormerName  = 90 * Day
	RepositoryFormerNames = 10
	// RepositoryAccess is the age at which access to a repository is proven again before an answer.
	RepositoryAccess = 5 * time.Minute
	// RepositoryLook is the pause between two looks for repositories that are due, RepositoryRows the number of repositories of a look, and
	// RepositoryTime the time for one.
	RepositoryLook = 5 * time.Second
	RepositoryRows = 20
	RepositoryTime = time.Minute
	// RepositoryBusy is the time between two looks at a repository in which something happened within a day, RepositoryQuiet that with
	// something in RepositoryRecent, and RepositoryIdle that of others. A first look goes RepositoryRecent back.
	RepositoryBusy   = 15 * time.Minute
	RepositoryQuiet  = time.Hour
	RepositoryIdle   = 12 * time.Hour
	RepositoryRecent = 7 * Day
	// RepositoryPulls is the number of changed pull requests that one look reads, RepositoryNamed that of issues that one of them may name,
	// and RepositoryDeployments that of its newest deployments. RepositoryUnread is the number of looks in which a host may fail to tell the
	// commits of a pull request before it is linked without them.
	RepositoryPulls       = 20
	RepositoryUnread      = 3
	RepositoryNamed       = 20
	RepositoryDeployments = 20
	// RepositoryChanges is the number of changed pull requests that a look gets from the host; of more, it gets the newest.
	RepositoryChanges = 300
	// DeploymentJoin is how far apart the reports of one deployment may begin. The same commit may be deployed again later.
	DeploymentJoin = 15 * time.Minute
	// SourceRef is the length of the name of a branch, tag or commit, SourcePath that of a path.
	SourceRef  = 255
	SourcePath = 1024
	// SourceQuery is the length of a query, SourceFiles the largest number of files in an answer.
	SourceQuery        = 256
	SourceFiles        = 20
	DefaultSourceFiles = 10
	// SourceTerms and SourceGlob bound the terms and the glob of a query. SourceProgram bounds the instructions of its expressions, because
	// the time of a search grows with them: x{1000} has 1,000.
	SourceTerms   = 16
	SourceGlob    = 256
	SourceProgram = 2000
	// SourceContext is how many lines a search shows before and after a match.
	SourceContext = 3
	// SourceSnippets and SourceSnippet bound the places that an answer shows of a file.
	SourceSnippets = 2
	SourceSnippet  = 2000
	// SourceSearchTime bounds the CPU of a search, SourcePackWait the wait for the copy of a commit.
	SourceSearchTime = 2 * time.Second
	SourcePackWait   = 8 * time.Second
	// SourceSearches in a minute are allowed to an organization.
	SourceSearches       = 20
	SourceSearchesPeriod = time.Minute
	SourceSearchesAtOnce = 2
	// SourceLines and SourceText bound a file in an answer.
	SourceLines = 400
	SourceText  = 40_000
	// SourceArchive is the size of the archive of a commit, SourceUnpacked that of its files. SourceSearched is the size of the largest file
	// that is searched, SourceGenerated that of the largest one that a program wrote or that is vendored.
	SourceArchive   = 512 << 20
	SourceUnpacked  = 1 << 30
	SourceSearched  = 1 << 20
	SourceGenerated = 512 << 10
	// SourceTextBytes is the size of the text of a commit that is searched, SourceVendored that of its vendored files. SourceEntries is the
	// number of its files and folders, SourcePathsBytes the size of all their paths, SourcePathBytes that of one of them. SourceExpansion is
	// how many times larger than its archive a commit may be.
	SourceTextBytes  = 256 << 20
	SourceVendored   = 64 << 20
	SourceEntries    = 100_000
	SourcePathsBytes = 16 << 20
	SourcePathBytes  = 1024
	SourceExpansion  = 250
	// SourceSmall is the size up to which SourceExpansion does not hold: small archives of repeated text pass.
	SourceSmall = 32 << 20
	// SourceMatches is the number of matching lines after which a search ends.
	SourceMatches = 200_000
	// SourceBuildTime is the time for the copy of a commit. A commit that is too large is refused for SourceTooLarge without another look, one
	// whose archive could not be read for SourceUnreadable.
	SourceBuildTime  = 5 * time.Minute
	SourceTooLarge   = time.Hour
	SourceUnreadable = time.Minute
	// SourceFileBytes is the size of the largest file that is read.
	SourceFileBytes = 10 << 20
	// SourceCommits and SourceChanges bound a comparison, SourcePatch and SourceText its patches.
	SourceCommits        = 250
	DefaultSourceCommits = 50
	SourceChanges        = 300
	SourcePatch          = 3000
	// SourceRuns is the largest number of runs in an answer, SourceFailedJobs that of jobs of a run.
	SourceRuns        = 50
	DefaultSourceRuns = 10
	SourceFailedJobs  = 5
	// SourceRunsSearched is the number of the newest runs that are searched for a status that the host cannot filter by.
	SourceRunsSearched = 300
	// SourceFrames bounds the time of a search for the files of a stack. If telemetry names no repository, the search reads at most
	// SourceFrameRepositories. SourceFrameStacks further stacks prove where files are.
	SourceFrames            = time.Second
	SourceFrameRepositories = 5
	SourceFrameStacks       = 20
	// SuspectWait bounds the wait for suspect commits, SuspectSearch their search, which goes on after that. SuspectCommits of them are shown.
	// Without an earlier release they are searched in the SuspectWindow before an error; releases are looked for that far back, too.
	SuspectWait    = time.Second
	SuspectSearch  = 20 * time.Second
	SuspectCommits = 3
	// SuspectFiles is the number of files of a stack whose commits are looked at, SuspectChanges that of commits whose changes are read.
	SuspectFiles   = 3
	SuspectChanges = 4
	SuspectWindow  = 14 * Day
	SuspectMessage = 200
	// ErrorFrames is the largest number of calls of a stack in an answer. SourceFrameFiles of their files are shown, with SourceFrameLines
	// before and behind a call, each cut to SourceFrameLine.
	ErrorFrames      = 50
	SourceFrameFiles = 20
	SourceFrameLines = 3
	SourceFrameLine  = 300
)

func source() []Limit {
	return []Limit{
		count("SourceTerms", SourceTerms, "A search of source code has at most %s terms."),
		size("SourceGlob", SourceGlob, "Its glob has at most %s."),
		count("SourceProgram", SourceProgram, "Its expressions have at most %s instructions."),
		count("SourceContext", SourceContext, "It shows %s lines before and after a match."),
		count("PlatformDatabases", PlatformDatabases, "At most %s databases of an account of a database platform are read."),
		count("PlatformBranches", PlatformBranches, "At most %s branches of each database are read."),
		count("PlatformChanges", PlatformChanges, "At most %s deploy requests of each database are read, the newest first."),
		count("PlatformAudit", PlatformAudit, "The %s newest entries of the audit log are read at each synchronization."),
		count("RailwayProjects", RailwayProjects, "At most %s projects of a workspace of Railway are read."),
		count("VercelProjects", VercelProjects, "At most %s projects of an account of Vercel are read."),
		lasts("IntegrationLogin", IntegrationLogin, "An account is connected within %s after the start."),
		lasts("ProviderTime", ProviderTime, "A request to a provider takes at most %s."),
		lasts("ProviderArchiveTime", ProviderArchiveTime, "A request for the archive of a commit takes at most %s."),
		characters("ReturnTo", ReturnTo, "The path to which the browser returns after connecting an account has at most %s."),
		size("WebhookBody", WebhookBody, "A delivery of a provider has at most %s."),
		lasts("WebhookSigned", WebhookSigned, "A signed delivery is refused if its time is more than %s from that of the server."),
		rate("WebhookForgeries", WebhookForgeries, WebhookForgeriesPeriod,
			"Webhooks of providers: each address may make %s with a bad signature."),
		lasts("WebhookRetention", WebhookRetention, "A delivery that is repeated within %s does nothing."),
		lasts("IntegrationSync", IntegrationSync, "A connected account is read again after %s at the latest."),
		lasts("IntegrationRetryLeast", IntegrationRetryLeast, "After a failure, an account is read again after %s at the earliest."),
		lasts("IntegrationRetryMost", IntegrationRetryMost, "While reads of an account fail, they are repeated at least once in %s."),
		lasts("IntegrationProbe", IntegrationProbe, "An account that has to be connected again is tried once in %s."),
		lasts("IntegrationRefusal", IntegrationRefusal, "Credentials that a provider refuses twice, %s apart or more, need a new connection."),
		lasts("IntegrationPause", IntegrationPause, "A provider that asks for a pause is asked again after %s at the latest."),
		lasts("IntegrationRenewal", IntegrationRenewal, "A request waits at most %s for the renewal of an access to an account that has ended."),
		count("IntegrationFailures", IntegrationFailures, "After %s failures in a row, the state of an account is `error`."),
		lasts("IntegrationFailing", IntegrationFailing,
			"The state of an account is `error` after %s of failures or without quota at the provider."),
		lasts("IntegrationLoud", IntegrationLoud, "The audit of the setup reports an account that is out of order for %s."),
		lasts("RepositoryFormerName", RepositoryFormerName, "A renamed repository is found by its former name for %s."),
		count("RepositoryFormerNames", RepositoryFormerNames, "A repository keeps at most %s former names."),
		lasts("RepositoryAccess", RepositoryAccess, "An answer from a repository needs access to it that was proven within the last %s."),
		lasts("RepositoryLook", RepositoryLook, "The server looks every %s for repositories whose pull requests and deployments it has to read."),
		count("RepositoryRows", RepositoryRows, "A look reads at most %s repositories of a shard."),
		lasts("RepositoryTime", RepositoryTime, "It reads one repository for at most %s."),
		lasts("RepositoryBusy", RepositoryBusy, "Without a delivery, a repository with an event in the last day is read every %s."),
		lasts("RepositoryQuiet", RepositoryQuiet, "A repository with a recent event is read every %s."),
		lasts("RepositoryIdle", RepositoryIdle, "Every other repository is read every %s."),
		lasts("RepositoryRecent", RepositoryRecent, "The first look at a repository goes %s back; events in that time count as recent."),
		count("RepositoryUnread", RepositoryUnread,
			"If a host does not return the commits of a pull request in %s looks, svc goes on without them."),
		count("RepositoryPulls", RepositoryPulls, "A look reads at most %s changed pull requests of a repository; the next one goes on there."),
		count("RepositoryNamed", RepositoryNamed, "The server links a pull request to at most %s issues that it names."),
		count("RepositoryDeployments", RepositoryDeployments, "A look reads the newest %s deployments of a repository."),
		count("RepositoryChanges", RepositoryChanges, "If more than %[1]s pull requests changed between two looks, only the newest %[1]s are read."),
		lasts("DeploymentJoin", DeploymentJoin,
			"A deployment that two providers report is one deployment if both reports began within %s."),
		characters("SourceRef", SourceRef, "The name of a branch, tag or commit has at most %s."),
		characters("SourcePath", SourcePath, "A path in a repository has at most %s."),
		characters("SourceQuery", SourceQuery, "A query for source code has at most %s."),
		count("SourceFiles", SourceFiles, "A search in source code returns at most %s files."),
		count("DefaultSourceFiles", DefaultSourceFiles, "A search in source code returns %s files if the request does not say how many."),
		count("SourceSnippets", SourceSnippets, "A search in source code shows at most %s places of a file."),
		characters("SourceSnippet", SourceSnippet, "A place in source code is shown with at most %s."),
		lasts("SourceSearchTime", SourceSearchTime, "A search in source code ends after %s and says that it is incomplete."),
		lasts("SourcePackWait", SourcePackWait, "A search waits at most %s for the copy of a commit."),
		rate("SourceSearches", SourceSearches, SourceSearchesPeriod, "Search in source code: each organization may make %s."),
		count("SourceSearchesAtOnce", SourceSearchesAtOnce, "A node runs at most %s searches in source code at once."),
		count("SourceLines", SourceLines, "An answer has at most %s lines of a file."),
		characters("SourceText", SourceText, "The lines of a file in an answer, and the patches of a comparison, have at most %s."),
		size("SourceArchive", SourceArchive, "A commit is searched if its archive has at most %s."),
		size("SourceUnpacked", SourceUnpacked, "A commit is searched if its files have at most %s in all."),
		size("SourceSearched", SourceSearched, "Files of more than %s are left out of the search."),
		size("SourceGenerated", SourceGenerated, "Files of more than %s that a program wrote or that are vendored are left out, too."),
		size("SourceTextBytes", SourceTextBytes, "A commit is searched if its text has at most %s."),
		size("SourceVendored", SourceVendored, "Of vendored files, the first %s are searched."),
		count("SourceEntries", SourceEntries, "A commit is searched if it has at most %s files and folders."),
		size("SourcePathsBytes", SourcePathsBytes, "A commit is searched if all its paths have at most %s."),
		size("SourcePathBytes", SourcePathBytes, "A file is found if its path has at most %s."),
		count("SourceExpansion", SourceExpansion, "A commit is searched if it is at most %s times as large as its archive."),
		size("SourceSmall", SourceSmall, "This ratio does not apply to a commit of at most %s."),
		count("SourceMatches", SourceMatches, "A search ends after %s matching lines and says that it is incomplete."),
		lasts("SourceBuildTime", SourceBuildTime, "A commit is searched if it can be fetched and unpacked within %s."),
		lasts("SourceTooLarge", SourceTooLarge, "A commit that is too large for the search is fetched again after %s at the earliest."),
		lasts("SourceUnreadable", SourceUnreadable, "One whose archive cannot be read is fetched again after %s at the earliest."),
		size("SourceFileBytes", SourceFileBytes, "A file that is read has at most %s."),
		count("SourceCommits", SourceCommits, "A comparison returns at most %s commits."),
		count("DefaultSourceCommits", DefaultSourceCommits, "A comparison returns %s commits if the request does not say how many."),
		count("SourceChanges", SourceChanges, "A comparison returns at most %s files."),
		characters("SourcePatch", SourcePatch, "The patch of a file in a comparison has at most %s."),
		size("ProviderAnswer", ProviderAnswer, "An answer of a provider is read up to %s."),
		size("ProviderComparison", ProviderComparison, "A comparison of commits by GitLab is read up to %s."),
		count("SuspectReleases", SuspectReleases, "The release before an error is searched among the latest %s."),
		lasts("DatabaseSync", DatabaseSync,
			"The databases of a database platform are read again every %s, and after a delivery of the provider."),
		lasts("PlatformEvents", PlatformEvents, "Events of a database platform are kept for %s."),
		count("Insights", Insights, "A request returns the figures of at most %s queries of a database platform."),
		count("DefaultInsights", DefaultInsights, "A request returns the figures of %s queries if it does not say how many."),
		lasts("InsightsKept", InsightsKept, "Figures of queries of a database platform are kept for %s."),
		count("PlatformEventPage", PlatformEventPage, "A request returns at most %s events of a database platform."),
		count("DefaultPlatformEventPage", DefaultPlatformEventPage,
			"A request returns %s events of a database platform if it does not say how many."),
		count("PlatformEndpoints", PlatformEndpoints, "At most %s endpoints with metrics of a database platform are scraped."),
		lasts("ChatSync", ChatSync, "The channels of a workspace of Slack are read again every %s, and after a delivery of Slack."),
		lasts("ChatPoll", ChatPoll, "The channels of a server of Discord are read again every %s."),
		lasts("ChatPause", ChatPause, "Deliveries of the provider make the server read a chat workspace at most every %s."),
		lasts("ChatWait", ChatWait, "A message to a chat workspace that has to be connected again is tried again after %s."),
		count("ChatChannels", ChatChannels, "A request returns at most %s channels of a chat workspace."),
		lasts("HostingSync", HostingSync, "The projects and deployments of a hosting platform are read again every %s."),
		lasts("HostingSyncWait", HostingSyncWait, "A request to synchronize a hosting platform waits at most %s."),
		lasts("HostingRetention", HostingRetention, "Deployments of hosting platforms are kept for %s."),
		lasts("HostingMissing", HostingMissing, "A drain that its platform no longer lists is shown for %s."),
		count("HostingEnvironments", HostingEnvironments, "A reading of Railway reads at most %s environments."),
		count("HostingNewest", HostingNewest, "A reading of Railway reads the newest %s deployments of each environment."),
		characters("PlatformToken", PlatformToken, "The token of a hosting platform has at most %s."),
		characters("HostingText", HostingText, "Of a name that a hosting platform gives, the first %s are kept."),
		count("SourceRuns", SourceRuns, "A request returns at most %s runs of CI."),
		count("DefaultSourceRuns", DefaultSourceRuns, "A request returns %s runs of CI if it does not say how many."),
		count("SourceRunsSearched", SourceRunsSearched,
			"Runs of CI with a status that GitLab does not have are searched among the newest %s."),
		lasts("SourceFrames", SourceFrames, "The files of a stack are searched in connected repositories for at most %s."),
		count("SourceFrameRepositories", SourceFrameRepositories, "If telemetry names no repository for a stack, at most %s are searched."),
		count("SourceFrameStacks", SourceFrameStacks, "At most %s further stacks of a program prove where its files are."),
		lasts("SuspectWait", SuspectWait, "An issue waits at most %s for its suspect commits."),
		lasts("SuspectSearch", SuspectSearch, "Suspect commits are searched for at most %s."),
		count("SuspectCommits", SuspectCommits, "An issue shows at most %s suspect commits."),
		count("SuspectFiles", SuspectFiles, "Suspect commits are searched for at most %s files of a stack."),
		count("SuspectChanges", SuspectChanges, "The changes of at most %s commits are read for the suspect commits of an issue."),
		lasts("SuspectWindow", SuspectWindow,
			"Suspect commits are searched in the %s before an error if the commit of the release before is not known."),
		characters("SuspectMessage", SuspectMessage, "The message of a suspect commit is shown with at most %s."),
		count("ErrorFrames", ErrorFrames, "An error is shown with at most %s calls of its stack."),
		count("SourceFrameFiles", SourceFrameFiles, "The calls of a stack are shown with the source of at most %s files."),
		count("SourceFrameLines", SourceFrameLines, "The source of a call has %s lines before and after it."),
		characters("SourceFrameLine", SourceFrameLine, "A line of the source of a call has at most %s."),
		count("SourceFailedJobs", SourceFailedJobs, "A run of CI is shown with at most %s failed jobs."),
	}
}
