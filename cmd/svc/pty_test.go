package main

import (
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pty opens a terminal of some columns: the side of the program, and the side of the person.
func pty(t *testing.T, columns int) (program, person *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("this machine gives no terminal: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	size := unix.Winsize{Row: 24, Col: uint16(columns)}
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &size); err != nil {
		t.Fatal(err)
	}
	return program, person
}

// onTerminal runs one command line on a terminal and returns what a person sees there.
func onTerminal(t *testing.T, columns int, environ []string, args ...string) (code int, screen string) {
	t.Helper()
	program, person := pty(t, columns)
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
