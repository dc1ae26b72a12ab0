package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
)

// checkpoint is the durable state. Everything before Done is stored. Some tables of the spans of Intents may be stored. With lanes, more
// is stored: see places.
type checkpoint struct {
	Log  string         `json:"log"`
	Done queue.Position `json:"done"`
	// Intents are the spans that are being inserted, in the order in which they were cut.
	Intents []intent `json:"-"`
	// Main is the place of the main cursor while there are lanes.
	Main  queue.Position `json:"main,omitzero"`
	Lanes []mark         `json:"lanes,omitempty"`
	// Ledger is the last entry of the ledger that belongs to stored spans.
	Ledger int64 `json:"ledger,omitzero"`
}

// storedCheckpoint is the form in the file. Without lanes it is the form of version 1, which older programs read too. An older
// program that finds lanes begins at Done: it loses nothing, and stores the rows between Done and the marks twice. It must not see
// an intent beside lanes, because it would regard everything before the end of the intent as stored. The same is true of several intents.
type storedCheckpoint struct {
	checkpoint
	Intent     *intent  `json:"intent,omitempty"`
	LaneIntent *intent  `json:"lane_intent,omitempty"`
	Several    []intent `json:"intents,omitempty"`
}

func (c checkpoint) stored() storedCheckpoint {
	s := storedCheckpoint{checkpoint: c}
	switch len(c.Intents) {
	case 0:
	case 1:
		one := c.Intents[0]
		one.Before = places{} // it is that of the checkpoint
		if len(c.Lanes) > 0 {
			s.LaneIntent = &one
		} else {
			s.Intent = &one
		}
	default:
		s.Several = c.Intents
	}
	return s
}

func (s storedCheckpoint) read() checkpoint {
	c := s.checkpoint
	for _, one := range []*intent{s.Intent, s.LaneIntent} {
		if one != nil {
			one.Before = c.places()
			c.Intents = []intent{*one}
		}
	}
	if len(s.Several) > 0 {
		c.Intents = s.Several
	}
	return c
}

func (c checkpoint) places() places {
	if len(c.Lanes) == 0 {
		return places{Main: c.Done}
	}
	return places{Main: c.Main, Lanes: c.Lanes}
}

// move records which records are stored.
func (c *checkpoint) move(to places) {
	c.Done, c.Lanes, c.Main = to.done(), to.Lanes, queue.Position{}
	if len(to.Lanes) > 0 {
		c.Main = to.Main
	}
}

// begin records that the records of a span are going to be inserted.
func (c *checkpoint) begin(in intent) {
	if len(c.Intents) == 0 {
		c.move(in.Before)
	}
	c.Intents = append(c.Intents, in)
}

// end records that the first spans are stored, and that the cursors were at these places after the last of them.
func (c *checkpoint) end(spans int, after places) {
	c.Intents = c.Intents[spans:]
	if len(c.Intents) > 0 {
		after = c.Intents[0].Before
	}
	c.move(after)
}

// intentOf returns the intent that has the records of a span, or nil.
func (c *checkpoint) intentOf(s span) *intent {
	for i := range c.Intents {
		in := &c.Intents[i]
		if in.Pick.Owner == s.pick.Owner && !s.from.Before(in.From) && !in.To.Before(s.to) {
			return in
		}
	}
	return nil
}

type intent struct {
	From queue.Position `json:"from"`
	To   queue.Position `json:"to"`
	Pick pick           `json:"pick,omitzero"`
	// Before are the places when the span's first record is next.
	Before places  `json:"before,omitzero"`
	Splits []split `json:"splits,omitempty"`
	// Since is the time before the first attempt to insert the range. It is zero in a checkpoint of an older version.
	Since time.Time `json:"since,omitzero"`
}

// split says that the rows of a table's range are inserted as two ranges.
type split struct {
	Table string         `json:"table"`
	From  queue.Position `json:"from"`
	Mid   queue.Position `json:"mid"`
	To    queue.Position `json:"to"`
}

func (in *intent) span() span { return span{from: in.From, to: in.To, pick: in.Pick} }

func (c checkpoint) clone() checkpoint {
	c.Intents = slices.Clone(c.Intents)
	for i := range c.Intents {
		c.Intents[i].Splits = slices.Clone(c.Intents[i].Splits)
	}
	return c
}

const (
	checkpointFile = "checkpoint"
	// previousFile holds the previous checkpoint, in case the newest cannot be read.
	previousFile = "checkpoint.previous"
)

// saveCheckpoint replaces the file atomically. The file has one line of JSON and one line with its CRC-32C.
func saveCheckpoint(dir string, c checkpoint) error {
	b, err := json.Marshal(c.stored())
	if err != nil {
		return err
	}
	path := filepath.Join(dir, checkpointFile)
	tmp := path + ".new"
	if err := writeFile(tmp, b, fmt.Appendf(nil, "\n%08x\n", checkpointSum(b))); err != nil {
		return err
	}
	if err := os.Rename(path, filepath.Join(dir, previousFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return queue.OSFilesystem{}.SyncDir(dir)
}

func checkpointSum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// loadCheckpoint returns the newest readable checkpoint of this log, or an empty one. A crash between the two renames of a save
// leaves only the previous file, which is then current.
func loadCheckpoint(dir, log string, logger *slog.Logger) (checkpoint, error) {
	for _, name := range []string{checkpointFile, previousFile} {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return checkpoint{}, err
		}
		c, err := parseCheckpoint(b)
		switch {
		case err != nil:
			logger.Error("ingest checkpoint damaged, some telemetry may be stored twice", slog.String("file", path), slog.Any("error", err))
		case c.Log != log:
			logger.Error("ingest checkpoint belongs to another queue and is ignored", slog.String("file", path))
		default:
			return c, nil
		}
	}
	return checkpoint{Log: log}, nil
}

func parseCheckpoint(b []byte) (checkpoint, error) {
	var c storedCheckpoint
	body, sum, ok := bytes.Cut(b, []byte("\n"))
	if !ok || string(sum) != fmt.Sprintf("%08x\n", checkpointSum(body)) {
		return checkpoint{}, errors.New("the checksum does not match")
	}
	if err := json.Unmarshal(body, &c); err != nil {
		return checkpoint{}, err
	}
	return c.read(), nil
}

// writeDurably replaces a file atomically.
func writeDurably(path string, parts ...[]byte) error {
	tmp := path + ".new"
	if err := writeFile(tmp, parts...); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	return queue.OSFilesystem{}.SyncDir(filepath.Dir(path))
}

// writeFile writes and syncs a file.
func writeFile(path string, parts ...[]byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	for _, b := range parts {
		if _, err := f.Write(b); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return errors.Join(f.Sync(), f.Close())
}
