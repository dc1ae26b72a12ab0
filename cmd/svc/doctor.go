package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/config"
)

// doctorTimeout bounds each check: a server that does not answer must not hang the report.
const doctorTimeout = 10 * time.Second

func (c *cli) doctor() *cobra.Command {
	var asJSON, grants bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine, the data folder and the databases for faults",
		Long: `Check this machine, the data folder and the databases for faults. The command changes nothing and works beside a running
server. The exit code is 1 if a check fails; warnings do not count.`,
		Example: "  svc doctor --data-dir /var/lib/svc",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			if grants {
				return c.printGrants(cmd.Context(), cfg)
			}
			return c.examine(cmd.Context(), cfg, asJSON)
		},
	}
	settings(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&grants, "warehouse-grants", false, "print the statements that set up SQL for organizations on a ClickHouse server")
	return cmd
}

// verdict is the result of a check.
type verdict string

const (
	verdictOK   verdict = "ok"
	verdictWarn verdict = "warn"
	verdictFail verdict = "fail"
	verdictSkip verdict = "skip"
)

// finding is the outcome of one check, with a text that names the remedy.
type finding struct {
	Check   string  `json:"check"`
	Verdict verdict `json:"verdict"`
	Message string  `json:"message"`
}

func ok(format string, a ...any) finding {
	return finding{Verdict: verdictOK, Message: fmt.Sprintf(format, a...)}
}

func warn(format string, a ...any) finding {
	return finding{Verdict: verdictWarn, Message: fmt.Sprintf(format, a...)}
}

func fail(format string, a ...any) finding {
	return finding{Verdict: verdictFail, Message: fmt.Sprintf(format, a...)}
}

func skip(message string) finding {
	return finding{Verdict: verdictSkip, Message: message}
}

// examine runs the checks in the order in which a start of the server would meet the problems.
func (c *cli) examine(ctx context.Context, cfg config.Config, asJSON bool) error {
	running := serverRuns(cfg)
	var findings []finding
	for _, check := range []struct {
		name string
		run  func(context.Context, config.Config, bool) finding
	}{
		{"processor", checkProcessor},
		{"clock", checkClock},
		{"data folder", checkDataDir},
		{"disk space", checkDisk},
		{"ingest queue", checkQueue},
		{"ports", checkPorts},
		{"engine library", checkLibrary},
		{"database", checkDatabase},
		{"background work", checkWork},
		{"warehouse", checkWarehouse},
		{"warehouse hosts", checkHosts},
		{"system logs", checkSystemLogs},
	} {
		limited, cancel := context.WithTimeout(ctx, doctorTimeout)
		f := check.run(limited, cfg, running)
		cancel()
		f.Check = check.name
		findings = append(findings, f)
	}
	failed := 0
	table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
	for _, f := range findings {
		if f.Verdict == verdictFail {
			failed++
		}
		if !asJSON {
			fmt.Fprintf(table, "%s\t%s\t%s\n", f.Verdict, f.Check, f.Message)
		}
	}
	if asJSON {
		if err := c.printJSON(findings); err != nil {
			return err
		}
	} else if err := table.Flush(); err != nil {
		return err
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d checks failed", failed, len(findings))
	}
	return nil
}
