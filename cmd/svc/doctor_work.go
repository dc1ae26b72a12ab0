package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// checkWork looks whether every shard of the background work has a process, and whether its work is late.
func checkWork(ctx context.Context, cfg config.Config, running bool) finding {
	list, err := relationalMigrations(ctx, cfg)
	switch {
	case err != nil:
		return fail("%v", err)
	case behind(list) > 0:
		return skip("the database lacks migrations")
	}
	s, err := installation.OpenDatabase(ctx, cfg)
	if err != nil {
		return fail("%v", err)
	}
	f := workFinding(ctx, s, running)
	if err := s.Close(); err != nil {
		return fail("%v", errors.Join(err))
	}
	return f
}

func workFinding(ctx context.Context, s *store.Store, running bool) finding {
	shards, nodes, err := s.ListWork(ctx)
	if err != nil {
		return fail("%v", err)
	}
	now := time.Now()
	late, err := s.LateAlerts(ctx, now.Add(-limits.SetupAlertDelay))
	if err != nil {
		return fail("%v", err)
	}
	unsent, err := s.OverdueDeliveries(ctx, now.Add(-time.Minute))
	if err != nil {
		return fail("%v", err)
	}
	if !s.WorkExpires() && !running {
		return skip("it runs only inside a server")
	}
	text, free := holders(shards, nodes)
	if unsent.Count > 0 {
		text += fmt.Sprintf("; %d messages are due since %s", unsent.Count, unsent.Oldest.Format(time.RFC3339))
	}
	switch {
	case late.Count > 0:
		return fail("alert rules of %d organizations are not evaluated since %s; %s", late.Count, late.Oldest.Format(time.RFC3339), text)
	case free > 0:
		return warn("%d shards have no process; %s. Start a process with the role worker, or wait %s after a stop", free, text, limits.WorkLease)
	case unsent.Count > 0:
		return warn("%s: their destinations pause after failures, or the sender is behind", text)
	}
	return ok("%s; nothing is late", text)
}

// holders names the processes with their shards, and counts the shards without one.
func holders(shards []store.ShardState, nodes []store.WorkNode) (text string, free int) {
	type share struct {
		n     int
		fence int64
	}
	held := map[uuid.UUID]map[string]share{}
	for _, s := range shards {
		if s.Holder == nil || s.Expired {
			free++
			continue
		}
		if held[*s.Holder] == nil {
			held[*s.Holder] = map[string]share{}
		}
		of := held[*s.Holder][s.Kind]
		held[*s.Holder][s.Kind] = share{of.n + 1, max(of.fence, s.Fence)}
	}
	var parts []string
	for _, n := range nodes {
		var kinds []string
		for kind, of := range held[n.ID] {
			kinds = append(kinds, fmt.Sprintf("%s %d (fence %d)", kind, of.n, of.fence))
		}
		slices.Sort(kinds)
		if len(kinds) == 0 {
			kinds = []string{"nothing"}
		}
		parts = append(parts, fmt.Sprintf("%s has %s", n.Host, strings.Join(kinds, ", ")))
	}
	if len(parts) == 0 {
		return "no process does any", free
	}
	return strings.Join(parts, "; "), free
}
