package mcp

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tools/agents"
	"github.com/svc-observability/svc/server/mcp/tools/alerts"
	"github.com/svc-observability/svc/server/mcp/tools/dashboards"
	"github.com/svc-observability/svc/server/mcp/tools/errorevents"
	"github.com/svc-observability/svc/server/mcp/tools/errorissues"
	"github.com/svc-observability/svc/server/mcp/tools/feedback"
	"github.com/svc-observability/svc/server/mcp/tools/investigations"
	"github.com/svc-observability/svc/server/mcp/tools/scraping"
	"github.com/svc-observability/svc/server/mcp/tools/services"
	"github.com/svc-observability/svc/server/mcp/tools/sessions"
	"github.com/svc-observability/svc/server/mcp/tools/setup"
	"github.com/svc-observability/svc/server/mcp/tools/sourcecode"
	"github.com/svc-observability/svc/server/mcp/tools/telemetry"
	"github.com/svc-observability/svc/server/principal"
)

// toolset is a group of tools that a client can choose with ?toolsets=.
type toolset struct {
	name, about string
	tools       []tool.Maker
}

// toolsets returns all toolsets in the order of the list of tools.
func toolsets() []toolset {
	return []toolset{
		{"services", "incidents, differences, releases, markers, health, dependencies, names", services.Tools()},
		{"telemetry", "traces, logs, queries and SQL", telemetry.Tools()},
		{"errors", "groups of errors with samples", errorevents.Tools()},
		{"issues", "error issues: claim, move, comment, fix", errorissues.Tools()},
		{"investigations", "findings and reports", investigations.Tools()},
		{"dashboards", "dashboards and their widgets", dashboards.Tools()},
		{"alerts", "alert rules, incidents, checks, destinations", alerts.Tools()},
		{"sessions", "sessions of browsers, product events, funnels", sessions.Tools()},
		{"agents", "sessions of AI agents and their tools", agents.Tools()},
		{"source", "source code: search, files, CI, commits", sourcecode.Tools()},
		{"setup", "audit, advice on instrumentation, integrations", setup.Tools()},
		{"scraping", "Prometheus targets", scraping.Tools()},
		{"feedback", "feedback about svc", feedback.Tools()},
	}
}

// ownSet is the set of list_toolsets. Every selection has it, so that a client finds the other sets.
const ownSet = "toolsets"

// onCall is the toolset of a person or a program on call. It has tools of several sets: from an incident to its cause and its record.
const onCall = "oncall"

func onCallTools() []string {
	return []string{
		"find_incidents", "explain_difference", "list_releases", "create_marker", "diagnose_service", "compare_periods", "list_services",
		"find_slow_traces", "inspect_trace", "search_logs", "mine_log_patterns", "query_data", "find_errors", "error_detail",
		"list_error_issues", "claim_error_issue", "transition_error_issue", "comment_on_error_issue",
		"start_investigation", "add_finding", "update_investigation", "get_investigation",
		"list_alert_incidents", "get_incident_timeline",
	}
}

type selectionKey struct{}

// selecting keeps the query of the URL for the calls in a request. ?toolsets=errors,services and ?readonly=true narrow the tools
// that are listed and can be called, and ?detail=full gives whole results.
func selecting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			if wrong := badSelection(r.URL.Query()); wrong != "" {
				fail(w, apierr.New(apierr.ParameterInvalid, wrong))
				return
			}
			r = r.WithContext(context.WithValue(r.Context(), selectionKey{}, r.URL.Query()))
		}
		next.ServeHTTP(w, r)
	})
}

// selected reports whether the URL of the request includes a tool.
func selected(ctx context.Context, t *tool.Tool) bool {
	q, _ := ctx.Value(selectionKey{}).(url.Values)
	if t.Writes && slices.ContainsFunc(q["readonly"], func(v string) bool { return v == "1" || strings.EqualFold(v, "true") }) {
		return false
	}
	if t.Set == ownSet {
		return true
	}
	var wanted []string
	for _, name := range strings.Split(strings.Join(q["toolsets"], ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && name != "all" {
			wanted = append(wanted, name)
		}
	}
	return len(wanted) == 0 || slices.Contains(wanted, t.Set) || slices.Contains(wanted, onCall) && slices.Contains(onCallTools(), t.Name)
}

// fullByURL reports whether the URL of the request asks for whole results.
func fullByURL(ctx context.Context) bool {
	q, _ := ctx.Value(selectionKey{}).(url.Values)
	return strings.EqualFold(q.Get("detail"), tool.Full)
}

// badSelection describes the fault in the query of the URL, or is empty. A typing error in readonly=true must not offer tools
// that write. One in a name must not leave a client without tools and without a reason.
func badSelection(q url.Values) string {
	for _, v := range q["readonly"] {
		if !slices.Contains([]string{"", "true", "false", "1", "0"}, strings.ToLower(v)) {
			return "`readonly` must be true or false."
		}
	}
	for _, v := range q["detail"] {
		if !slices.Contains([]string{"", tool.Brief, tool.Full}, strings.ToLower(v)) {
			return "`detail` must be brief or full."
		}
	}
	known := []string{"all", onCall}
	for _, set := range toolsets() {
		known = append(known, set.name)
	}
	for _, name := range strings.Split(strings.Join(q["toolsets"], ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" && !slices.Contains(known, name) {
			return "`toolsets` must be a list of " + strings.Join(known, ", ") + "."
		}
	}
	return ""
}

// filterTools removes from tools/list the tools that the caller may not use and those that the URL excludes. A call of a tool that
// the URL excludes fails. If a program's scopes do not cover the tool, the call tells ServeHTTP which scopes the program needs. The
// API's own policy refuses such calls of other callers.
func (s *Server) filterTools(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		p, ok := principal.From(ctx)
		if !ok {
			return nil, errors.New("the call has no principal")
		}
		if call, ok := req.(*sdk.CallToolRequest); ok && call.Params != nil {
			if t := s.tool(call.Params.Name); t != nil {
				if scopes := s.missingScope(p, t.Name); scopes != "" {
					if needs, ok := ctx.Value(stepUpKey{}).(*stepUp); ok {
						needs.scopes.Store(&scopes)
					}
					return tool.ErrorResult(t, apierr.New(apierr.InsufficientScope, "The tool needs the scopes "+scopes+"."))
				}
				if !selected(ctx, t) {
					return tool.ErrorResult(t, tool.BadInput("name",
						"is "+t.Name+". The URL of this connection excludes that tool with ?toolsets= or ?readonly=.", ""))
				}
			}
		}
		res, err := next(ctx, method, req)
		list, ok := res.(*sdk.ListToolsResult)
		if err != nil || !ok {
			return res, err
		}
		shown := *list
		shown.CacheScope = "private" // another caller sees other tools
		shown.Tools = nil
		for _, set := range s.tools {
			i := slices.IndexFunc(list.Tools, func(t *sdk.Tool) bool { return t.Name == set.Name })
			if i >= 0 && s.visible(p, set.Name) && selected(ctx, set) {
				shown.Tools = append(shown.Tools, list.Tools[i])
			}
		}
		if s.cfg.Fixtures != nil {
			for _, t := range list.Tools {
				if s.tool(t.Name) == nil {
					shown.Tools = append(shown.Tools, t)
				}
			}
		}
		if shown.Tools == nil {
			shown.Tools = []*sdk.Tool{}
		}
		return &shown, nil
	}
}
