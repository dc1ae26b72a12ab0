// Command svc is the whole platform in one program: `svc serve` runs it, and the other subcommands administer it.
//
// Exit codes: 0 success, including a clean stop; 1 failure; 2 bad usage or configuration. Data goes to stdout, everything else to
// stderr.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/console"
)

const (
	exitFailure = 1
	exitUsage   = 2
)

func main() {
	c := &cli{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ()}
	os.Exit(c.run(context.Background(), os.Args[1:]))
}

// cli is the environment of one invocation.
type cli struct {
	stdin          *os.File
	stdout, stderr io.Writer
	environ        []string
}

// Groups of commands in the help.
const (
	groupServer  = "server"
	groupRead    = "read"
	groupAccount = "account"
)

// run executes one command line and returns the exit code.
func (c *cli) run(ctx context.Context, args []string) int {
	root := c.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return 0
	}
	var printed *printedError
	if errors.As(err, &printed) {
		fmt.Fprintln(c.stderr, printed.text)
	} else {
		fmt.Fprintln(c.stderr, console.Wrap("svc: "+err.Error(), columns(c.stderr)))
	}
	var usage *usageError
	var bad *config.Error
	switch {
	case errors.As(err, &usage):
		fmt.Fprintf(c.stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		return exitUsage
	case errors.As(err, &bad):
		return exitUsage
	}
	return exitFailure
}

func (c *cli) root() *cobra.Command {
	root := group("svc", "An OpenTelemetry backend in one program: traces, logs and metrics over REST, gRPC and MCP")
	root.Long = root.Short + `.

Every setting is a flag, an SVC_ variable and a key of the configuration file: see 'svc config print --effective'.
Exit codes: 0 success, 1 failure, 2 bad usage or configuration. Data goes to stdout, everything else to stderr.`
	root.Example = `  svc serve                                       start on the defaults, in ./data
  svc send-test --bootstrap-file data/keys.json   check that telemetry arrives
  svc demo --hours 24 --bootstrap-file data/keys.json   send the telemetry of a small shop
  svc doctor                                      check this machine, the data folder and the databases
  svc services --since 1h                         ask a server: services, traces, logs, errors, metrics, SQL (docs/cli.md)`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetOut(c.stdout)
	root.SetErr(c.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		// Flags of a mistyped command are unknown too, but the error must name the command, not the flags.
		if list := cmd.Flags().Args(); cmd.HasSubCommands() && len(list) > 0 {
			return cmd.ValidateArgs(list)
		}
		return &usageError{err}
	})
	root.AddCommand(
		c.serve(),
		c.warehouse(),
		c.migrate(),
		c.admin(),
		c.version(),
		c.config(),
		c.doctor(),
		c.sendTest(),
		c.demo(),
		c.login(),
		c.whoami(),
		c.logout(),
		c.auth(),
		c.use(),
	)
	root.AddGroup(
		&cobra.Group{ID: groupServer, Title: "Run a server:"},
		&cobra.Group{ID: groupRead, Title: "Ask a server:"},
		&cobra.Group{ID: groupAccount, Title: "Sign in:"},
	)
	for _, cmd := range root.Commands() {
		cmd.GroupID = groupServer
		switch cmd.Name() {
		case "login", "whoami", "logout", "auth", "use":
			cmd.GroupID = groupAccount
		}
	}
	root.AddCommand(c.readCommands()...)
	root.AddCommand(c.mcp())
	c.completion(root)
	return root
}

// usageError is an error in the command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// args checks the arguments of a command and marks errors as bad usage.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if err := check(cmd, list); err != nil {
			return &usageError{err}
		}
		return nil
	}
}

// group is a command that only has subcommands.
func group(use, short string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short,
		Args: func(cmd *cobra.Command, list []string) error {
			if len(list) == 0 {
				return nil
			}
			message := fmt.Sprintf("unknown command %q for %q", list[0], cmd.CommandPath())
			if near := cmd.SuggestionsFor(list[0]); len(near) > 0 {
				message += fmt.Sprintf("; did you mean %q?", near[0])
			}
			return &usageError{errors.New(message)}
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.Help(); err != nil {
				return err
			}
			return &usageError{errors.New("a command is missing")}
		},
	}
}
