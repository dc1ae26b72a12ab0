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

// checkpoint is the durable state. Everything before Done is stored. If Intent is set, some tables of that span may be stored. With
// lanes, more is stored: see places.
type checkpoint struct {
	Log    string         `json:"log"`
	Done   queue.Position `json:"done"`
	Intent *intent        `json:"intent,omitempty"`
	// Main is the place of the main cursor while there are lanes.
	Main  queue.Position `json:"main,omitzero"`
	Lanes []mark         `json:"lanes,omitempty"`
}

// storedCheckpoint is the form in the file. Without lanes it is the form of version 1, which older programs read too. An older
// program that finds lanes begins at Done: it loses nothing, and stores the rows between Done and the marks twice. It must not see
// an intent beside lanes, because it would regard everything before the end of the intent as stored.
type storedCheckpoint struct {
	checkpoint
	LaneIntent *intent `json:"lane_intent,omitempty"`
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

type intent struct {
	From   queue.Position `json:"from"`
	To     queue.Position `json:"to"`
	Pick   pick           `json:"pick,omitzero"`
	Splits []split        `json:"splits,omitempty"`
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
	if c.Intent != nil {
		in := *c.Intent
		in.Splits = slices.Clone(in.Splits)
		c.Intent = &in
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
	stored := storedCheckpoint{checkpoint: c}
	if len(c.Lanes) > 0 {
		stored.Intent, stored.LaneIntent = nil, c.Intent
	}
	b, err := json.Marshal(stored)
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
	if c.LaneIntent != nil {
		c.Intent = c.LaneIntent
	}
	return c.checkpoint, nil
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
