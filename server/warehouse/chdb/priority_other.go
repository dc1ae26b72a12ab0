//go:build !linux

package chdb

// lowerPriority does nothing: the engine exists only on Linux.
func lowerPriority(int) error { return nil }
