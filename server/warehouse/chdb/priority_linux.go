package chdb

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lowerPriority makes this process give way to others on processors, and by that on the disk, whose scheduler goes by the same number. It
// must run before the engine starts its threads: on Linux each thread has a priority of its own, which those that it starts inherit. It
// goes by as much below the priority that this process was started with, which is the server's.
func lowerPriority(by int) error {
	started, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return fmt.Errorf("cannot read the priority of the warehouse process: %w", err)
	}
	nice := min(20-started+by, 19) // the call returns 20 - nice
	// A thread may start another one between the reading of the list and its own turn: that is over when a second look finds nothing new.
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
