package scrape

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// Endpoint is one of several places with the metrics of a target that an integration owns.
type Endpoint struct {
	// Key names the endpoint within the target; it stays when the address gets a new signature.
	Key, URL string
	// Labels are attributes of its points, besides those of the target.
	Labels map[string]string
}

// Expander knows the endpoints of targets that integrations own.
type Expander interface {
	Endpoints(ctx context.Context, row store.ScrapeTarget) ([]Endpoint, error)
}

// members are the endpoints of a target as targets of their own. They are not in the schedule: the scrape of the target scrapes them.
type members struct {
	of   map[string]*scheduled
	read time.Time
	// problem says why the newest list could not be read; the scrapes go on with the one before.
	problem string
}

// membersAtOnce bounds the endpoints of one target that are scraped at once.
const membersAtOnce = 4

// expands reports whether a target stands for several endpoints.
func (t *scheduled) expands() bool { return t.row.TargetType == store.ScrapePlanetscale }

// expand reads the endpoints of a target if the list is old. Endpoints that are gone end their series.
func (s *Scraper) expand(ctx context.Context, t *scheduled) {
	if time.Since(t.members.read) < limits.DatabaseSync {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, limits.ScrapeTimeout)
	defer cancel()
	list, err := s.cfg.Expander.Endpoints(ctx, t.row)
	if err != nil {
		t.members.problem = "the list of endpoints could not be read: " + err.Error()
		return
	}
	t.members.read, t.members.problem = time.Now(), ""
	if len(list) > limits.PlatformEndpoints {
		t.members.problem = fmt.Sprintf("the account has %d endpoints; %d of them are scraped", len(list), limits.PlatformEndpoints)
		list = list[:limits.PlatformEndpoints]
	}
	before := t.members.of
	t.members.of = make(map[string]*scheduled, len(list))
	for _, e := range list {
		member := s.newMember(t, e)
		if old := before[e.Key]; old != nil && maps.Equal(old.Labels, member.Labels) && old.Name == member.Name && old.Service == member.Service {
			old.URL = e.URL // the same place with a new signature
			member.client.CloseIdleConnections()
			member = old
			delete(before, e.Key)
		}
		t.members.of[e.Key] = member
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, old := range before {
		s.end(old)
		old.client.CloseIdleConnections()
	}
}

// newMember makes the target of an endpoint.
func (s *Scraper) newMember(t *scheduled, e Endpoint) *scheduled {
	member := &scheduled{Target: t.Target, row: t.row, lease: t.lease, index: -1, public: t.public}
	member.URL, member.Labels = e.URL, maps.Clone(e.Labels)
	if member.Labels == nil {
		member.Labels = map[string]string{}
	}
	maps.Copy(member.Labels, t.Labels)
	member.id = newIdentity(&member.Target)
	member.client = newClient(s.cfg.Guard, member.Timeout(), limits.ScrapeConnection)
	return member
}

// scrapeMembers scrapes the endpoints of a target. It is one check: it succeeds if all of them do.
func (s *Scraper) scrapeMembers(t *scheduled) {
	started := time.Now()
	s.expand(s.ctx, t)
	if s.ctx.Err() != nil {
		return
	}
	var mu sync.Mutex
	var scrapes sync.WaitGroup
	places, failed, samples, first := make(chan struct{}, membersAtOnce), 0, 0, ""
	for _, member := range t.members.of {
		scrapes.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			r := s.attempt(member)
			mu.Lock()
			defer mu.Unlock()
			if samples += r.samples; r.err != nil {
				if failed++; first == "" {
					first = r.err.Error()
				}
			}
		})
	}
	scrapes.Wait()
	if s.ctx.Err() != nil {
		return
	}
	problem := t.members.problem
	switch {
	case failed > 0:
		problem = fmt.Sprintf("%d of %d endpoints could not be scraped; one of them: %s", failed, len(t.members.of), first)
	case problem == "" && len(t.members.of) == 0:
		problem = "the account has no endpoint that fits the patterns of branches"
	}
	s.conclude(t, started, time.Since(started), samples, problem)
}
