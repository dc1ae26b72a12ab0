package console

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/wirejson"
)

// Output is where an answer goes, and how.
type Output struct {
	Data, Messages io.Writer
	Format         string
	// Width is the number of columns of the terminal; 0 where there is none, so that a table is as wide as it needs.
	Width int
	Color bool
	// Resize returns the present width, and Left whether the reader has gone. Both may be nil. A follower asks them, as it lasts.
	Resize func() int
	Left   func() bool
}

// errReaderLeft says that the reader of the output has gone.
var errReaderLeft = errors.New("nobody reads the output any more")

// left turns the error of a closed pipe into errReaderLeft.
func left(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return errReaderLeft
	}
	return err
}

func (o *Output) write(a Answer) error {
	w := bufio.NewWriter(o.Data)
	var err error
	switch o.Format {
	case FormatJSON:
		err = writeJSON(w, a)
	case FormatLines:
		err = writeLines(w, a)
	default:
		err = o.writeTables(w, a)
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return left(err)
	}
	notes := a.notes
	if o.Format != FormatTable {
		notes = slices.Concat(notes, a.asides)
	}
	for _, note := range notes {
		o.note(note)
	}
	if a.cursor != "" {
		o.note("there are more: add --cursor " + a.cursor)
	}
	return nil
}

// note tells a person something beside the data.
func (o *Output) note(text string) {
	text = "svc: " + safe(text)
	fmt.Fprintln(o.Messages, Wrap(text, o.Width))
}

// Wrap breaks the lines of a text between words, for a terminal of some columns; 0 breaks nothing.
func Wrap(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		lines = append(lines, wrap(line, columns)...)
	}
	return strings.Join(lines, "\n")
}

// encode writes a message in the JSON of REST.
func encode(m proto.Message) ([]byte, error) {
	text, err := wirejson.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write the answer: %w", err)
	}
	return escapeControls(text), nil
}

// writeJSON writes the answer of the method, indented.
func writeJSON(w io.Writer, a Answer) error {
	text := escapeControls(a.raw)
	if a.message != nil {
		var err error
		if text, err = encode(a.message); err != nil {
			return err
		}
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// writeLines writes each part of the answer on its own line.
func writeLines(w io.Writer, a Answer) error {
	for _, line := range a.rawLines {
		if _, err := w.Write(append(escapeControls(line), '\n')); err != nil {
			return err
		}
	}
	for _, m := range a.lines {
		text, err := encode(m)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// writeTables writes the answer for people.
func (o *Output) writeTables(w io.Writer, a Answer) error {
	if a.empty != "" {
		o.note(a.empty)
	}
	first := true
	for _, s := range a.sections {
		if len(s.rows) == 0 {
			continue
		}
		if !first {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		first = false
		if err := o.writeSection(w, s); err != nil {
			return err
		}
	}
	return nil
}

// linesOf turns a list of one kind of message into lines.
func linesOf[T proto.Message](list []T) []proto.Message {
	out := make([]proto.Message, len(list))
	for i, m := range list {
		out[i] = m
	}
	return out
}
