package scraping

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// targetResult is a target as the API shows it, with the result of a probe.
type targetResult struct {
	ID                    string       `json:"id"`
	Name                  string       `json:"name"`
	ServiceName           *string      `json:"service_name,omitempty"`
	URL                   string       `json:"url"`
	TargetType            string       `json:"target_type"`
	ScrapeIntervalSeconds int32        `json:"scrape_interval_seconds"`
	LabelsJSON            *string      `json:"labels_json,omitempty"`
	AuthType              string       `json:"auth_type"`
	HasCredentials        bool         `json:"has_credentials"`
	Enabled               bool         `json:"enabled"`
	LastScrapeAt          *string      `json:"last_scrape_at,omitempty"`
	LastScrapeError       *string      `json:"last_scrape_error,omitempty"`
	Probe                 *probeResult `json:"probe,omitempty"`
	Warnings              []string     `json:"warnings,omitempty"`
}

type probeResult struct {
	Success bool    `json:"success"`
	Error   *string `json:"error,omitempty"`
}

// answer probes a target and shows it. A paused target is not probed.
func answer(ctx context.Context, s *tool.Clients, t *svcv2.ScrapeTarget, done string) (*tool.Answer, error) {
	out := targetResult{
		ID: t.GetId(), Name: t.GetName(), ServiceName: t.ServiceName, URL: t.GetUrl(), TargetType: t.GetTargetType(),
		ScrapeIntervalSeconds: t.GetScrapeIntervalSeconds(), LabelsJSON: t.LabelsJson, AuthType: t.GetAuthType(),
		HasCredentials: t.GetHasCredentials(),
		Enabled:        t.GetEnabled(), LastScrapeAt: stamp(t.GetLastScrapeAt()), LastScrapeError: t.LastScrapeError,
	}
	others, err := sameURL(ctx, s, t)
	if err != nil {
		return nil, err
	}
	if others > 0 {
		out.Warnings = append(out.Warnings,
			fmt.Sprintf("%d further targets have this URL: its metrics are stored once for each of them.", others))
	}
	state := "The target is paused, so it was not probed."
	if t.GetEnabled() {
		probe, err := s.ScrapeTargets.ProbeScrapeTarget(ctx, &svcv2.ProbeScrapeTargetRequest{Id: t.GetId()})
		if err != nil {
			return nil, err
		}
		out.Probe = &probeResult{Success: probe.GetSuccess(), Error: probe.LastScrapeError}
		out.LastScrapeAt, out.LastScrapeError = stamp(probe.GetLastScrapeAt()), probe.LastScrapeError
		state = "A probe read its metrics. Points arrive within two intervals."
		if !probe.GetSuccess() {
			state = "A probe failed: " + probe.GetLastScrapeError() + ". The target is scraped all the same."
		}
	}
	return &tool.Answer{Data: out, Text: tool.Page{
		Scope:  []tool.Pair{tool.Labeled("Target", t.GetName()), tool.Labeled("Id", t.GetId()), tool.Labeled("URL", t.GetUrl())},
		Notes:  out.Warnings,
		Blocks: []tool.Block{{Empty: done + " " + state}},
	}}, nil
}

func stamp(t *timestamppb.Timestamp) *string {
	if t == nil {
		return nil
	}
	return new(t.AsTime().UTC().Format(time.RFC3339))
}

// sameURL counts the other targets with the URL of a target, among the newest.
func sameURL(ctx context.Context, s *tool.Clients, t *svcv2.ScrapeTarget) (n int, err error) {
	list, err := s.ScrapeTargets.ListScrapeTargets(ctx, &svcv2.ListScrapeTargetsRequest{Limit: new(int32(limits.LargestPage))})
	if err != nil {
		return 0, err
	}
	for _, other := range list.GetData() {
		if other.GetUrl() == t.GetUrl() && other.GetId() != t.GetId() {
			n++
		}
	}
	return n, nil
}
