package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/store"
)

func (c *cli) adminPlan() *cobra.Command {
	cmd := group("plan", "The plan of an organization: how much it may send in a calendar month")
	cmd.AddCommand(c.planShow(), c.planSet(), c.planRemove())
	return cmd
}

// planJSON is a plan. Only administrators of the installation handle plans: the API has no message for them.
type planJSON struct {
	Object    string          `json:"object"`
	Name      string          `json:"name"`
	Active    bool            `json:"active"`
	Limits    []planLimitJSON `json:"limits"`
	UpdatedAt time.Time       `json:"updated_at"`
}

type planLimitJSON struct {
	Signal string `json:"signal"`
	Items  *int64 `json:"items"`
	Bytes  *int64 `json:"bytes"`
}

func (s *session) printPlan(p store.Plan) error {
	out := planJSON{Object: "plan", Name: p.Name, Active: p.Active, Limits: []planLimitJSON{}, UpdatedAt: p.UpdatedAt}
	for _, l := range p.Limits {
		out.Limits = append(out.Limits, planLimitJSON(l))
	}
	return s.print(out, func(w io.Writer) {
		state := "active"
		if !p.Active {
			state = "inactive: nothing is accepted"
		}
		row(w, "Plan", p.Name)
		row(w, "State", state)
		row(w, "Updated", at(&p.UpdatedAt))
		if len(p.Limits) == 0 {
			row(w, "Limits", "none")
			return
		}
		row(w, "")
		row(w, "SIGNAL", "ITEMS A MONTH", "BYTES A MONTH")
		amount := func(n *int64) string {
			if n == nil {
				return "unlimited"
			}
			return grouped(*n)
		}
		for _, l := range p.Limits {
			row(w, l.Signal, amount(l.Items), amount(l.Bytes))
		}
	})
}

// grouped writes a number with a space between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + " " + digits[i:]
	}
	return digits
}

func (c *cli) planShow() *cobra.Command {
	return c.onOrg(
		&cobra.Command{Use: "show", Aliases: []string{"get"}, Short: "Show the plan; exit 1 when there is none"},
		func(ctx context.Context, s *session, _ []string) error {
			p, err := s.GetPlan(ctx, s.org.ID)
			if err != nil {
				return s.noPlan(err)
			}
			return s.printPlan(p)
		},
	)
}

func (s *session) noPlan(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return errors.New("organization " + s.org.Slug + " has no plan: nothing is limited")
	}
	return err
}

func (c *cli) planSet() *cobra.Command {
	var in store.PlanParams
	cmd := &cobra.Command{
		Use: "set --name NAME", Short: "Set the plan, replacing an earlier one",
		Long: `Set the plan, replacing an earlier one.

A signal without a limit is not limited. Above a limit, senders get status 402 until the next month (UTC). While the
plan is inactive, they get it always.`,
		Example: "  svc admin plan set --name pro --limit traces.items=1000000 --limit logs.bytes=10GB",
	}
	cmd.Flags().StringVar(&in.Name, "name", "", "name of the plan (required)")
	cmd.Flags().BoolVar(&in.Active, "active", true, "accept telemetry; false refuses all of it")
	limitFlag(cmd, &in.Limits)
	cmd = c.onOrg(cmd, func(ctx context.Context, s *session, _ []string) error {
		p, err := s.PutPlan(ctx, s.org.ID, in)
		if err != nil {
			return err
		}
		return s.printPlan(p)
	})
	required(cmd, "name")
	return cmd
}

func (c *cli) planRemove() *cobra.Command {
	return c.onOrg(
		&cobra.Command{Use: "remove", Short: "Remove the plan, and with it every limit"},
		func(ctx context.Context, s *session, _ []string) error {
			if err := s.RemovePlan(ctx, s.org.ID); err != nil {
				return s.noPlan(err)
			}
			return s.print(map[string]bool{"removed": true}, func(w io.Writer) { row(w, "Removed: nothing is limited") })
		},
	)
}
