package main

import (
	"fmt"
	"net/url"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/svc-observability/svc/server/console"
)

// mcp connects a program that starts its MCP servers as processes with the MCP endpoint of a server.
func (c *cli) mcp() *cobra.Command {
	var from source
	var toolsets []string
	var readOnly bool
	cmd := &cobra.Command{
		Use:     "mcp",
		GroupID: groupRead,
		Short:   "Offer the MCP tools of a server on standard input and output, for agents that start their servers",
		Long: `Offer the MCP tools of a server on standard input and output, for agents that start their servers as processes.

Each message is one line of JSON. It goes to the MCP endpoint of the server with the credential of this command line, so the configuration of
the agent holds no key. stdout has messages of the protocol only. The command ends when the agent closes its end.
An agent that speaks Streamable HTTP needs no bridge: give it the address of the server with /mcp.`,
		Example: "  svc mcp --readonly\n  svc mcp --toolset oncall --remote",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			target, err := c.target(&from)
			if err != nil {
				return err
			}
			query := url.Values{}
			if len(toolsets) > 0 {
				query.Set("toolsets", strings.Join(toolsets, ","))
			}
			if readOnly {
				query.Set("readonly", "true")
			}
			if term.IsTerminal(int(c.stdin.Fd())) {
				fmt.Fprintln(c.stderr, "svc: an agent starts this command and speaks MCP with it (docs/cli.md); Ctrl-C ends it")
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			signal.Ignore(syscall.SIGPIPE)
			return console.NewBridge(target, query, c.stderr).Run(ctx, c.stdin, c.stdout)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringSliceVar(&toolsets, "toolset", nil, "only the tools of these sets, such as oncall or errors,services")
	cmd.Flags().BoolVar(&readOnly, "readonly", false, "only tools that change nothing")
	from.flags(cmd)
	return cmd
}
