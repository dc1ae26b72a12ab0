//go:build !linux

package chdb

// captureStderr runs f. Only Linux can tell here why a boot failed; elsewhere the engine's own words go to stderr.
func captureStderr(f func() error) (string, error) { return "", f() }
