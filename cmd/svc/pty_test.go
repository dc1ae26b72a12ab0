package main

import (
	"io"
	"os"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// onTerminal runs one command line on a terminal and returns what a person sees there.
func onTerminal(t *testing.T, columns int, environ []string, args ...string) (code int, screen string) {
	t.Helper()
	program, person := testkit.Terminal(t, columns)
	seen := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(person) // ends with EIO when the program has closed its side
		seen <- string(text)
	}()
	c := &cli{stdin: os.Stdin, stdout: program, stderr: program, environ: environ}
	code = c.run(t.Context(), args)
	_ = program.Close()
	select {
	case screen = <-seen:
	case <-time.After(10 * time.Second):
		t.Fatal("the terminal did not close")
	}
	return code, screen
}
