package tool

import (
	"slices"
	"sync"
)

// Parallel runs reads side by side and returns the first failure, in their order.
func Parallel(reads ...func() error) error {
	errs := make([]error, len(reads))
	var wg sync.WaitGroup
	for i, read := range reads {
		wg.Go(func() { errs[i] = read() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// readsAtOnce bounds the reads of InTurns that run at the same time. An organization may have six, and a call often reads something else
// beside them.
const readsAtOnce = 4

// InTurns runs any number of reads, a few at a time, and returns the first failure.
func InTurns(reads []func() error) error {
	for some := range slices.Chunk(reads, readsAtOnce) {
		if err := Parallel(some...); err != nil {
			return err
		}
	}
	return nil
}
