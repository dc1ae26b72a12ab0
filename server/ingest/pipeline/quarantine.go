package pipeline

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
)

// quarantineFolder is a folder inside the queue's folder.
const quarantineFolder = "quarantine"

// quarantined is the first line of a quarantine file. The record's header and payload follow it unchanged.
type quarantined struct {
	Position     queue.Position `json:"position"`
	Time         time.Time      `json:"time"`
	Table        string         `json:"table,omitempty"`
	Reason       string         `json:"reason"`
	HeaderBytes  int            `json:"header_bytes"`
	PayloadBytes int            `json:"payload_bytes"`
}

// quarantine keeps a record that cannot be stored in <queue folder>/quarantine/<seq>.rec, or <seq>-<table>.rec if only one table
// refuses its rows. The file is durable before the checkpoint passes the record. Writing it again changes nothing.
// retryQuarantined stores such a record later.
func (p *Pipeline) quarantine(r queue.Committed, table string, cause error) error {
	first, err := json.Marshal(quarantined{
		Position: r.Position, Time: r.Time, Table: table, Reason: cause.Error(), HeaderBytes: len(r.Header), PayloadBytes: len(r.Payload),
	})
	if err != nil {
		return err
	}
	dir := filepath.Join(p.log.Dir(), quarantineFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("quarantine a record: %w", err)
	}
	name := fmt.Sprintf("%d.rec", r.Position.Seq)
	if table != "" {
		name = fmt.Sprintf("%d-%s.rec", r.Position.Seq, filepath.Base(table))
	}
	path := filepath.Join(dir, name)
	_, err = os.Stat(path)
	known := err == nil
	if err := writeDurably(path, append(first, '\n'), r.Header, r.Payload); err != nil {
		return fmt.Errorf("quarantine a record: %w", err)
	}
	if !known {
		p.count(func(s *Stats) { s.Quarantined++ })
	}
	p.logger.Error("record quarantined", slog.String("file", path), slog.String("position", r.Position.String()),
		slog.String("table", table), slog.Any("error", cause))
	return nil
}
