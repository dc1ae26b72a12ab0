package tool

import (
	"slices"

	"github.com/svc-observability/svc/server/atonce"
)

// readsAtOnce bounds the reads of InTurns that run at the same time. An organization may have six, and a call often reads something else
// beside them.
const readsAtOnce = 4

// InTurns runs any number of reads, a few at a time, and returns the first failure.
func InTurns(reads []func() error) error {
	for some := range slices.Chunk(reads, readsAtOnce) {
		if err := atonce.Run(some...); err != nil {
			return err
		}
	}
	return nil
}
