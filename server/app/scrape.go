package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/scrape"
	"github.com/svc-observability/svc/server/services/scrapetargets"
)

// scrapeGuard judges the addresses of scrape targets.
func (a *App) scrapeGuard() (*egress.Guard, error) {
	guard := a.guard()
	roots, err := a.egressRoots()
	if err != nil || roots == nil {
		return guard, err
	}
	return guard.Trusting(roots), nil
}

// scrapeVault opens the credentials of scrape targets.
func (a *App) scrapeVault() (scrape.Vault, error) {
	sealer, err := a.hasher.Sealer("scrape target")
	return scrape.Vault{Sealer: sealer}, err
}

// scrapeTargets makes the service of scrape targets.
func (a *App) scrapeTargets(reads read.Warehouse) (*scrapetargets.Service, error) {
	vault, err := a.scrapeVault()
	if err != nil {
		return nil, err
	}
	guard, err := a.scrapeGuard()
	if err != nil {
		return nil, err
	}
	s := scrapetargets.New(scrapetargets.Config{
		Store: a.store, Vault: vault, Guard: guard, Prober: scrape.NewProber(guard), Warehouse: reads, Logger: a.log, Now: time.Now,
	})
	a.onClose("probes of scrape targets", func(context.Context) error { s.Close(); return nil })
	return s, nil
}

// openScraper makes the scraper. Scraped metrics go into the durable queue of the process, so a process without it scrapes nothing.
func (a *App) openScraper() error {
	if a.gateway == nil {
		return nil
	}
	vault, err := a.scrapeVault()
	if err != nil {
		return err
	}
	guard, err := a.scrapeGuard()
	if err != nil {
		return err
	}
	s, err := scrape.New(scrape.Config{
		Targets: a.store, Vault: vault, Guard: guard, Sink: a.gateway, Checks: a.warehouse, Logger: a.log, Metrics: a.registry,
		Expander: a.databasePlatform(),
	})
	if err != nil {
		return err
	}
	a.scraper = s
	a.onClose("scraper", s.Close)
	return nil
}
