// Package console is the reading side of the command line. Commands returns one table: each command names its flags, the method of the
// public API that it asks, and how a terminal shows the answer. The methods are called with the generated Connect clients, so the command
// line sees what every other caller sees.
//
// A terminal gets tables. A file or a pipe gets the answer of the method as JSON, with the same text as REST. Text of telemetry reaches a
// terminal only without control characters (see safe).
package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/limits"
)

// Formats of an answer.
const (
	FormatTable = "table"
	FormatJSON  = "json"
	FormatLines = "jsonl"
)

// Command is one command of the command line.
type Command struct {
	// Path is the name, with the names of the groups before it: `issues move`.
	Path string
	// Arguments are the names of the arguments, in capitals. A name in brackets may be left out.
	Arguments []string
	Short     string
	Long      string
	Example   string
	Flags     []Flag
	// window, service and page say which of the flags that several commands have belong to this one.
	window, service, page bool
	// length is the length of the window without a flag; limits.CommandWindow when zero.
	length time.Duration
	// kept says that the command finds what is kept longer than telemetry, so telemetry does not tell whether a name exists.
	kept bool
	// follow asks again and again instead of once.
	follow func(context.Context, *Query, *Output) error
	// stream writes an answer that does not fit into memory.
	stream func(context.Context, *Query, *Output) error
	run    func(context.Context, *Query) (Answer, error)
}

// Query is one use of a command: the values of its arguments and flags. The zero value of a flag means that it was not given.
type Query struct {
	Options

	Arguments []string
	// Now is the time from which a window counts back.
	Now    time.Time
	client *Client
	format string
	// length is that of the command.
	length time.Duration
}

// Answer is the result of a command.
type Answer struct {
	// message is the answer of the method.
	message proto.Message
	// lines are the parts of the answer that `jsonl` writes, one on each line. Without any, the message is the only line.
	lines []proto.Message
	// raw replaces message and lines where the answer is not a message of the contract.
	raw      []byte
	rawLines [][]byte
	sections []section
	// cursor leads to the next page.
	cursor string
	// notes are for a person: warnings of the answer, and the parts that it leaves out.
	notes []string
	// asides are notes that a table shows already.
	asides []string
	// empty says that nothing was found, in words.
	empty string
}

// UsageError is an error in the command line.
type UsageError struct{ text string }

func (e *UsageError) Error() string { return e.text }

func usage(format string, list ...any) error { return &UsageError{fmt.Sprintf(format, list...)} }

// Commands returns all commands.
func Commands() []Command {
	return slices.Concat(serviceCommands(), traceCommands(), logCommands(), errorCommands(), issueCommands(), metricCommands(),
		attributeCommands(), sqlCommands(), sourceCommands(), toolCommands())
}

// Groups says in a sentence what the commands with the same first word do, where that word is not a command itself.
func Groups() map[string]string {
	return map[string]string{
		"attributes": "Explore the attributes of telemetry", "source": "Search and read source code",
		"tools": "List and call the MCP tools of the server",
	}
}

// Input returns the argument or flag whose text is to be read from standard input, because its value is '-'. It returns nil for none.
func (c *Command) Input(q *Query) *string {
	switch {
	case c.Path == "query" && q.Arguments[0] == "-":
		return &q.Arguments[0]
	case c.Path == "tools call" && q.ToolArguments == "-":
		return &q.ToolArguments
	}
	return nil
}

// Run asks the server and writes the answer.
func (c *Command) Run(ctx context.Context, client *Client, q *Query, out *Output) error {
	q.client, q.format, q.length = client, out.Format, c.length
	if q.Follow && c.follow != nil {
		notes, err := q.unknown(ctx, c) // a follower may wait for ever for a name with a mistake
		if err != nil {
			return err
		}
		for _, note := range notes {
			out.note(note)
		}
		return ended(c.follow(ctx, q, out))
	}
	if q.All && c.stream != nil {
		return ended(c.stream(ctx, q, out))
	}
	answer, err := c.run(ctx, q)
	if err != nil {
		return err
	}
	if answer.empty != "" {
		notes, err := q.unknown(ctx, c)
		if err != nil {
			return err
		}
		answer.notes = append(answer.notes, notes...)
	}
	return ended(out.write(answer))
}

// Check finds errors in the values of arguments and flags before anything is asked.
func (c *Command) Check(q *Query) error {
	for _, f := range c.AllFlags() {
		if text, ok := f.Target(&q.Options).(*string); ok && *text != "" && len(f.Choices) > 0 && !slices.Contains(f.Choices, *text) {
			return usage("--%s %q: use %s", f.Name, *text, either(f.Choices))
		}
	}
	q.length = c.length
	if _, _, err := q.window(); err != nil {
		return err
	}
	switch {
	case q.Limit < 0 || q.Limit > limits.CommandRows:
		return usage("--limit %d: use 1 to %s", q.Limit, limits.Number(limits.CommandRows))
	case q.Offset < 0 || q.Offset > limits.CommandRows:
		return usage("--offset %d: use 0 to %s", q.Offset, limits.Number(limits.CommandRows))
	case q.Follow && (q.Start != "" || q.End != "" || q.Since != "" || q.Cursor != "" || q.Offset != 0 || q.Limit != 0):
		return usage("--follow shows what arrives from now on: it takes no --since, --start, --end, --limit, --offset and --cursor")
	case c.Path == "query" && q.Environment != "":
		return usage("--environment does not change a statement: put the condition into it")
	case q.MinDuration < 0 || q.MaxDuration < 0 || q.MaxDuration > 0 && q.MaxDuration < q.MinDuration:
		return usage("--max-duration-ms must not be below --min-duration-ms, and both not below 0")
	}
	return nil
}

func either(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// ended returns nil for a pipe whose reader has left, as `head` does: it has the lines that it wanted.
func ended(err error) error {
	if errors.Is(err, errReaderLeft) {
		return nil
	}
	return err
}
