// Package testport finds ports of the loopback for programs that tests start and that cannot say which port they got.
package testport

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"
)

// The ports lie below those that the kernel gives to connections (from 32768 on). A port of the kernel's choice could belong to a
// connection by the time the program listens.
const (
	first = 20000
	ports = 12000
)

// taken holds the ports that this process has given out.
var taken [ports]atomic.Bool

// Free returns a port on which nothing listens. Each process begins its search at another port, so that processes that run at the same
// time rarely look at the same one.
func Free(t testing.TB) int {
	t.Helper()
	for i := range ports {
		port := first + (os.Getpid()*64+i)%ports
		if taken[port-first].Swap(true) {
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", fmt.Sprint("127.0.0.1:", port))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatalf("no port is free between %d and %d", first, first+ports)
	return 0
}

// Await returns when a program listens on the port. A program may say that it waits for a connection before its socket exists.
func Await(t testing.TB, port int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", fmt.Sprint("127.0.0.1:", port))
		if err == nil {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("no program listens on port %d after a minute: %v", port, err)
		}
	}
}
