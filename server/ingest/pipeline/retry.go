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

	"github.com/svc-observability/svc/server/ingest/queue"
)

// retryFolder is where an operator puts quarantined files once the cause is fixed: a newer version can decode the record, or the
// tables accept its rows. The next start stores them.
const retryFolder = "retry"

// retryQuarantined stores the files of the retry folder and removes them. A record that is refused again returns to the
// quarantine. A file that cannot be read stays in place.
func (p *Pipeline) retryQuarantined() {
	paths, err := filepath.Glob(filepath.Join(p.log.Dir(), quarantineFolder, retryFolder, "*.rec"))
	if err != nil {
		p.logger.Error("quarantined records not listed", slog.Any("error", err))
		return
	}
	for _, path := range paths {
		if p.stopping() || p.ctx.Err() != nil {
			return // the next start continues
		}
		rows, err := p.retry(path)
		var refusal *refusedAgain
		switch {
		case err == nil:
			p.logger.Info("quarantined record stored", slog.String("file", path), slog.Int("rows", rows))
		case errors.As(err, &refusal):
			p.logger.Error("quarantined record refused again", slog.String("file", path), slog.Any("error", err))
			if err := os.Rename(path, filepath.Join(p.log.Dir(), quarantineFolder, filepath.Base(path))); err != nil {
				p.logger.Error("quarantined record not put back", slog.String("file", path), slog.Any("error", err))
			}
		default:
			p.logger.Error("quarantined record not stored", slog.String("file", path), slog.Any("error", err))
		}
	}
}

// refusedAgain is the cause for which a quarantined record was refused again.
type refusedAgain struct{ cause error }

func (e *refusedAgain) Error() string { return e.cause.Error() }

// retry stores the record of one file and removes the file. It stores the record in the table that refused it, or in all tables
// if the record could not be decoded. The token is the same at every attempt, so a crash before the removal stores nothing twice.
func (p *Pipeline) retry(path string) (rows int, err error) {
	r, err := readQuarantined(path)
	if err != nil {
		return 0, err
	}
	b := p.cfg.NewBatch()
	if err := b.Decode(r.header, r.payload); err != nil {
		return 0, &refusedAgain{err}
	}
	sum := crc32.Checksum(r.payload, crc32.MakeTable(crc32.Castagnoli))
	for _, t := range b.Tables() {
		if r.Table != "" && r.Table != t.Name() || t.Rows() == 0 {
			continue
		}
		cause, err := p.store(p.insertLate, t, fmt.Sprintf("%s/quarantine-%d-%08x/%s", p.log.ID(), r.Position.Seq, sum, t.Name()),
			true, suspectAttempts)
		if err != nil {
			return rows, err
		}
		if cause != nil {
			return rows, &refusedAgain{cause}
		}
		rows += t.Rows()
	}
	if err := os.Remove(path); err != nil {
		return rows, err
	}
	return rows, queue.OSFilesystem{}.SyncDir(filepath.Dir(path))
}

type quarantinedRecord struct {
	quarantined
	header, payload []byte
}

func readQuarantined(path string) (r quarantinedRecord, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return r, err
	}
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if err := json.Unmarshal(first, &r.quarantined); err != nil {
		return r, fmt.Errorf("its first line is not that of a quarantined record: %w", err)
	}
	if r.HeaderBytes < 0 || r.PayloadBytes < 0 || r.HeaderBytes+r.PayloadBytes != len(rest) {
		return r, fmt.Errorf("it has %d bytes of header and payload instead of %d + %d", len(rest), r.HeaderBytes, r.PayloadBytes)
	}
	r.header, r.payload = rest[:r.HeaderBytes], rest[r.HeaderBytes:]
	return r, nil
}
