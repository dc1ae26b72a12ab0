// Package atonce runs reads side by side.
package atonce

import "sync"

// Run runs reads side by side, waits for all of them and returns the first failure, in the order of the arguments.
func Run(reads ...func() error) error {
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
