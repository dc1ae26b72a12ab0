package scrapetargets

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/store"
)

// ProbeScrapeTarget scrapes a target once and records the result in its row.
func (s *Service) ProbeScrapeTarget(ctx context.Context, req *svcv2.ProbeScrapeTargetRequest) (*svcv2.ScrapeTargetProbeResult, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.Store.GetScrapeTarget(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	if row.TargetType == store.ScrapePlanetscale {
		return nil, apierr.New(apierr.ScrapeTargetValidation,
			"The integration with the database platform scrapes this target, so it cannot be probed by itself. Its last scrape is in the answer "+
				"of getPlanetScaleIntegration.",
			apierr.Param("id"))
	}
	target, err := s.Vault.Target(row)
	if err != nil {
		return nil, apierr.New(apierr.ScrapeTargetStoredConfigInvalid, "The target cannot be probed: "+err.Error()+".", apierr.Cause(err))
	}
	at, problem := s.Now(), ""
	if err := s.Prober.Probe(ctx, target); err != nil {
		if ctx.Err() != nil {
			return nil, resource().Failure(ctx, err)
		}
		problem = err.Error()
	}
	row, err = s.Store.RecordProbe(ctx, caller.Org, id, at, problem)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	shown := toProto(row)
	out := &svcv2.ScrapeTargetProbeResult{
		Object: "scrape_target.probe_result", Success: problem == "", LastScrapeAt: shown.LastScrapeAt, LastScrapeError: shown.LastScrapeError,
	}
	return out, nil
}

// probeSoon probes a new target in the background. Its result shows in the row.
func (s *Service) probeSoon(row store.ScrapeTarget) {
	select {
	case s.slots <- struct{}{}:
	default:
		return // the first scrape tells as much
	}
	s.probes.Go(func() {
		defer func() { <-s.slots }()
		result := store.ScrapeResult{Org: row.Org, ID: row.ID, At: s.Now()}
		target, err := s.Vault.Target(row)
		if err == nil {
			err = s.Prober.Probe(s.stop, target)
		}
		if s.stop.Err() != nil {
			return
		}
		if err != nil {
			result.Problem = err.Error()
		}
		if err := s.Store.RecordScrapes(s.stop, []store.ScrapeResult{result}); err != nil && s.stop.Err() == nil {
			s.Logger.Warn("the result of a probe was not recorded", "error", err)
		}
	})
}
