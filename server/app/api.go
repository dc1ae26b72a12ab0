package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/hooks"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp"
	"github.com/svc-observability/svc/server/oauth"
	"github.com/svc-observability/svc/server/openapi"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/widget"
	"github.com/svc-observability/svc/server/requestid"
	"github.com/svc-observability/svc/server/rest"
	"github.com/svc-observability/svc/server/rpc"
	"github.com/svc-observability/svc/server/rpc/loopback"
	"github.com/svc-observability/svc/server/services/agentfeedback"
	"github.com/svc-observability/svc/server/services/agentsessions"
	"github.com/svc-observability/svc/server/services/alerts"
	"github.com/svc-observability/svc/server/services/apikeys"
	"github.com/svc-observability/svc/server/services/attributemappings"
	"github.com/svc-observability/svc/server/services/attributes"
	"github.com/svc-observability/svc/server/services/auditlog"
	"github.com/svc-observability/svc/server/services/catalog"
	"github.com/svc-observability/svc/server/services/charts"
	"github.com/svc-observability/svc/server/services/chatconnectors"
	"github.com/svc-observability/svc/server/services/clilogin"
	"github.com/svc-observability/svc/server/services/dashboards"
	"github.com/svc-observability/svc/server/services/dashboards/links"
	"github.com/svc-observability/svc/server/services/diagnosis"
	"github.com/svc-observability/svc/server/services/environments"
	"github.com/svc-observability/svc/server/services/errorevents"
	"github.com/svc-observability/svc/server/services/errorissues"
	"github.com/svc-observability/svc/server/services/hostingplatforms"
	"github.com/svc-observability/svc/server/services/ingestkeys"
	"github.com/svc-observability/svc/server/services/instrumentation"
	"github.com/svc-observability/svc/server/services/integrationlist"
	"github.com/svc-observability/svc/server/services/investigations"
	"github.com/svc-observability/svc/server/services/logpushconnectors"
	"github.com/svc-observability/svc/server/services/logs"
	"github.com/svc-observability/svc/server/services/markers"
	"github.com/svc-observability/svc/server/services/metrics"
	"github.com/svc-observability/svc/server/services/organization"
	"github.com/svc-observability/svc/server/services/preferences"
	"github.com/svc-observability/svc/server/services/productanalytics"
	"github.com/svc-observability/svc/server/services/productevents"
	"github.com/svc-observability/svc/server/services/queryapi"
	"github.com/svc-observability/svc/server/services/savedviews"
	"github.com/svc-observability/svc/server/services/servicemap"
	"github.com/svc-observability/svc/server/services/sessionreplays"
	"github.com/svc-observability/svc/server/services/signin"
	"github.com/svc-observability/svc/server/services/sqlapi"
	"github.com/svc-observability/svc/server/services/traces"
	"github.com/svc-observability/svc/server/store"
)

// mountAPI serves the API address. With the role api, it makes the services, the chain in front of them, and every door on the API
// address.
func (a *App) mountAPI(ctx context.Context) error {
	if !a.cfg.Roles.Has(config.RoleAPI) {
		mux := http.NewServeMux()
		a.health().Mount(mux)
		a.api = a.httpServer("api", requestid.Middleware(mux))
		return nil
	}
	c, err := contract.Load()
	if err != nil {
		return err
	}
	shared, err := a.openLimits(ctx)
	if err != nil {
		return err
	}
	denied, err := a.openDeniedCallLog()
	if err != nil {
		return err
	}
	answers, err := a.openIdempotency()
	if err != nil {
		return err
	}
	chain, err := rpc.New(rpc.Config{
		Contract:        c,
		Idempotency:     answers,
		DeniedCalls:     denied,
		Limiter:         shared.rate("rest", limits.RESTRequests, limits.RESTPeriod),
		Logger:          a.log,
		Registerer:      a.registry,
		MaxMessageBytes: int(a.cfg.Limits.GRPCMaxMessageBytes),
		MaxPublicBytes:  int(a.cfg.Limits.RESTMaxBodyBytes),
	})
	if err != nil {
		return err
	}
	shareTokens, err := a.hasher.Sealer("dashboard share")
	if err != nil {
		return err
	}
	a.passwords = auth.NewPasswords()
	a.signIn = auth.NewSignIn(auth.SignInConfig{Store: a.store, Hasher: a.hasher, Passwords: a.passwords, Shared: shared.attempts})
	calls, err := a.mountServices(ctx, c, chain, shareTokens, shared)
	if err != nil {
		return err
	}
	restDoor, err := rest.New(rest.Config{
		Conn: loopback.SharingConn(calls), Contract: c, Admit: chain.Admit, Logger: a.log, MaxBodyBytes: int64(a.cfg.Limits.RESTMaxBodyBytes),
	})
	if err != nil {
		return err
	}
	mcpDoor, err := mcp.New(mcp.Config{
		Conn:             loopback.Conn(calls),
		BaseURL:          a.baseURL(),
		Contract:         c,
		Logger:           a.log,
		MaxBodyBytes:     int64(a.cfg.Limits.RESTMaxBodyBytes),
		Limiter:          shared.rate("mcp", limits.MCPRequests, limits.MCPPeriod),
		ResourceMetadata: oauth.ResourceMetadataURL(a.baseURL()),
		Registerer:       a.registry,
		Fixtures:         a.opts.MCPFixtures,
	})
	if err != nil {
		return err
	}
	credentials := auth.New(auth.Config{Store: a.store, Hasher: a.hasher, Logger: a.log})
	browser, err := a.browser()
	if err != nil {
		return err
	}
	a.onClose("credentials", func(context.Context) error { credentials.Close(); return nil })

	mux := http.NewServeMux()
	status := a.health()
	status.Mount(mux)
	for _, r := range rpc.Infra(c.Services(), status.Ready) {
		mux.Handle(r.Path, r.Handler)
	}
	deliveries := hooks.Handler(a.webhookDoor())
	mux.Handle(hooks.Path, deliveries)
	mux.Handle(hooks.SecretPath, deliveries)
	mux.Handle("/mcp", door(principal.DoorMCP, mcpDoor))
	for _, p := range mcp.Published() {
		mux.Handle(p, mcpDoor)
	}
	a.mountReference(mux, c)
	// REST answers every other path: an unknown route gets the error envelope.
	mux.Handle("/", restDoor)
	oauthServer := oauth.New(oauth.Config{
		Store: a.store, Hasher: a.hasher, Issuer: a.baseURL(), Scopes: c.Scopes(), Guard: a.guard(),
		Limiter: shared.rate("oauth", oauth.RateLimit, oauth.RateWindow), Logger: a.log,
	})
	oauthServer.Mount(mux)
	if err := a.mountPages(mux, loopback.Conn(calls), credentials, browser, oauthServer, restDoor); err != nil {
		return err
	}
	api := requestid.Middleware(
		requestid.WithOrigin(
			requestid.Proxies{Trusted: a.cfg.TrustedProxies, CountryHeader: a.cfg.CountryHeader},
			browser.Middleware(credentials.Middleware(rpc.RouteCalls(door(principal.DoorConnect, calls), rest.RouteUnclean(restDoor, mux)))),
		),
	)
	if a.opts.Watch != nil {
		api = a.opts.Watch(api)
	}
	a.api = a.httpServer("api", api)
	return nil
}

// browser returns the rule by which a session cookie is a credential. Only Connect calls take one.
func (a *App) browser() (*auth.Browser, error) {
	base, err := url.Parse(a.baseURL())
	if err != nil {
		return nil, fmt.Errorf("app: the public URL: %w", err)
	}
	return auth.NewBrowser(base, rpc.IsCall), nil
}

// mountReference serves the OpenAPI document and the reference page that shows it. Neither needs credentials. The first request makes the
// document, because that takes longer than the rest of a start.
func (a *App) mountReference(mux *http.ServeMux, c *contract.Contract) {
	mux.Handle("/openapi.json", openapi.Handler(func() ([]byte, error) {
		doc, err := openapi.New(c, a.baseURL())
		if err != nil {
			a.log.Error("the OpenAPI document could not be made", "error", err)
		}
		return doc, err
	}))
	reference := openapi.Reference()
	mux.Handle("/v2/docs", reference)
	mux.Handle("/v2/docs/", reference)
}

func door(d principal.Door, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(principal.WithDoor(r.Context(), d)))
	})
}

// mountServices returns the handler of every API method, behind the chain. All doors lead to it.
//
// The list is written by hand: each service needs dependencies of its own, so a generated list would only repeat these lines. No
// service can be forgotten: chain.Handler fails the start if a service of the contract is missing, and TestEveryServiceIsMounted
// names it.
func (a *App) mountServices(
	ctx context.Context, c *contract.Contract, chain *rpc.Chain, shareTokens links.Sealer, shared nodeLimits,
) (http.Handler, error) {
	newSecret := func() (string, store.Secret, error) {
		text := auth.NewSecret(auth.PrefixAPIKey)
		return text, a.hasher.Secret(text), nil
	}
	mux := http.NewServeMux()
	mount := func(path string, h http.Handler) { mux.Handle(path, h) }
	options := chain.Options()
	mount(svcv2connect.NewApiKeysServiceHandler(apikeys.New(a.store, newSecret, c.Families(), time.Now), options...))
	mount(svcv2connect.NewAgentFeedbackServiceHandler(agentfeedback.New(a.store), options...))
	mount(svcv2connect.NewInvestigationsServiceHandler(investigations.New(a.store), options...))
	mount(svcv2connect.NewSavedViewsServiceHandler(savedviews.New(a.store), options...))
	mount(svcv2connect.NewPreferencesServiceHandler(preferences.New(a.store), options...))
	marks := markers.New(a.store)
	mount(svcv2connect.NewMarkersServiceHandler(marks, options...))
	mount(svcv2connect.NewAttributeMappingsServiceHandler(attributemappings.New(a.store), options...))
	reads := read.NewReader(read.Config{Warehouse: a.opts.reads(a.warehouse), Shared: shared.reads, SharedSQL: shared.sql})
	rollups := a.rollups(ctx)
	queryEngine := engine.New(engine.Config{Warehouse: reads, Rollups: rollups, Shared: shared.charts})
	widgets := widget.New(queryEngine, reads, time.Now)
	mount(svcv2connect.NewDashboardDataServiceHandler(dashboards.NewData(a.store, widgets), options...))
	figures := alerting.NewSource(queryEngine, reads, rollups)
	pictures := charts.New(charts.Config{Store: a.store, Figures: figures, Warehouse: reads, Seals: a.charts.Seals, Now: time.Now})
	mount(svcv2connect.NewShareServiceHandler(links.NewPublic(links.PublicConfig{
		Store:   a.store,
		Hash:    a.shareHash,
		Widgets: widgets,
		Alerts:  pictures.OpenAlert,
		Chats:   pictures.OpenChat,
		Sealed:  pictures.Sealed,
		ByToken: shared.rate(
			"share-token",
			limits.ShareLinkRequests,
			limits.ShareLinkPeriod,
		),
		ByAddress: shared.rate("share-address", limits.ShareAddressRequests, limits.ShareAddressPeriod),
	}), options...))
	mount(svcv2connect.NewDashboardsServiceHandler(dashboards.New(a.store, links.New(a.store, shareTokens, a.shareHash)), options...))
	mount(svcv2connect.NewAlertIncidentsServiceHandler(alerts.NewIncidents(a.store), options...))
	destinations := alerts.NewDestinations(alerts.DestinationsConfig{
		BaseURL: a.baseURL(),
		Store:   a.store, Sender: a.sender, Seals: a.seals, Now: time.Now, Integrations: a.integrations,
		Tests: shared.rate("destination-tests", limits.DestinationTests, limits.DestinationTestsPeriod),
	})
	mount(svcv2connect.NewAlertDestinationsServiceHandler(destinations, options...))
	mount(svcv2connect.NewAlertRulesServiceHandler(alerts.NewRules(alerts.RulesConfig{
		Store: a.store, Figures: figures, Farewell: a.alertFarewell, SendTests: destinations.SendRuleTest,
		Warehouse: reads, Now: time.Now,
	}), options...))
	mount(svcv2connect.NewAlertDeliveriesServiceHandler(alerts.NewDeliveries(a.store), options...))
	mount(svcv2connect.NewIngestKeysServiceHandler(ingestkeys.New(a.store, a.hasher.NewIngestKey), options...))
	mount(svcv2connect.NewAuditLogServiceHandler(auditlog.New(a.store), options...))
	mount(svcv2connect.NewOrganizationServiceHandler(organization.New(organization.Config{
		Store: a.store, Hasher: a.hasher, SignIn: a.signIn, Passwords: a.passwords, BaseURL: a.baseURL(),
	}), options...))
	mount(svcv2connect.NewSessionsServiceHandler(signin.New(a.store, a.signIn, a.passwords), options...))
	mount(svcv2connect.NewCliServiceHandler(clilogin.New(clilogin.Config{
		Store:     a.store,
		Hasher:    a.hasher,
		ByAddress: shared.rate("cli", limits.CLILoginRequests, limits.CLILoginPeriod),
		Guesses:   auth.NewThrottle("cli", shared.attempts, nil),
		BaseURL:   a.baseURL(),
	}), options...))
	mount(svcv2connect.NewInstrumentationServiceHandler(instrumentation.New(a.store, reads, a.log, time.Now), options...))
	agentSessions, services := agentsessions.New(reads), catalog.New(reads, rollups)
	mount(svcv2connect.NewAgentSessionsServiceHandler(agentSessions, options...))
	mount(svcv2connect.NewServicesServiceHandler(services, options...))
	mount(svcv2connect.NewEnvironmentsServiceHandler(environments.New(reads), options...))
	hosting, err := a.sourceHosting(shared.rate("source-search", limits.SourceSearches, limits.SourceSearchesPeriod))
	if err != nil {
		return nil, err
	}
	serviceMap, errorEvents := servicemap.New(reads, rollups, time.Now), errorevents.New(reads, queryEngine, hosting, time.Now)
	mount(svcv2connect.NewServiceMapServiceHandler(serviceMap, options...))
	mount(svcv2connect.NewErrorEventsServiceHandler(errorEvents, options...))
	traceReads, logReads, queries := traces.New(reads, queryEngine), logs.New(reads, queryEngine), queryapi.New(queryEngine)
	mount(svcv2connect.NewTracesServiceHandler(traceReads, options...))
	mount(svcv2connect.NewLogsServiceHandler(logReads, options...))
	mount(svcv2connect.NewQueryServiceHandler(queries, options...))
	mount(svcv2connect.NewDiagnosisServiceHandler(diagnosis.New(diagnose.Readers{
		Services:   services,
		ServiceMap: serviceMap,
		Errors:     errorEvents,
		Logs:       logReads,
		Traces:     traceReads,
		Query:      queries,
		Agents:     agentSessions,
		Markers:    marks,
		Warehouse:  reads,
	}), options...))
	mount(svcv2connect.NewAttributesServiceHandler(attributes.New(reads), options...))
	mount(svcv2connect.NewProductEventAnalyticsServiceHandler(productanalytics.New(queryEngine), options...))
	mount(svcv2connect.NewSqlServiceHandler(sqlapi.New(reads, time.Now), options...))
	mount(svcv2connect.NewMetricsServiceHandler(metrics.New(reads, queryEngine), options...))
	mount(svcv2connect.NewSessionReplaysServiceHandler(sessionreplays.New(reads, a.store), options...))
	mount(svcv2connect.NewProductEventsServiceHandler(productevents.New(reads), options...))
	targets, err := a.scrapeTargets(reads)
	if err != nil {
		return nil, err
	}
	mount(svcv2connect.NewScrapeTargetsServiceHandler(targets, options...))
	mount(svcv2connect.NewIntegrationsServiceHandler(integrationlist.New(a.store, a.integrations.Setups()), options...))
	mount(svcv2connect.NewChatConnectorsServiceHandler(chatconnectors.New(chatconnectors.Config{
		Store: a.store, Engine: a.integrations,
	}), options...))
	mount(svcv2connect.NewHostingPlatformsServiceHandler(hostingplatforms.New(hostingplatforms.Config{
		Store: a.store, Engine: a.integrations, Now: time.Now,
	}), options...))
	mount(svcv2connect.NewLogpushConnectorsServiceHandler(logpushconnectors.New(logpushconnectors.Config{
		Store: a.store, IngestURL: a.ingestURL(), Secret: func() (string, store.Secret) {
			text := auth.NewSecret(auth.PrefixConnector)
			return text, a.hasher.Secret(text)
		},
	}), options...))
	mount(svcv2connect.NewDatabasePlatformServiceHandler(a.databasePlatform(), options...))
	mount(svcv2connect.NewSourceHostingServiceHandler(hosting, options...))
	mount(svcv2connect.NewSourceCodeServiceHandler(hosting, options...))
	issueParts := a.errorIssues(reads, rollups)
	issueParts.Suspects = hosting
	issues, workflow, policies := errorissues.New(issueParts)
	mount(svcv2connect.NewErrorIssuesServiceHandler(issues, options...))
	mount(svcv2connect.NewErrorIssueWorkflowServiceHandler(workflow, options...))
	mount(svcv2connect.NewErrorIssuePoliciesServiceHandler(policies, options...))
	return chain.Handler(mux)
}

// shareHash is the hash that finds the token of a share link. The prefix keeps it apart from the hashes of all other secrets.
func (a *App) shareHash(token string) string { return a.hasher.Hash("dashboard share " + token) }
