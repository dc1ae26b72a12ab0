package chdb

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lowerPriority lowers the CPU priority of this process by the given amount, relative to the priority that it was started with,
// which is the server's. The disk scheduler uses the same number. It must run before the engine starts its threads: on Linux each
// thread has its own priority, which the threads that it starts inherit.
func lowerPriority(by int) error {
	started, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return fmt.Errorf("cannot read the priority of the warehouse process: %w", err)
	}
	nice := min(20-started+by, 19) // Getpriority returns 20 - nice
	// A thread may start another thread after the list was read and before its own priority is lowered. So repeat until a pass finds
	// no new thread.
	seen := map[int]bool{}
	for fresh := true; fresh; {
		fresh = false
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return fmt.Errorf("cannot list the threads of the warehouse process: %w", err)
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || seen[id] {
				continue
			}
			seen[id], fresh = true, true
			old, err := unix.Getpriority(unix.PRIO_PROCESS, id)
			if err == nil && 20-old < nice {
				err = unix.Setpriority(unix.PRIO_PROCESS, id, nice)
			}
			if err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("cannot lower the priority of the warehouse process: %w", err)
			}
		}
	}
	return nil
}
