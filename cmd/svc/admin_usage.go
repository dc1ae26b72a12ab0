package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// usageJSON is the usage of one group, as ingest nodes counted it for the plans; the API has no message for it.
type usageJSON struct {
	Day      string `json:"day,omitempty"`
	Signal   string `json:"signal,omitempty"`
	KeyID    string `json:"key_id,omitempty"`
	Requests int64  `json:"requests"`
	Items    int64  `json:"items"`
	Bytes    int64  `json:"bytes"`
}

func (c *cli) adminUsage() *cobra.Command {
	var month time.Time
	by := "signal"
	cmd := &cobra.Command{
		Use: "usage", Short: "Show what an organization sent in a calendar month (UTC), by day, signal or key",
		Long: `Show what an organization sent in a calendar month (UTC), by day, signal or key.

Bytes are counted after decompression. The groups day and key also show each signal. A running server adds its counts every few seconds.`,
		Example: "  svc admin usage --month 2026-11 --by key",
	}
	monthFlag(cmd, &month, time.Now)
	oneOfFlag(cmd, "by", &by, "day, signal or key (default signal)", "day", "signal", "key")
	return c.onOrg(cmd, func(ctx context.Context, s *session, _ []string) error {
		groups := map[string][]store.UsageGroup{
			"day": {store.UsageByDay, store.UsageBySignal}, "signal": {store.UsageBySignal}, "key": {store.UsageByKey, store.UsageBySignal},
		}[by]
		rows, err := s.ListIngestUsage(ctx, s.org.ID, month, groups...)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			s.none("usage in " + month.Format("2006-01"))
		}
		out := make([]usageJSON, len(rows))
		for i, r := range rows {
			out[i] = usageJSON{Signal: r.Signal, KeyID: r.KeyID, Requests: r.Requests, Items: r.Items, Bytes: r.Bytes}
			if !r.Day.IsZero() {
				out[i].Day = r.Day.Format(time.DateOnly)
			}
		}
		return s.print(out, func(w io.Writer) {
			head := map[string]string{"day": "DAY\t", "signal": "", "key": "KEY\t"}[by]
			row(w, head+"SIGNAL", "REQUESTS", "ITEMS", "BYTES")
			for _, r := range out {
				first := r.Day + r.KeyID
				if first != "" {
					first += "\t"
				}
				row(w, first+r.Signal, grouped(r.Requests), grouped(r.Items), grouped(r.Bytes))
			}
		})
	})
}

// outcomeJSON is one answer of an ingest node. Only administrators of the installation see these answers one by one: the API has no
// message for them.
type outcomeJSON struct {
	At       time.Time `json:"at"`
	KeyID    string    `json:"key_id"`
	Node     string    `json:"node"`
	Signal   string    `json:"signal"`
	Door     string    `json:"door"`
	Status   int       `json:"status"`
	Tag      *string   `json:"tag"`
	Accepted int       `json:"accepted"`
	Rejected int       `json:"rejected"`
	Sampled  int       `json:"sampled"`
	Cut      int       `json:"cut"`
	Bytes    int       `json:"bytes"`
	Reason   *string   `json:"reason"`
	Agent    *string   `json:"agent"`
}

func (c *cli) adminOutcomes() *cobra.Command {
	var key string
	limit := 50
	cmd := &cobra.Command{
		Use: "outcomes", Short: "Show the last answers to senders, newest first, to explain \"I sent data and see nothing\"",
		Example: "  svc admin outcomes --key ingk_…",
	}
	cmd.Flags().Func("key", "id of an ingest key (ingk_…) or of a log push connector (default: all)", func(text string) error {
		_, err := publicid.Decode(publicid.IngestKey, text)
		if err != nil {
			_, err = publicid.Decode(publicid.LogpushConnector, text)
		}
		if err != nil {
			return fmt.Errorf("give an id, %s_… or %s_…", publicid.IngestKey, publicid.LogpushConnector)
		}
		key = text
		return nil
	})
	cmd.Flags().IntVar(&limit, "limit", limit, "how many to show; 0 for all")
	return c.onOrg(cmd, func(ctx context.Context, s *session, _ []string) error {
		list, err := s.ListIngestOutcomes(ctx, s.org.ID, key)
		if err != nil {
			return err
		}
		if limit > 0 && len(list) > limit {
			list = list[:limit]
		}
		if len(list) == 0 {
			s.none("recorded answers")
		}
		out := make([]outcomeJSON, len(list))
		for i, o := range list {
			out[i] = outcomeJSON{
				At: o.At, KeyID: o.KeyID, Node: o.Node, Signal: o.Signal, Door: o.Door, Status: o.Status, Tag: nullable(o.Tag), Accepted: o.Accepted,
				Rejected: o.Rejected, Sampled: o.Sampled, Cut: o.Cut, Bytes: o.Bytes, Reason: nullable(o.Reason), Agent: nullable(o.Agent),
			}
		}
		return s.print(out, func(w io.Writer) {
			row(w, "TIME", "KEY", "SIGNAL", "DOOR", "STATUS", "TAG", "ACCEPTED", "REJECTED", "SAMPLED", "CUT", "BYTES", "REASON")
			for _, o := range list {
				row(
					w,
					at(&o.At),
					o.KeyID,
					o.Signal,
					o.Door,
					o.Status,
					orDash(strings.TrimPrefix(o.Tag, "@svc/ingest/")),
					grouped(int64(o.Accepted)),
					grouped(int64(o.Rejected)),
					grouped(int64(o.Sampled)),
					grouped(int64(o.Cut)),
					grouped(int64(o.Bytes)),
					orDash(o.Reason),
				)
			}
		})
	})
}
