package chdb

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// read describes a running statement. The organization is empty for a statement of svc itself.
type read struct {
	organization string
	confined     bool
}

// stuckExit is the exit code of a process that ended because of a stuck read.
const stuckExit = 3

// Before the process ends because of a stuck read, the other statements have settleTime to end. Then the other reads are stopped,
// and they and the inserts have settleTime again.
const settleTime = 500 * time.Millisecond

// errRestarting stops the reads that run when the process is about to end.
var errRestarting = errors.New("the engine restarts")

// endStuck returns the function that handles a stuck read: it ends this process, and the supervisor starts the next one. Nothing
// else ends a function that does not notice that its statement was cancelled. Rows that an insert has not stored are still in the
// server's queue, and the same token stores them once.
//
// The organization of the read may not begin such reads for a while, also in the next process, so that it cannot restart the engine
// again and again.
func endStuck(e *Engine, server *http.Server, kill context.CancelCauseFunc, log *slog.Logger) func(read) {
	return func(r read) {
		if !e.ending.CompareAndSwap(false, true) {
			return
		}
		go func() {
			log.Error("a cancelled read does not end, so the warehouse process restarts", "organization", r.organization, "sql", r.confined)
			if err := writePauses(e.cfg.DataDir, e.places.pauseFor(r.organization, r.confined)); err != nil {
				log.Error("the pause of the organization is not kept", "error", err)
			}
			for _, stop := range []func(){func() {}, func() { kill(errRestarting) }} {
				stop()
				settle, cancel := context.WithTimeout(context.Background(), settleTime)
				_ = server.Shutdown(settle) // the stuck read still runs
				cancel()
			}
			os.Exit(stuckExit)
		}()
	}
}

func pausesFile(dir string) string { return filepath.Join(dir, "paused.json") }

// readPauses returns the pauses that an earlier process has written. Without a readable file there are no pauses.
func readPauses(dir string) map[string]pause {
	text, err := os.ReadFile(pausesFile(dir))
	if err != nil {
		return nil
	}
	var all map[string]pause
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

func writePauses(dir string, all map[string]pause) error {
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return os.WriteFile(pausesFile(dir), text, 0o600)
}
