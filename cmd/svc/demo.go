package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/demo"
)

// demoFlags are the flags of svc demo.
type demoFlags struct {
	hours, rate, scale float64
	until, output      string
	follow, json       bool
	seed               uint64
	shift              time.Duration
	fault              string
	quiet              bool
	ingestURL, key     string
}

func (c *cli) demo() *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Send the telemetry of a small shop, live or for the past hours",
		Long: `Send the telemetry of a small shop through the public ingest API: traces, logs and metrics of twelve services, browser sessions with recordings,
product events and an LLM agent, with faults planted at known times (docs/demo.md).

Without --hours the demo sends live telemetry until Ctrl-C. With --hours it fills the past hours, a day in about a minute; --follow then continues live.
The same seed, rate and time give the same telemetry with the same ids: filling the same hours twice stores it twice.

The faults occur every day at the same times. --fault plants others instead, one in every four hours; --seed determines their places, times and
sizes. --quiet plants none.

The address and the key come from the flags, else from SVC_INGEST_KEY, else from the bootstrap file.`,
		Example: `  svc demo --bootstrap-file data/keys.json                    # live, about 14 spans a second
  svc demo --hours 24 --follow                                # a day of data, then live (SVC_INGEST_KEY is set)
  svc demo --hours 4 --fault memory-leak --seed 7             # one leak, somewhere in these hours
  svc demo --hours 24 --scale 10 --until 2026-11-21T12:00:00Z # over ten million spans, the same each time`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := c.demoOptions(cmd, &f)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			// A second Ctrl-C ends the program at once.
			context.AfterFunc(ctx, stop)
			show := newDemoProgress(c.stderr, options.From, options.To)
			options.Progress = show.update
			result, err := demo.Run(ctx, options)
			show.end()
			switch {
			case result.From.IsZero(): // the run did not start
			case f.output == "json":
				err = errors.Join(err, c.printJSON(result))
			default:
				c.demoSummary(result)
			}
			if n := result.Items(func(c demo.Count) int { return c.Refused }); err == nil && n > 0 {
				err = fmt.Errorf("the server refused %d items", n)
			}
			return err
		},
	}
	settings(cmd, "data-dir", "bootstrap-file", "api-addr", "ingest-addr", "otlp-grpc-addr", "public-url", "ingest-public-url")
	flags := cmd.Flags()
	flags.Float64Var(&f.hours, "hours", 0, fmt.Sprintf("number of past hours to fill, at most %.0f; 0 sends live", demo.MaxBack.Hours()))
	flags.StringVar(&f.until, "until", "", "end of the hours to fill, RFC 3339 (default: now)")
	flags.BoolVar(&f.follow, "follow", false, "continue live after filling the past hours")
	flags.Float64Var(&f.rate, "rate", demo.DefaultRate, "user actions that begin per second, averaged over a day; each makes 6 to 7 spans")
	flags.Float64Var(&f.scale, "scale", 1, "multiply the rate, as for benchmarks")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of all random choices")
	flags.DurationVar(&f.shift, "fault-shift", 0, "delay all planted faults by this time, such as 3h")
	flags.StringVar(&f.fault, "fault", "",
		"plant faults of this kind at random places and times: "+demo.PlantRandom+", "+strings.Join(demo.Kinds(), ", "))
	flags.BoolVar(&f.quiet, "quiet", false, "plant no fault")
	flags.StringVar(&f.ingestURL, "ingest-url", "", "URL of OTLP over HTTP (default: the bootstrap file's, else the running server's)")
	flags.StringVar(&f.key, "ingest-key", "", "ingest key to send with (SVC_INGEST_KEY)")
	flags.StringVar(&f.output, "output", "text", "format of the summary: text or json")
	flags.BoolVar(&f.json, "json", false, "the same as --output json")
	return cmd
}

func (c *cli) demoOptions(cmd *cobra.Command, f *demoFlags) (demo.Options, error) {
	var none demo.Options
	cfg, err := c.load(cmd)
	if err != nil {
		return none, err
	}
	if f.json {
		f.output = "json"
	}
	bad := func(format string, list ...any) (demo.Options, error) {
		return none, &usageError{fmt.Errorf(format, list...)}
	}
	rate := f.rate * f.scale
	switch {
	case f.output != "text" && f.output != "json":
		return bad("--output must be text or json, not %q", f.output)
	case !(f.hours >= 0) || f.hours > demo.MaxBack.Hours():
		return bad("--hours must be from 0 to %.0f: the server refuses older telemetry", demo.MaxBack.Hours())
	case !(f.rate > 0) || math.IsInf(f.rate, 0):
		return bad("--rate must be above 0")
	case !(f.scale > 0) || math.IsInf(f.scale, 0):
		return bad("--scale must be above 0")
	case rate > demo.MaxRate:
		return bad("--rate times --scale must be at most %d", demo.MaxRate)
	case f.until != "" && f.hours == 0:
		return bad("--until needs --hours: it is the end of these hours")
	case f.until != "" && f.follow:
		return bad("--follow continues from now: it cannot be used with --until")
	case f.shift < -24*time.Hour || f.shift > 24*time.Hour:
		return bad("--fault-shift must be within a day")
	case f.fault == demo.PlantNone || !demo.CanPlant(f.fault):
		return bad("--fault must be %s or one of %s, not %q", demo.PlantRandom, strings.Join(demo.Kinds(), ", "), f.fault)
	case f.quiet && f.fault != "":
		return bad("--quiet plants no fault: it cannot be used with --fault")
	case f.shift != 0 && (f.quiet || f.fault != ""):
		return bad("--fault-shift moves the daily faults: it cannot be used with --fault or --quiet")
	}
	until := time.Now()
	if f.until != "" {
		if until, err = time.Parse(time.RFC3339, f.until); err != nil {
			return bad("--until must be a time such as 2026-11-21T12:00:00Z, not %q", f.until)
		}
		if time.Until(until) > 24*time.Hour {
			return bad("--until is more than a day ahead: the server refuses such telemetry")
		}
	}
	from := until.Add(-time.Duration(f.hours * float64(time.Hour)))
	if back := time.Since(from); back > demo.MaxBack {
		return bad("the hours begin %.0f hours ago: the server refuses telemetry older than %.0f hours", back.Hours(), demo.MaxBack.Hours())
	}
	where := sendTest{ingestURL: f.ingestURL, ingestKey: f.key, apiKey: "not needed", timeout: time.Second}
	if err := where.complete(cfg, c.environ); err != nil {
		return none, err
	}
	plant := f.fault
	if f.quiet {
		plant = demo.PlantNone
	}
	return demo.Options{
		Config: demo.Config{Seed: f.seed, Rate: rate, FaultShift: f.shift, Plant: plant},
		Target: demo.Target{URL: where.ingestURL, Key: where.ingestKey},
		From:   from, To: until, Follow: f.follow || f.hours == 0,
	}, nil
}
