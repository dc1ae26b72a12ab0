//go:build race

package ingest_test

const raceDetector = true
