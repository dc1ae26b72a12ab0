package otlp_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time that this process has used, which other processes on the machine do not disturb as they do the
// clock on the wall.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
