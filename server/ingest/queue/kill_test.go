package queue

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// killedFolder tells the process started by TestKill which folder to fill.
const killedFolder = "SVC_TEST_QUEUE_KILLED_FOLDER"

// TestKill starts a process that appends as fast as it can and prints every acknowledged record. It kills the process (SIGKILL)
// at a random moment and checks that all records are there. It repeats this in the same folder.
func TestKill(t *testing.T) {
	if dir := os.Getenv(killedFolder); dir != "" {
		fillUntilKilled(t, dir)
		return
	}
	dir := t.TempDir()
	acked := map[string]bool{}
	for round := range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), killedFolder+"="+dir, fmt.Sprintf("ROUND=%d", round))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		first, err := lines.ReadString('\n') // the process is appending now
		if err != nil {
			t.Fatalf("the writing process said nothing: %v", err)
		}
		time.AfterFunc(time.Duration(rand.N(80))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		rest, err := io.ReadAll(lines)
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // killed
		text := first + string(rest)
		for _, line := range strings.SplitAfter(text, "\n") {
			if strings.HasSuffix(line, "\n") {
				acked[strings.TrimSuffix(line, "\n")] = true
			}
		}
		l := mustOpen(t, Config{Dir: dir, SegmentBytes: 256 << 10})
		have := map[string]bool{}
		for _, s := range contents(t, l, Position{}) {
			name, _, _ := strings.Cut(s, " ")
			if have[name] {
				t.Errorf("round %d: record %s twice", round, name)
			}
			have[name] = true
		}
		for name := range acked {
			if !have[name] {
				t.Errorf("round %d: acknowledged record %s is lost", round, name)
			}
		}
		for _, d := range l.Damage() {
			if !d.Torn {
				t.Errorf("round %d: %+v", round, d)
			}
		}
		mustClose(t, l)
	}
	if len(acked) < 5 {
		t.Errorf("only %d records were acknowledged", len(acked))
	}
}

func fillUntilKilled(t *testing.T, dir string) {
	l := mustOpen(t, Config{Dir: dir, SegmentBytes: 256 << 10})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			// The parent kills this process. The bound only ends the process if the parent has died.
			for i := range 100_000 {
				name := fmt.Sprintf("%s-%d-%d", os.Getenv("ROUND"), w, i)
				s := name + " " + strings.Repeat("z", i*37%3000)
				if _, err := l.Append(context.Background(), Record{Header: []byte("h:" + s), Payload: []byte(s)}); err != nil {
					t.Error(err)
					return
				}
				if _, err := os.Stdout.WriteString(name + "\n"); err != nil {
					return
				}
			}
		})
	}
	wg.Wait()
	mustClose(t, l)
}
