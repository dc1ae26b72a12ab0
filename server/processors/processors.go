// Package processors reports how many processors this program may use, and gives the scheduler a few more places than that.
package processors

import (
	"os"
	"runtime"
	"sync"
)

// spare is how many places the scheduler has beyond the processors.
const spare = 2

// Count is the number of processors that the program may use, as the runtime found it at the start: those of the machine, fewer in
// a container with a limit, or GOMAXPROCS of the environment. Work that needs only a processor should run on so many goroutines.
var Count = sync.OnceValue(func() int { return runtime.GOMAXPROCS(0) })

// Oversubscribe lets a few more goroutines run at a time than there are processors, unless the environment sets GOMAXPROCS.
//
// Go's scheduler looks at the network when it has nothing else to run. When as many goroutines compute as it has places, only its
// monitor looks at the network, every 10 ms, even if the goroutines yield every 0.1 ms. With another place, a thread waits for the
// network, and the operating system gives that thread a processor as soon as data arrives.
func Oversubscribe() {
	n := Count()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(n + spare)
	}
}
