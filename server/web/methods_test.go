package web

import (
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/contract"
)

const (
	another  = "a page calls the method that gives the same and more"
	signedIn = "the pages for signing in and the pages for programs have it, which work without scripts"
	byHand   = "charts of the application are drawn over time; dashboards and the page of SQL group without time"
	agents   = "for agents: the tools of MCP call it"
	preview  = "for previews of links, and for pictures, in other programs"
)

// noPage lists the methods of the API that the web application does not call, each with its reason.
var noPage = map[string]string{
	"AgentFeedbackService/CreateAgentFeedback":              agents,
	"AgentFeedbackService/ListAgentFeedback":                "for the operators of assistants, by REST",
	"AlertDestinationsService/GetAlertDestination":          another,
	"AlertIncidentsService/CountAlertIncidents":             another,
	"ApiKeysService/GetApiKey":                              another,
	"AttributeMappingsService/GetAttributeMapping":          another,
	"CliService/ApproveCliLogin":                            signedIn,
	"CliService/DenyCliLogin":                               signedIn,
	"DatabasePlatformService/QueryPlanetScaleQueryInsights": "figures about queries are for assistants and programs so far",
	"CliService/EndCliLogin":                                "for the command line",
	"CliService/GetCliLogin":                                signedIn,
	"CliService/RedeemCliLogin":                             "for the command line",
	"CliService/StartCliLogin":                              "for the command line",
	"DashboardsService/GetDashboardShare":                   another,
	"DashboardsService/GetDashboardWidgetShare":             another,
	"DiagnosisService/ComparePeriods": "explainDifference, which the page of differences calls, answers the same " +
		"question by attributes",
	"DiagnosisService/DiagnoseService":                  agents,
	"DiagnosisService/GetAgentSessionFigures":           agents,
	"DiagnosisService/GetAgentSessionVerdict":           agents,
	"DiagnosisService/SearchSlowerOperations":           agents,
	"ErrorIssueWorkflowService/HeartbeatErrorIssue":     agents,
	"ErrorIssueWorkflowService/ListErrorIncidents":      another,
	"ErrorIssueWorkflowService/RegisterErrorIssueAgent": agents,
	"ErrorIssuesService/CountErrorIssues":               another,
	"IngestKeysService/GetCustomIngestKey":              another,
	"LogpushConnectorsService/GetLogpushConnector":      another,
	"LogsService/GetLog":                                another,
	"LogsService/QueryLogBreakdown":                     byHand,
	"MarkersService/GetMarker":                          another,
	"MetricsService/QueryMetricBreakdown":               byHand,
	"MetricsService/QueryMetricsTimeseries":             another,
	"MetricsService/SummarizeMetrics":                   byHand,
	"OrganizationService/AcceptInvitation":              signedIn,
	"OrganizationService/PreviewInvitation":             signedIn,
	"ProductEventsService/ListProductEvents":            another,
	"SavedViewsService/GetSavedView":                    another,
	"ScrapeTargetsService/GetScrapeTarget":              another,
	"ServicesService/GetService":                        another,
	"SourceCodeService/CompareSourceCommits":            agents,
	"SourceCodeService/GetSourceCommit":                 agents,
	"SourceCodeService/ListSourceCiRuns":                agents,
	"SourceCodeService/ReadSourceFile":                  "the page of search links to the file at the host",
	"SourceHostingService/GetSourceRepository":          another,
	"SessionsService/SignIn":                            signedIn,
	"SessionsService/SignOut":                           signedIn,
	"ShareService/ResolveAlertChart":                    preview,
	"ShareService/ResolveChatChart":                     preview,
	"ShareService/ResolveShareOgCard":                   preview,
	"ShareService/ResolveShareOgMeta":                   preview,
	"TracesService/GetTrace":                            another,
	"TracesService/QueryTraceBreakdown":                 byHand,
	"TracesService/SummarizeTraces":                     byHand,
}

// TestMethodsHavePages checks that the web application calls every method of the API, or that noPage says why it does not.
func TestMethodsHavePages(t *testing.T) {
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`"(\w+Service/\w+)"`)
	called := map[string]bool{}
	err = fs.WalkDir(os.DirFS("ui/src"), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, "gen/") || !strings.HasSuffix(strings.TrimSuffix(path, "x"), ".ts") {
			return err
		}
		text, err := os.ReadFile("ui/src/" + path)
		for _, m := range name.FindAllSubmatch(text, -1) {
			called[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, m := range c.Methods() {
		procedure := strings.TrimPrefix(m.Procedure, "/"+contract.Package+".")
		known[procedure] = true
		switch {
		case !called[procedure] && noPage[procedure] == "":
			t.Errorf("no page calls %s: call it, or say in noPage why not", procedure)
		case called[procedure] && noPage[procedure] != "":
			t.Errorf("a page calls %s: take it out of noPage", procedure)
		}
	}
	for _, procedure := range slices.Sorted(maps.Keys(noPage)) {
		if !known[procedure] {
			t.Errorf("noPage names %s, which the API does not have", procedure)
		}
	}
	if len(called) < 100 {
		t.Errorf("only %d calls were found", len(called))
	}
}
