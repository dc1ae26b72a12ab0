//go:build race

package pack

// slack is how much longer than without load a search may take in a test. The race detector alone makes it ten times.
const slack = 60
