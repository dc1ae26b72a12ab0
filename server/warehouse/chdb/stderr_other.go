//go:build !linux

package chdb

// captureStderr runs f. Only on Linux does it capture why a boot failed; elsewhere the engine's messages go to stderr.
func captureStderr(f func() error) (string, error) { return "", f() }
