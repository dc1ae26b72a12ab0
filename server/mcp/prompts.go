package mcp

import (
	"context"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tools/services"
	"github.com/svc-observability/svc/server/wording"
)

// promptText is a way of working, with {service} and {range} to fill in. Its steps are numbered, and tools and arguments stand in
// backticks. "When …:" or "Otherwise:" precedes a tool that only some cases need. The end-to-end scenarios follow these texts.
type promptText struct {
	name, title, description, text string
}

func prompts() []promptText {
	const form = "\n\nRead the likely causes in each answer before calling more, follow its Next list, and stop as soon as figures explain " +
		"the problem. Answer with the cause, the figures that show it, the time when it began, the affected users and services, and the next steps."
	return []promptText{
		{
			"incident_triage", "Incident triage", "From a window of time to the likely cause of an incident.",
			"Something is wrong{service}. Find the likely cause{range}.\n\n1. `find_incidents`: when it began, in which service, the likeliest " +
				"cause, and who is affected.\n2. `diagnose_service` for that service, in the time of the incident: health, releases, dependencies, " +
				"errors, log patterns.\n3. When calls fail: `error_detail` with the fingerprint of the top error. When calls are slow: " +
				"`find_slow_traces` of that service. When a log pattern is new: `mine_log_patterns`.\n4. When a log pattern is new: `search_logs` " +
				"for its records. Otherwise: `inspect_trace` for one failed or slow trace." + form,
		},
		{
			"latency_analysis", "Latency analysis", "Where slow requests spend their time.",
			"Requests are slow{service}. Find where they spend their time{range}.\n\n1. `find_slow_traces`: durations, the operations that got " +
				"slower, and the critical path of the slowest of them.\n2. `get_service_top_operations` with `metric=p95_duration` for the service " +
				"on that path: its slow operations.\n3. `compare_periods`: the time of the change, and a release or dependency that explains " +
				"it.\n4. `inspect_trace` for the trace of the critical path." + form,
		},
		{
			"debug_errors", "Debugging of errors", "From an error that rose to its suspected cause.",
			"Requests fail{service}. Find the suspected cause{range}.\n\n1. `find_errors`: the errors by fingerprint, with their counts " +
				"before.\n2. When an error rose: `error_detail` of it: the time in which it was most frequent, versions, stack trace, traces.\n3. " +
				"When an error rose: `inspect_trace` with `errors_only=true` for one of its traces.\n4. `compare_periods`, around the time at which " +
				"the error became frequent, or in the same time when none rose: the changes.\n5. When a log pattern is new: `mine_log_patterns` of " +
				"its service." + form,
		},
	}
}

const instructionsURI = "svc://instructions"

const dataModel = `# What svc stores

* **Services** send **spans**. A trace is all spans with one trace id. Its root span has no parent. Entry spans are those that enter a service: throughput, error rate and latency of services count them, corrected for sampling.
* **Logs** are records with a severity and a body, often with the trace and span that they were written in.
* **Metrics** have a name, a type ({metric_types}), attributes and data points.
* **Errors** are failed spans grouped by a fingerprint of their exception and place.
* **Sessions** are visits in a browser, with their events and the traces that they started. **Product events** are actions of people. Funnels count the people who complete several of them in order.
* **Dashboards** are widgets on a grid of 12 columns; every change keeps the previous version.

# Times and defaults

Times are UTC: RFC 3339, ` + "`YYYY-MM-DD HH:MM:SS`" + `, relative (now-1h) or Unix milliseconds. The default is the last {window}. A range that is too long is refused, not cut. Names of services, environments and metrics must match exactly; span_name of search_traces is a part of the name. Lists take limit, and most of them offset.

Structured content has timeRange (start, end), pagination (offset, limit, hasMore, total where it is known, nextOffset) and filters (those of the call) where they apply.

# Which tool

| Question | Tool |
|---|---|
| What sends data? | list_services, explore_attributes with source=services |
| What went wrong, since when, and why? | find_incidents |
| What changed between two periods, and why? | compare_periods |
| What do the failed or slow ones have in common? | explain_difference |
| What is wrong with one service? | diagnose_service |
| What is slow? | find_slow_traces, get_service_top_operations |
| What fails? | find_errors, then error_detail |
| What do the logs say that is new? | mine_log_patterns |
| One trace, one span | inspect_trace, inspect_span |
| Who calls whom? | service_map |
| A number over time, or by group | query_data; run_sql for anything else |
| What did a user do? | search_sessions, then get_session_transcript |

# Ways of working

The prompts incident_triage, latency_analysis and debug_errors are tested paths of at most five calls. Every answer ends with suggestions for the next call.
`

// addPrompts adds the prompts and the resource. They need no scope because they hold no data.
func addPrompts(server *sdk.Server) error {
	types, err := tool.Choices("QueryMetric.type")
	if err != nil {
		return err
	}
	text := strings.NewReplacer("{metric_types}", strings.Join(types, ", "), "{window}",
		limits.Lasts(limits.DefaultToolWindow)).Replace(dataModel)
	arguments := []*sdk.PromptArgument{
		{Name: "service_name", Description: "Exact name of a service."}, {Name: "time_range", Description: "For example: now-1h to now."},
	}
	for _, p := range prompts() {
		server.AddPrompt(&sdk.Prompt{Name: p.name, Title: p.title, Description: p.description, Arguments: arguments},
			func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				service, span := "", ""
				if v := wording.OneLine(req.Params.Arguments["service_name"]); v != "" {
					service = " in the service " + wording.Clip(v, 200)
				}
				if v := wording.OneLine(req.Params.Arguments["time_range"]); v != "" {
					span = " in the time range " + wording.Clip(v, 200)
				}
				text := strings.NewReplacer("{service}", service, "{range}", span).Replace(p.text)
				return &sdk.GetPromptResult{
					Description: p.description,
					Messages:    []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: text}}},
				}, nil
			})
	}
	server.AddResource(&sdk.Resource{
		URI: instructionsURI, Name: "instructions", Title: "How to use this server",
		Description: "The stored data, and the tool for each question.", MIMEType: "text/markdown",
	},
		func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: instructionsURI, MIMEType: "text/markdown", Text: text}}}, nil
		})
	return nil
}

// complete offers the names of services for the prompts' service_name. It offers none to a caller who may not list services.
func (s *Server) complete(ctx context.Context, req *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	res := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	if req.Params.Argument.Name != "service_name" && req.Params.Argument.Name != "service" {
		return res, nil
	}
	ctx, cancel := whileConnected(ctx)
	defer cancel()
	end := s.cfg.Now()
	rows, err := services.ListServices(ctx, s.clients, nil, tool.Period(end.Add(-limits.SearchWindow), end))
	if err != nil {
		if tool.FailureOf(&tool.Tool{}, err).Tag == "@svc/http/v2/InsufficientScopeError" {
			return res, nil
		}
		return nil, err
	}
	for _, r := range rows {
		if strings.HasPrefix(strings.ToLower(r.GetName()), strings.ToLower(req.Params.Argument.Value)) {
			res.Completion.Total++
			if len(res.Completion.Values) < 100 {
				res.Completion.Values = append(res.Completion.Values, r.GetName())
			}
		}
	}
	res.Completion.HasMore = res.Completion.Total > len(res.Completion.Values)
	return res, nil
}
