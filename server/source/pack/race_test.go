//go:build race

package pack

// slack is how much longer than without load a search may take in a test. The race detector alone makes a search ten times slower.
const slack = 60
