package main

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/console"
)

// bashWords replaces a function of the script for bash, which needs the package bash-completion. Without the package, the words of the line
// are those up to the cursor.
const bashWords = `
__svc_init_completion()
{
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local line="${COMP_LINE:0:COMP_POINT}"
    read -ra words <<<"${line}"
    if [[ ${line} == *[[:space:]] ]]; then
        words+=("")
    fi
    cword=$((${#words[@]} - 1))
    cur="${words[cword]}"
    prev="${words[cword > 0 ? cword - 1 : 0]}"
}
`

// completion adds the command that writes the scripts for shells.
func (c *cli) completion(root *cobra.Command) {
	root.InitDefaultCompletionCmd("completion")
	for _, cmd := range root.Commands() {
		if cmd.Name() != "completion" {
			continue
		}
		// The default command accepts any word as a shell and prints help.
		model := group(cmd.Use, cmd.Short)
		cmd.Args, cmd.RunE = model.Args, model.RunE
		for _, shell := range cmd.Commands() {
			if shell.Name() != "bash" {
				continue
			}
			script := shell.RunE
			shell.RunE = func(cmd *cobra.Command, list []string) error {
				if err := script(cmd, list); err != nil {
					return err
				}
				_, err := io.WriteString(c.stdout, bashWords)
				return err
			}
			shell.Long = strings.Replace(shell.Long, "This script depends on the 'bash-completion' package.\n"+
				"If it is not installed already, you can install it via your OS's package manager.\n\n", "", 1)
		}
	}
}

// complete lets a shell complete the arguments and the values of flags of a command. The shell completes names of commands and flags by
// itself.
func (c *cli) complete(cmd *cobra.Command, model *console.Command, from *source) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, list []string, begun string) ([]string, cobra.ShellCompDirective) {
		kind, values := model.Completion(len(list))
		return c.offer(cmd, from, kind, values, begun)
	}
	for _, f := range model.AllFlags() {
		c.completeFlag(cmd, from, f.Name, f.Names, f.Choices)
	}
	c.completeFlag(cmd, from, "format", "", []string{console.FormatTable, console.FormatJSON, console.FormatLines})
	c.completeFlag(cmd, from, "api-url", "", nil)
	c.completeFlag(cmd, from, "org-id", "", nil)
}

func (c *cli) completeFlag(cmd *cobra.Command, from *source, name, kind string, values []string) {
	// The only error is that the flag does not exist or has a function already, which a test of every command would show.
	_ = cmd.RegisterFlagCompletionFunc(name, func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return c.offer(cmd, from, kind, values, begun)
	})
}

// offer returns the values that begin with the typed text. If the server does not answer, it returns no values, because a shell cannot show
// an error.
func (c *cli) offer(cmd *cobra.Command, from *source, kind string, values []string, begun string) ([]string, cobra.ShellCompDirective) {
	if kind != "" {
		values = c.names(cmd.Context(), from, kind)
	}
	values = slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !strings.HasPrefix(v, begun) })
	return values, cobra.ShellCompDirectiveNoFileComp
}

// names returns the names that the command's server has for a kind of value.
func (c *cli) names(ctx context.Context, from *source, kind string) []string {
	target, err := c.target(from)
	if err != nil {
		return nil
	}
	return console.CompletedNames(ctx, target, c.cacheFolder(), kind)
}

// cacheFolder is the folder of this user for files that can be made again; empty for a user without a home.
func (c *cli) cacheFolder() string {
	if dir := c.variable("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "svc")
	}
	if home := c.variable("HOME"); home != "" {
		return filepath.Join(home, ".cache", "svc")
	}
	return ""
}
