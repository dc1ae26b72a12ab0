package contract

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/demo"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/services/dashboards/templates"
	"github.com/svc-observability/svc/server/source/frames"
)

// documentFigures binds the figures of the documents to limits, as boundFigures does for the contract.
var documentFigures = []struct{ figure, documents string }{
	{limits.Lasts(limits.BridgeWait), "cli.md"},
	{limits.Lasts(limits.BreakdownWindow), "cli.md*2"},
	{limits.Size(64 << 20), "reliability.md"}, // the heap of a build: package source/pack
	{limits.Lasts(limits.CompletionKept), "cli.md"},
	{limits.Size(121 << 20), "cli.md"}, // measured
	{limits.Size(144 << 20), "cli.md"}, // measured
	{limits.Number(limits.SQLRows), "cli.md*2"},
	{limits.Size(limits.SQLResult), "cli.md*2"},
	{limits.Lasts(limits.SQLTime), "cli.md"},
	{limits.Lasts(limits.IntegrationSync), "integrations.md*2"},
	{limits.Lasts(limits.ChatSync), "integrations.md*2"},
	{limits.Lasts(limits.HostingSync), "integrations.md*2"},
	{limits.Lasts(limits.HostingSyncWait), "integrations.md"},
	{limits.Lasts(limits.HostingRetention), "integrations.md*2"},
	{limits.Lasts(limits.HostingMissing), "integrations.md"},
	{limits.Number(limits.HostingEnvironments), "integrations.md"},
	{limits.Lasts(limits.PlatformEvents), "integrations.md"},
	{limits.Lasts(limits.InsightsKept), "integrations.md"},
	{limits.Lasts(limits.ChatPause), "integrations.md"},
	{limits.Lasts(limits.ChatWait), "integrations.md"},
	{limits.Lasts(limits.IntegrationLogin), "integrations.md"},
	{limits.Lasts(limits.RepositoryAccess), "integrations.md"},
	{limits.Lasts(limits.RepositoryFormerName), "integrations.md"},
	{limits.Number(limits.RepositoryNamed), "integrations.md"},
	{limits.Lasts(limits.SourcePackWait), "integrations.md"},
	{limits.Lasts(limits.SourceFrames), "integrations.md"},
	{limits.Number(limits.SuspectCommits), "integrations.md"},
	{limits.Lasts(limits.SuspectWindow), "integrations.md"},
	{limits.Number(limits.SourceFrameRepositories), "integrations.md"},
	{limits.Lasts(limits.IntegrationRetryLeast), "integrations.md"},
	{limits.Lasts(limits.IntegrationRefusal), "integrations.md"},
	{limits.Lasts(limits.IntegrationPause), "integrations.md"},
	{limits.Lasts(limits.IntegrationRenewal), "integrations.md"},
	{limits.Lasts(limits.IntegrationLoud), "integrations.md"},
	{limits.Lasts(limits.AlertSettle), "alerts.md"},
	{limits.Lasts(limits.AlertSettle + limits.AlertSpread), "alerts.md"},
	{limits.Lasts(limits.AlertPatience), "alerts.md"},
	{limits.Number(limits.AlertCatchUp), "alerts.md"},
	{limits.Lasts(limits.AlertHoldVolume), "alerts.md"},
	{limits.Lasts(limits.AlertHoldSampling), "alerts.md"},
	{limits.Lasts(limits.AlertBaseline), "alerts.md"},
	{limits.Lasts(limits.AlertCheckRetention), "alerts.md"},
	{limits.Lasts(limits.AlertCheckHourRetention), "alerts.md"},
	{limits.Lasts(limits.AlertTogether * time.Minute), "alerts.md"},
	{limits.Lasts(limits.AlertFastBurn), "alerts.md"},
	{limits.Lasts(limits.AlertSteadyBurn), "alerts.md"},
	{limits.Lasts(limits.AlertSlowBurnShort), "alerts.md"},
	{limits.Lasts(limits.AlertSlowBurn), "alerts.md"},
	{limits.Lasts(limits.AlertCreepingBurn), "alerts.md"},
	{limits.Number(limits.EventAttributes), "browser-sdk.md"},
	{limits.Size(limits.EventAttributeKey), "browser-sdk.md"},
	{limits.Size(limits.EventAttributeValue), "browser-sdk.md"},
	{limits.Lasts(limits.SessionLength), "browser-sdk.md"},
	// Bounds that the browser SDK sets itself: clients/browser.
	{limits.Lasts(sdkTime("session", "idleEnd")), "browser-sdk.md"},
	{limits.Lasts(sdkTime("replay", "snapshotEvery")), "browser-sdk.md"},
	{limits.Lasts(sdkTime("replay", "flushEvery")), "browser-sdk.md"},
	{limits.Lasts(sdkTime("client", "flushEvery")), "browser-sdk.md"},
	{limits.Lasts(sdkTime("replay", "slowSnapshot")), "browser-sdk.md"},
	{limits.Lasts(sdkTime("guard", "budget")), "browser-sdk.md"},
	{limits.Size(sdk("transport", "maxKeepalive")), "browser-sdk.md"},
	{limits.Size(sdk("transport", "maxQueue")), "browser-sdk.md"},
	{limits.Number(sdk("transport", "maxTries")), "browser-sdk.md"},
	{limits.Size(sdk("replay", "chunkBytes")), "browser-sdk.md"},
	{limits.Number(sdk("replay", "snapshotEvents")), "browser-sdk.md"},
	{limits.Number(sdk("replay", "maxNodes")), "browser-sdk.md"},
	// Beginnings of faults, and the life of an access token of GitLab.
	{"2 hours", "incidents.md integrations.md"},
	{"5 minutes", "incidents.md"},
	{"3", "integrations.md*2 reads.md"},
	{limits.Lasts(limits.IdempotencyRetention), "clients.md"},
	{limits.Lasts(limits.TimeseriesWindow), "dashboard-data.md*2"},
	{limits.Lasts(limits.SearchWindow), "dashboard-data.md"},
	{limits.Lasts(limits.BreakdownWindow), "dashboard-data.md"},
	{limits.Lasts(limits.UnfilteredBreakdownWindow), "dashboard-data.md"},
	{limits.Lasts(limits.TraceRetention), "demo.md reads.md*2"},
	{limits.Lasts(limits.LogRetention), "reads.md*0"},
	{limits.Lasts(limits.SessionRetention), "reads.md*0"},
	{limits.Lasts(limits.MetricRetention), "reads.md*0"},
	{limits.Lasts(limits.ErrorRetention), "reads.md*0"},
	{limits.Lasts(limits.RollupRetention), "reads.md*2"},
	{limits.Lasts(limits.ProductEventRetention), "reads.md"},
	{limits.Lasts(limits.ReadTime), "reads.md operations.md"},
	{limits.Number(limits.TraceSpans), "reads.md"},
	{limits.Lasts(limits.ActivityWindow), "journeys.md"},
	{limits.Number(limits.RecordingPage), "journeys.md"},
	{limits.Size(limits.QueueOfOrganization), "limits.md"},
	{limits.Lasts(limits.OAuthCode), "oauth.md"},
	{limits.Lasts(limits.OAuthAccess), "oauth.md sign-in.md"},
	{limits.Lasts(limits.OAuthRefresh), "oauth.md sign-in.md"},
	{limits.Lasts(limits.OAuthGrant), "oauth.md sign-in.md"},
	{limits.Lasts(limits.SessionLifetime), "sign-in.md"},
	{limits.Lasts(limits.SessionIdle), "sign-in.md"},
	{limits.Lasts(limits.InvitationLink), "sign-in.md"},
	{limits.Lasts(limits.CLIKey), "sign-in.md"},
	{limits.Lasts(limits.ScrapeBackoff), "scraping.md"},
	{limits.Lasts(limits.ScrapeTimeout), "scraping.md"},
	{limits.Lasts(limits.SearchWindow), "incidents.md reads.md*2"},
	{limits.Number(limits.DistributionColumns), "reads.md"},
	{limits.Number(limits.DistributionRows), "reads.md"},
	{limits.Number(limits.SpanFields), "reads.md"},
	{limits.Lasts(limits.ReleaseWindow), "incidents.md"},
	// The statistics of package diagnose.
	{limits.Lasts(diagnose.FineBucket), "incidents.md"},
	{limits.Lasts(diagnose.FineUpTo), "incidents.md"},
	{limits.Lasts(diagnose.MiddleBucket), "incidents.md"},
	{limits.Lasts(diagnose.MiddleUpTo), "incidents.md"},
	{limits.Lasts(diagnose.CoarseBucket), "incidents.md"},
	{limits.Lasts(diagnose.PauseUpTo), "incidents.md"},
	{limits.Lasts(diagnose.BeforeLeast), "incidents.md"},
	{limits.Lasts(diagnose.BeforeMost), "incidents.md"},
	{limits.Lasts(diagnose.Together), "incidents.md"},
	{limits.Lasts(limits.MarkerBefore), "incidents.md"},
	{limits.Lasts(limits.IssueStaticVersion), "issues.md"},
	{limits.Number(limits.IssuesAMinute), "issues.md"},
	{limits.Number(limits.OpenIssues), "issues.md"},
	{limits.Lasts(limits.IssueQuiet), "issues.md"},
	{limits.Lasts(limits.IssueArchive), "issues.md"},
	{limits.Lasts(limits.IssueDelete), "issues.md"},
	{limits.Lasts(limits.IssueNoticeTime), "issues.md"},
	{limits.Number(limits.AlertIssues), "issues.md"},
	{limits.Lasts(limits.IssueDeployWait), "issues.md"},
	{limits.Lasts(limits.IssueVerdictMost), "issues.md"},
	{limits.Lasts(limits.IssueVerdictLeast), "issues.md"},
	{limits.Lasts(limits.IssueRollbackAfter), "issues.md"},
	{limits.Size(limits.ScrapeBody), "scraping.md"},
	{limits.Size(limits.ScrapeLabelValue), "scraping.md"},
	{limits.Size(limits.SQLText), "sql.md"},
	{limits.Size(limits.SQLMemory), "sql.md"},
	{limits.Size(limits.SQLResult), "sql.md"},
	{limits.Lasts(limits.SQLTime), "sql.md"},
	{limits.Size(limits.SQLSearch), "sql.md"},
	{limits.Size(limits.SQLSearchAnyCase), "sql.md"},
	{limits.Lasts(limits.ReadEnd), "sql.md"},
	{limits.Number(limits.SQLRows), "sql.md"},
	{limits.Number(limits.SQLRowsRead), "sql.md"},
	{limits.Number(limits.SQLStatementsOfOrganization), "sql.md*3 reads.md"},
	{limits.Lasts(limits.DefaultSQLWindow), "sql.md"},
	{limits.Size(limits.EventNameBytes), "trace-policies.md"},
	{limits.Size(limits.EventID), "trace-policies.md"},
	{limits.Size(limits.EventURL), "trace-policies.md"},
	{fmt.Sprint(alerting.LowDeviations), "alerts.md"},
	{fmt.Sprint(alerting.LowRatio), "alerts.md"},
	{fmt.Sprint(alerting.NormalDeviations), "alerts.md"},
	{fmt.Sprint(alerting.NormalRatio), "alerts.md"},
	{fmt.Sprint(alerting.HighDeviations), "alerts.md"},
	{fmt.Sprint(alerting.HighRatio), "alerts.md"},
	{limits.Number(limits.AlertBaselineHours), "alerts.md"},
	{limits.Number(limits.DefaultAlertBurnBad), "alerts.md"},
	{limits.Number(limits.AlertNotices), "alerts.md"},
	{limits.Number(limits.AlertFastBurnShare) + " %", "alerts.md"},
	{limits.Number(limits.AlertSteadyBurnShare) + " %", "alerts.md"},
	{limits.Number(limits.AlertSlowBurnShare) + " %", "alerts.md"},
	{limits.Number(limits.AlertCreepingBurnShare) + " %", "alerts.md"},
	{limits.Lasts(limits.AlertFastBurnShort), "alerts.md"},
	{limits.Lasts(limits.AlertSteadyBurnShort), "alerts.md"},
	{limits.Lasts(limits.AlertCreepingBurnShort), "alerts.md"},
	{limits.Number(limits.DefaultApdex.Milliseconds()), "alerts.md"},
	{"10,000", "cli.md"},
	{limits.Number(limits.DashboardVersions), "clients.md"},
	{limits.Number(limits.VariableValues), "dashboard-data.md"},
	{limits.Number(limits.IdempotencyKey), "clients.md"},
	{"24 hours", "clients.md dashboard-data.md"},
	{limits.Number(limits.IncidentSeries), "incidents.md"},
	{limits.Number(limits.DifferenceRows), "incidents.md"},
	{limits.Lasts(limits.ChangesSilent), "ingest-keys.md"},
	{"5", "alerts.md"},
	{"200", "clients.md"},
	{limits.Number(len(templates.All())), "clients.md web-ui.md"},
	{"50 minutes", "demo.md"},
	{"80 minutes", "demo.md"},
	{limits.Lasts(limits.DatabaseSync), "integrations.md*2"},
	{limits.Lasts(limits.ChartRetry), "integrations.md"},
	{limits.Lasts(limits.RepositoryIdle), "integrations.md"},
	{limits.Lasts(limits.RepositoryBusy), "integrations.md*2"},
	{limits.Lasts(limits.DeploymentJoin), "integrations.md"},
	{limits.Lasts(limits.IntegrationFailing), "integrations.md"},
	{limits.Lasts(limits.IntegrationRetryMost), "integrations.md"},
	{limits.Number(limits.SourceSearches), "integrations.md"},
	{limits.Number(limits.RepositoryDeployments), "integrations.md"},
	{limits.Number(limits.SuspectFiles), "integrations.md"},
	{limits.Number(limits.SuspectChanges), "integrations.md"},
	{limits.Number(limits.IntegrationFailures), "integrations.md"},
	{limits.Number(limits.RepositoryUnread), "integrations.md"},
	{limits.Number(limits.HostingNewest), "integrations.md"},
	{limits.Number(limits.SourceRunsSearched), "integrations.md"},
	{limits.Number(limits.RepositoryChanges), "integrations.md*2"},
	{limits.Number(frames.Proof), "integrations.md"},
	{limits.Lasts(limits.ChartLifetime), "integrations.md"},
	{limits.Lasts(limits.PullRequestEvery), "integrations.md"},
	{limits.Lasts(limits.RepositoryRecent), "integrations.md*2"},
	{"4", "integrations.md"},
	{limits.Number(limits.IssueNotices), "issues.md"},
	{limits.Number(limits.IssueVerdictExpected), "issues.md"},
	{limits.Lasts(limits.IssueLease), "issues.md"},
	{limits.Lasts(limits.IssueRegressionGrace), "issues.md"},
	{limits.Lasts(limits.IssueRateWindow), "issues.md"},
	{limits.Number(limits.RecordingPayload), "journeys.md"},
	{limits.Number(limits.QueueEighths), "limits.md"},
	{limits.Number(limits.Lanes), "limits.md"},
	{limits.Number(limits.ProblemExamples), "operations.md"},
	{limits.Number(limits.ShownOutcomes), "operations.md"},
	{"5 seconds", "operations.md"},
	{"4", "reads.md"},
	{limits.Number(limits.DefaultSkeletonSpans), "reads.md"},
	{limits.Number(limits.SkeletonSpans), "reads.md"},
	{limits.Number(limits.IngestRequests), "reliability.md"},
	{limits.Lasts(limits.IngestTime), "reliability.md"},
	{limits.Number(limits.ScrapesInFlight), "scraping.md"},
	{limits.Number(limits.ScrapesOfOrganization), "scraping.md"},
	{limits.Number(limits.ScrapeLabels), "scraping.md"},
	{limits.Number(limits.ScrapesOfHost), "scraping.md"},
	{limits.Number(limits.ScrapeBuckets), "scraping.md"},
	{limits.Number(limits.ScrapeSamples), "scraping.md"},
	{"4", "scraping.md"},
	{limits.Lasts(limits.ScrapeConnection), "scraping.md"},
	{limits.Number(limits.SQLSelects), "sql.md"},
	{limits.Number(limits.DefaultSQLIntervals), "sql.md"},
	{limits.Number(limits.SQLExpansion), "sql.md"},
	{limits.Number(limits.SQLNodes), "sql.md"},
	{limits.Number(limits.SQLStatements), "sql.md*2"},
	{limits.Number(limits.ItemAttributes), "trace-policies.md"},
	// The oldest hour that the demo sends is one hour younger than the retention.
	{limits.Lasts(limits.TraceRetention - time.Hour), "demo.md"},
	{limits.Lasts(limits.IdempotencyLease), "clients.md"},
	{limits.Lasts(limits.IngestKeyCopy), "ingest-keys.md"},
	{limits.Lasts(limits.IngestKeyOutage), "ingest-keys.md"},
	{limits.Lasts(limits.WindowSettled), "reads.md sql.md"},
	{limits.Lasts(limits.ResultKept), "reads.md"},
	{limits.Lasts(limits.SQLResultKept), "sql.md"},
	{limits.Lasts(limits.SQLPause), "sql.md"},
	{limits.Lasts(limits.SQLWait), "sql.md"},
	{limits.Lasts(limits.LeastSQLInterval), "sql.md"},
	{limits.Number(limits.ReadsOfOrganization), "reads.md dashboard-data.md sql.md"},
	{limits.Number(limits.ChartReadsOfOrganization), "dashboard-data.md reads.md"},
	{limits.Number(limits.WaitingReads), "reads.md"},
	{limits.Number(limits.KnownNames), "reads.md"},
	{limits.Number(limits.PatternsRead), "reads.md"},
	{limits.Lasts(limits.CallClockSkew), "reads.md"},
	{limits.Lasts(limits.MapKept), "reads.md"},
	{limits.Lasts(limits.WidgetData), "dashboard-data.md*2"},
	{limits.Lasts(limits.SharedData), "dashboard-data.md"},
	{limits.Number(limits.SharedReadsOfNode), "dashboard-data.md"},
	{limits.Lasts(limits.ChartFallback), "dashboard-data.md"},
	{limits.Lasts(limits.ChartFallbackLonger), "dashboard-data.md"},
	{limits.Lasts(limits.SessionPause), "journeys.md"},
	{limits.Lasts(limits.SessionBounce), "journeys.md"},
	{limits.Lasts(limits.SessionGlance), "journeys.md*2"},
	{limits.Number(limits.SessionGlanceClicks), "journeys.md"},
	{limits.Size(limits.RecordingAnswer), "journeys.md"},
	{limits.Lasts(limits.PlanRead), "limits.md"},
	{limits.Lasts(limits.OutcomeSave), "operations.md"},
	{limits.Lasts(limits.OutcomeSaveClean), "operations.md"},
	{limits.Lasts(limits.WarehouseRetry), "operations.md"},
	// The answer to an exporter that must wait has this time in its Retry-After.
	{limits.Lasts(retryAfter(apierr.IngestExportLaneBackpressure)), "limits.md"},
	// The shop of svc demo.
	{limits.Lasts(demo.Patience), "demo.md"},
	{limits.Lasts(demo.ProgressEvery), "demo.md"},
	{limits.Lasts((demo.FloodPatterns - 1) * limits.Day), "demo.md"},
	{limits.Lasts(demo.SlotLength), "demo.md"},
	{limits.Lasts(demo.TwoWithin), "demo.md"},
	{limits.Number(demo.StormAttempts), "demo.md"},
	{limits.Lasts(demo.StockEvery * time.Minute), "demo.md"},
	{limits.Lasts(demo.TrainingEvery * time.Minute), "demo.md"},
	{limits.Lasts(demo.ShortestFault * time.Minute), "demo.md"},
	{limits.Lasts(demo.LongestFault * time.Minute), "demo.md"},
	{limits.Lasts(demo.ShortestBacklog * time.Minute), "demo.md"},
	{limits.Lasts(demo.LongestBacklog * time.Minute), "demo.md"},
	{limits.Lasts(demo.ShortestGrowth * time.Minute), "demo.md"},
	{limits.Lasts(demo.LongestGrowth * time.Minute), "demo.md"},
	// The forms of a number: the decimals of a weight, and the shortest name of a product event.
	{"6", "trace-policies.md"},
	{"1 bytes", "trace-policies.md"},
	// A setting of Cloudflare in MB. Such an upload fits into limits.IngestDecompressed.
	{"100", "clients.md"},
	// A record that is refused on its own is tried so long in all, with the pauses of package pipeline.
	{"2 minutes", "operations.md"},
	// Measurements, and sizes that follow from them.
	{"2,000,000", "dashboard-data.md demo.md*2"}, // 1.2 million
	{"6 hours", "dashboard-data.md"},
	{"23 hours", "dashboard-data.md"},
	{"10,000,000", "demo.md"},
	{"18,000,000", "limits.md"},
	{"60 bytes", "limits.md"},
	{"3 minutes", "limits.md"},
	{"3,000,000", "sql.md"},
	{"10", "reliability.md"},
	{"10 minutes", "reliability.md"},
	{"1 GiB", "reliability.md"},
	// Measurements with the command beside them.
	{"5 GiB", "reliability.md"},
	{"23 GiB", "reliability.md"},
	{"37", "reliability.md"},
	{"69", "reliability.md"},
	{"463 MiB", "reliability.md"},
	{"514 MiB", "reliability.md"},
	{"686 MiB", "reliability.md"},
	{"870 MiB", "reliability.md"},
}

// plainFigures are figures of documents that are no limits.
var plainFigures = []struct{ document, figures, reason string }{
	{"alert-destinations.md", "200; 299", "statuses of HTTP"},
	{"architecture.md", "2; 3; 4; 5; 6", "levels"},
	{"architecture.md", "30; 120; 200", "sizes of packages; a status"},
	{"cli.md", "2; 171; 1,000,000; 32 seconds", "an exit code; measured"},
	{"clients.md", "500; 3; 3.1; 1.66", "a status of HTTP; versions"},
	{"dashboard-data.md", "3; 10; 14; 20; 21; 30", "places of a variable; the dashboard of a measurement"},
	{"incidents.md", "2; 3; 4; 50; 53; 96.2 %", "reads of this page; measured"},
	{"ingest-keys.md", "0.1 s; 10; 20; 200", "measured; a status of HTTP"},
	{"integrations.md", "84,992", "a permission of Discord"},
	{"issues.md", "3", "frames of a fingerprint: a version of package errorgroup never changes"},
	{"journeys.md", "0.4 s; 0.8 s; 2.1 s; 4; 20,000", "measured"},
	{"limits.md", "10,000; 100,000", "rates of an example"},
	{
		"oauth.md", "2.1; 4.1; 4.2; 4.3; 4.4; 4.5; 4.6; 4.7; 4.8; 4.9; 4.10; 4.11; 4.12; 4.14; 4.15; 4.16",
		"a version; sections of RFC 9700",
	},
	{"operations.md", "2", "an exit code"},
	{"reads.md", "1.25; 1.6; 2; 2.5; 3.15; 5; 6.3; 8; 10", "the rows of a distribution"},
	{"reads.md", "75; 453; 799; 84,965; 100 seconds", "measured"},
	{"reliability.md", "2; 5; 200; 10,000; 2 seconds; 5 seconds; 10 seconds", "times that the tests beside them hold; statuses of HTTP"},
	{"scraping.md", "5,000", "targets of a measurement"},
	{"sql.md", "150 milliseconds; 80 milliseconds; 330", "measured; attempts of a test"},
	{"sql.md", "500; 8,192", "a status of HTTP; rows of a granule of ClickHouse"},
	{"trace-policies.md", "0.000001; 500", "the least ratio, which the contract holds; a status of HTTP"},
	{"web-ui.md", "20.19", "a version of Node.js"},
}

// retryAfter is the pause that an error of a tag asks for.
func retryAfter(tag apierr.Tag) time.Duration {
	return time.Duration(apierr.New(tag, "").RetryAfterSeconds()) * time.Second
}

// sdk reads a constant of a source file of the browser SDK: a number, or two with * or <<.
func sdk(file, name string) int64 {
	text, err := os.ReadFile("../../clients/browser/src/" + file + ".ts")
	if err != nil {
		panic(err)
	}
	m := regexp.MustCompile(`(?m)^(?:export )?const ` + name + ` = ([\d_]+)(?: (\*|<<) ([\d_]+))?;`).FindStringSubmatch(string(text))
	if m == nil {
		panic(file + ".ts has no number " + name)
	}
	value := func(text string) int64 {
		n, _ := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
		return n
	}
	switch m[2] {
	case "*":
		return value(m[1]) * value(m[3])
	case "<<":
		return value(m[1]) << value(m[3])
	default:
		return value(m[1])
	}
}

// sdkTime reads one that is in milliseconds.
func sdkTime(file, name string) time.Duration {
	return time.Duration(sdk(file, name)) * time.Millisecond
}
