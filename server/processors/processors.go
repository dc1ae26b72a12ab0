// Package processors says how many processors this program may use, and keeps threads of the scheduler beside them.
package processors

import (
	"os"
	"runtime"
	"sync"
)

// spare is the number of places of the scheduler beyond the processors.
const spare = 2

// Count is the number of processors that the program may use, as the runtime found it at the start: those of the machine, fewer in a
// container with a limit, or GOMAXPROCS of the environment. Work that needs nothing but a processor is best done by so many at a time.
var Count = sync.OnceValue(func() int { return runtime.GOMAXPROCS(0) })

// Oversubscribe lets a few goroutines more run at one time than there are processors, unless the environment sets GOMAXPROCS.
//
// Go's scheduler looks at the network when it has nothing else to run. Where as many goroutines compute as it has places, also when they
// yield every 0.1 ms, what arrives is found by its monitor only, every 10 ms. With a place more a thread waits for the network, and the
// operating system gives it a processor as soon as something comes.
func Oversubscribe() {
	n := Count()
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(n + spare)
	}
}
