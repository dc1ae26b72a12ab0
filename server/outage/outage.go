// Package outage tells the first failure of something that is tried again and again from the later ones. A program then logs once that it
// is down, and once that it works again.
package outage

import "sync/atomic"

// Change is the effect of an attempt.
type Change int

// The changes.
const (
	None Change = iota
	Began
	Ended
)

// Outage is the state of one such thing. The zero value works. It is safe for concurrent use: one of several observers sees a change.
type Outage struct{ down atomic.Bool }

// Observe records the result of an attempt.
func (o *Outage) Observe(err error) Change {
	switch {
	case err != nil && o.down.CompareAndSwap(false, true):
		return Began
	case err == nil && o.down.CompareAndSwap(true, false):
		return Ended
	default:
		return None
	}
}

// Down reports whether the last attempt failed.
func (o *Outage) Down() bool { return o.down.Load() }
