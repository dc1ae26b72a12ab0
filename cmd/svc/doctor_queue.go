package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/svc-observability/svc/server/config"
)

// checkQueue looks for acknowledged telemetry that will not reach the warehouse without the help of a person.
func checkQueue(_ context.Context, cfg config.Config, _ bool) finding {
	queue := filepath.Join(cfg.DataDir, "queue")
	var notes []string
	for _, kind := range []struct{ pattern, note string }{
		{filepath.Join("quarantine", "*.rec"), "%d records that the warehouse refused or that could not be decoded are in %s: the first line " +
			"of each has the reason; correct the cause, move the records to the folder retry in it, and start the server again"},
		{filepath.Join("quarantine", "retry", "*.rec"), "%d records in %s are stored at the next start"},
		{filepath.Join("damaged", "*.bin"), "%d damaged parts of the queue were saved in %s: check the disk; everything readable was stored"},
	} {
		found, err := filepath.Glob(filepath.Join(queue, kind.pattern))
		if err != nil {
			return fail("%v", err)
		}
		if len(found) > 0 {
			notes = append(notes, fmt.Sprintf(kind.note, len(found), filepath.Dir(found[0])))
		}
	}
	if len(notes) > 0 {
		return warn("%s", strings.Join(notes, "; "))
	}
	return ok("nothing is set aside")
}
