package mcp

import (
	"context"
	"log/slog"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/requestid"
)

// newDurations counts calls of tools by the kind of their credential. The log names the callers, and for changes so does the
// audit log.
func newDurations() *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "svc_mcp_tool_duration_seconds", Help: "Duration of calls of MCP tools by tool, outcome (ok or error) and kind of credential.",
		Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"tool", "outcome", "credential"})
}

// observed wraps the handler of a tool.
func (s *Server) observed(t *tool.Tool, next sdk.ToolHandler) sdk.ToolHandler {
	level := slog.LevelDebug
	if t.Writes {
		level = slog.LevelInfo
	}
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		start := time.Now()
		res, err := next(ctx, req)
		elapsed, outcome := time.Since(start), "ok"
		if err != nil || res.IsError {
			outcome = "error"
		}
		p, ok := principal.From(ctx)
		if !ok {
			p = &principal.Principal{Kind: "none"}
		}
		s.durations.WithLabelValues(t.Name, outcome, string(p.Kind)).Observe(elapsed.Seconds())
		if s.cfg.Logger.Enabled(ctx, level) {
			s.cfg.Logger.LogAttrs(
				ctx,
				level,
				"MCP tool call",
				slog.String("tool", t.Name),
				slog.String("outcome", outcome),
				slog.Duration("duration", elapsed),
				slog.String(
					"org_id",
					string(p.Org),
				),
				slog.String("credential", string(p.Kind)),
				slog.String("credential_id", p.CredentialID),
				slog.String("user_id", string(p.User)),
				slog.String(
					"name",
					p.Name,
				),
				slog.String("user_agent", principal.OriginFrom(ctx).UserAgent),
				slog.String("request_id", requestid.From(ctx)),
			)
		}
		return res, err
	}
}
