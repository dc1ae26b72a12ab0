package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/svc-observability/svc/server/console"
	"github.com/svc-observability/svc/server/limits"
)

// readCommands makes a command of the command line out of each one of the console.
func (c *cli) readCommands() []*cobra.Command {
	var roots []*cobra.Command
	byPath := map[string]*cobra.Command{}
	for _, model := range console.Commands() {
		cmd := c.readCommand(model)
		byPath[model.Path] = cmd
		above, _, nested := strings.Cut(model.Path, " ")
		if !nested {
			cmd.GroupID = groupRead
			roots = append(roots, cmd)
			continue
		}
		if byPath[above] == nil {
			byPath[above] = group(above, console.Groups()[above])
			byPath[above].GroupID = groupRead
			roots = append(roots, byPath[above])
		}
		byPath[above].AddCommand(cmd)
	}
	return roots
}

func (c *cli) readCommand(model console.Command) *cobra.Command {
	q := &console.Query{}
	var show display
	var from source
	name := model.Path[strings.LastIndex(model.Path, " ")+1:]
	cmd := &cobra.Command{
		Use:     strings.Join(append([]string{name}, model.Arguments...), " "),
		Short:   model.Short,
		Example: model.Example,
		Args:    arguments(model.Arguments),
	}
	if cmd.Long = model.Short + "."; model.Long != "" {
		cmd.Long += "\n\n" + model.Long
	}
	cmd.RunE = func(cmd *cobra.Command, list []string) error {
		out, err := c.output(&show, q.Follow, q.All)
		if err != nil {
			return err
		}
		return inFormat(out, c.read(cmd, &model, q, list, &from, out))
	}
	cmd.Flags().SortFlags = false
	for _, f := range model.AllFlags() {
		text := f.Usage
		if len(f.Choices) > 0 {
			text += ": " + strings.Join(f.Choices, ", ")
		}
		switch target := f.Target(&q.Options).(type) {
		case *string:
			cmd.Flags().StringVarP(target, f.Name, f.Short, "", text)
		case *bool:
			cmd.Flags().BoolVarP(target, f.Name, f.Short, false, text)
		case *int:
			cmd.Flags().IntVarP(target, f.Name, f.Short, 0, text)
		case *float64:
			cmd.Flags().Float64VarP(target, f.Name, f.Short, 0, text)
		case *[]string:
			cmd.Flags().StringArrayVarP(target, f.Name, f.Short, nil, text)
		}
	}
	show.flags(cmd)
	from.flags(cmd)
	c.complete(cmd, &model, &from)
	return cmd
}

// read asks the server and writes what it found.
func (c *cli) read(cmd *cobra.Command, model *console.Command, q *console.Query, list []string, from *source, out *console.Output) error {
	q.Now, q.Arguments = time.Now(), slices.Clone(list)
	if err := model.Check(q); err != nil {
		return err
	}
	if input := model.Input(q); input != nil {
		text, err := c.readStdin(limits.RESTBody)
		if err != nil {
			return err
		}
		*input = text
	}
	target, err := c.target(from)
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	if q.Follow {
		// Without --follow, Ctrl-C ends the program at once, as of any program that only reads.
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
		defer stop()
	}
	// A closed pipe is an error of the write, not a signal that kills: `svc traces | head` succeeds.
	signal.Ignore(syscall.SIGPIPE)
	return model.Run(ctx, console.Connect(target), q, out)
}

// arguments checks the number of arguments, and names the one that is missing.
func arguments(names []string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if len(list) > len(names) {
			if cmd.HasSubCommands() {
				return group(cmd.Use, cmd.Short).Args(cmd, list)
			}
			return &usageError{fmt.Errorf("unexpected argument %q", list[len(names)])}
		}
		for i, name := range names {
			switch optional := strings.HasPrefix(name, "["); {
			case i >= len(list) && !optional:
				return &usageError{fmt.Errorf("%s is missing: %s", name, cmd.UseLine())}
			case i < len(list) && list[i] == "":
				return &usageError{fmt.Errorf("%s is empty", strings.Trim(name, "[]"))}
			}
		}
		return nil
	}
}

// display is how an answer is shown.
type display struct {
	format  string
	noColor bool
}

func (d *display) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&d.format, "format", "",
		"table, json or jsonl (SVC_FORMAT; default: table on a terminal, json otherwise)")
	cmd.Flags().BoolVar(&d.noColor, "no-color", false, "no colours (NO_COLOR)")
}

// output returns where and how the answer of a command is written.
func (c *cli) output(d *display, follow, all bool) (*console.Output, error) {
	out := &console.Output{Data: c.stdout, Messages: c.stderr, Format: d.format}
	flag := "--format"
	if out.Format == "" {
		out.Format, flag = c.variable("SVC_FORMAT"), "SVC_FORMAT"
	}
	if !slices.Contains([]string{"", console.FormatTable, console.FormatJSON, console.FormatLines}, out.Format) {
		return nil, &usageError{fmt.Errorf("%s %q: use table, json or jsonl", flag, out.Format)}
	}
	if all {
		if d.format != "" && d.format != console.FormatLines {
			return nil, &usageError{fmt.Errorf("--format %s: --all writes jsonl", d.format)}
		}
		out.Format = console.FormatLines
	}
	if f, ok := c.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if out.Format == "" {
			out.Format = console.FormatTable
		}
		out.Resize = func() int { return columns(f) }
		out.Width = out.Resize()
		out.Color = !d.noColor && c.variable("NO_COLOR") == "" && c.variable("TERM") != "dumb"
	}
	if f, ok := c.stdout.(*os.File); ok {
		out.Left = func() bool { return readerLeft(f) }
	}
	if out.Format == "" {
		out.Format = console.FormatJSON
	}
	if follow && out.Format == console.FormatJSON {
		out.Format = console.FormatLines // a stream has no end at which to close a list
	}
	return out, nil
}

// printedError is an error with the text that stands for it on stderr.
type printedError struct {
	err  error
	text string
}

func (e *printedError) Error() string { return e.err.Error() }
func (e *printedError) Unwrap() error { return e.err }

// inFormat gives a refusal of the server the format of the answer.
func inFormat(out *console.Output, err error) error {
	var bad *console.UsageError
	var failure *console.Failure
	switch {
	case errors.As(err, &bad):
		return &usageError{err}
	case errors.As(err, &failure) && out.Format != console.FormatTable:
		return &printedError{err, string(failure.JSON())}
	}
	return err
}

// variable returns the value of a variable of the environment.
func (c *cli) variable(name string) string {
	for _, pair := range slices.Backward(c.environ) {
		if value, ok := strings.CutPrefix(pair, name+"="); ok {
			return value
		}
	}
	return ""
}

// readerLeft reports whether the other end of a pipe is closed. A follower has to look, because it may have nothing to write for long.
func readerLeft(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0 && fds[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
