package otlp_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime returns the processor time that this process has used. Other processes on the machine disturb it less than wall-clock
// time.
func cpuTime(tb testing.TB) time.Duration {
	tb.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
