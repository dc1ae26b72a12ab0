package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/services/ingestkeys"
	"github.com/svc-observability/svc/server/store"
)

func (c *cli) adminSampling() *cobra.Command {
	cmd := group("sampling", "The sampling policy: which spans of an organization are kept")
	cmd.AddCommand(c.samplingShow(), c.samplingSet(), c.samplingReset())
	return cmd
}

func (s *session) printSampling(p store.SamplingPolicy) error {
	return s.print(ingestkeys.ToSamplingPolicy(p), func(w io.Writer) {
		ratio := strconv.FormatFloat(p.TraceSampleRatio, 'f', -1, 64)
		if p.TraceSampleRatio == 1 {
			ratio += " (every span is kept)"
		}
		row(w, "Trace sample ratio", ratio)
		row(w, "Always keep error spans", p.AlwaysKeepErrorSpans)
		slow := "no"
		if p.AlwaysKeepSlowSpansMS != nil {
			slow = fmt.Sprintf("from %d ms", *p.AlwaysKeepSlowSpansMS)
		}
		row(w, "Always keep slow spans", slow)
		if p.UpdatedAt != nil {
			row(w, "Updated", at(p.UpdatedAt))
		}
	})
}

func (c *cli) samplingShow() *cobra.Command {
	return c.onOrg(
		&cobra.Command{Use: "show", Aliases: []string{"get"}, Short: "Show the policy"},
		func(ctx context.Context, s *session, _ []string) error {
			p, err := s.GetSamplingPolicy(ctx, s.org.ID)
			if err != nil {
				return err
			}
			return s.printSampling(p)
		},
	)
}

func (c *cli) samplingSet() *cobra.Command {
	var ratio float64
	var keepErrors bool
	var slow *int64
	cmd := &cobra.Command{
		Use: "set", Short: "Change the policy; settings without a flag stay",
		Example: "  svc admin sampling set --trace-sample-ratio 0.1 --always-keep-slow-spans-ms 2000",
	}
	cmd.Flags().Float64Var(&ratio, "trace-sample-ratio", 1, "share of the traces to keep, from 0.000001 to 1")
	cmd.Flags().BoolVar(&keepErrors, "always-keep-error-spans", true, "keep spans with an error at any ratio")
	cmd.Flags().Func(
		"always-keep-slow-spans-ms",
		"keep spans of at least this duration at any ratio, in milliseconds, or 'none'",
		func(text string) error {
			if slow = nil; text == "none" {
				return nil
			}
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				return errors.New("give a whole number of milliseconds, or 'none'")
			}
			slow = &n
			return nil
		},
	)
	return c.onOrg(cmd, func(ctx context.Context, s *session, _ []string) error {
		p, err := s.GetSamplingPolicy(ctx, s.org.ID)
		if err != nil {
			return err
		}
		in := store.SamplingPolicyParams{
			TraceSampleRatio: p.TraceSampleRatio, AlwaysKeepErrorSpans: p.AlwaysKeepErrorSpans, AlwaysKeepSlowSpansMS: p.AlwaysKeepSlowSpansMS,
		}
		changed := cmd.Flags().Changed
		if changed("trace-sample-ratio") {
			in.TraceSampleRatio = ratio
		}
		if changed("always-keep-error-spans") {
			in.AlwaysKeepErrorSpans = keepErrors
		}
		if changed("always-keep-slow-spans-ms") {
			in.AlwaysKeepSlowSpansMS = slow
		}
		if p, err = s.PutSamplingPolicy(ctx, s.org.ID, in); err != nil {
			return err
		}
		if in.TraceSampleRatio != p.TraceSampleRatio {
			fmt.Fprintf(
				s.cli.stderr,
				"svc: --trace-sample-ratio %v was changed to %v: the range is from %v to 1\n",
				in.TraceSampleRatio,
				p.TraceSampleRatio,
				store.MinSampleRatio,
			)
		}
		return s.printSampling(p)
	})
}

func (c *cli) samplingReset() *cobra.Command {
	return c.onOrg(
		&cobra.Command{Use: "reset", Short: "Return to the default: keep every span"},
		func(ctx context.Context, s *session, _ []string) error {
			if err := s.ResetSamplingPolicy(ctx, s.org.ID); err != nil {
				return err
			}
			return s.printSampling(store.DefaultSamplingPolicy())
		},
	)
}
