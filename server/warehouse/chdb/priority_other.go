//go:build !linux

package chdb

// lowerPriority does nothing: only on Linux is there an engine to give way.
func lowerPriority(int) error { return nil }
