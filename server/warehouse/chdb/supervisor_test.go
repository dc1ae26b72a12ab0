package chdb

import (
	"testing"
	"time"
)

// TestStopWhileStarting: a supervisor stops without an error while its process is starting. On a damaged folder, the process starts and
// fails again and again.
func TestStopWhileStarting(t *testing.T) {
	s, err := StartLater(SupervisorConfig{
		Command: []string{"sh", "-c", "trap 'exit 1' TERM; echo trapped >&2; while :; do sleep 0.05; done"}, DataDir: t.TempDir(),
		Socket: t.TempDir() + "/s",
	})
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); !trapped(s); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the process does not start")
		}
	}
	if err := s.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// trapped reports whether the process would end with an error.
func trapped(s *Supervisor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.child != nil && s.child.stderr.tail() != ""
}
