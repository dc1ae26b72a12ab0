package pack

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// killedFolder tells the processes started by TestCacheKill which folder to use.
const killedFolder = "SVC_TEST_PACK_KILLED_FOLDER"

const killedBytes = 20_000 // some packs of the test

// TestCacheKill lets two processes build, evict and drop packs in one folder as fast as they can, and kills them (SIGKILL) at a random
// moment. Each pack that remains is whole, the next start deletes what was unfinished, and the bound holds.
func TestCacheKill(t *testing.T) {
	if dir := os.Getenv(killedFolder); dir != "" {
		useUntilKilled(t, dir)
		return
	}
	dir := t.TempDir()
	unfinished := 0
	for round := range 8 {
		var wg sync.WaitGroup
		for range 2 {
			cmd := exec.Command(os.Args[0], "-test.run=^TestCacheKill$")
			cmd.Env = append(os.Environ(), killedFolder+"="+dir)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			wg.Go(func() {
				lines := bufio.NewReader(out)
				line, err := lines.ReadString('\n')
				if err != nil || line != "ready\n" {
					t.Errorf("round %d: the process said %q, %v", round, line, err)
				}
				time.AfterFunc(time.Duration(rand.N(100))*time.Millisecond, func() { _ = cmd.Process.Kill() }) // a random moment
				if failures, err := io.ReadAll(lines); err != nil || len(failures) > 0 {
					t.Errorf("round %d: %s %v", round, failures, err)
				}
				_ = cmd.Wait() // killed
			})
		}
		wg.Wait()
		unfinished += len(names(t, filepath.Join(dir, building)))
		c := mustOpen(t, CacheConfig{Dir: dir, MaxBytes: killedBytes})
		if left := names(t, filepath.Join(dir, building)); len(left) != 0 {
			t.Errorf("round %d: left behind: %q", round, left)
		}
		packs, size, err := c.Usage()
		if err != nil || size > killedBytes {
			t.Errorf("round %d: %d bytes, %v", round, size, err)
		}
		keys, err := c.Keys()
		if err != nil || len(keys) != packs {
			t.Errorf("round %d: %d of %d packs, %v", round, len(keys), packs, err)
		}
		for _, k := range keys {
			p, err := Open(filepath.Join(dir, k.file()))
			if err != nil {
				t.Errorf("round %d: %v", round, err)
				continue
			}
			if err := p.Verify(t.Context()); err != nil {
				t.Errorf("round %d: %v", round, err)
			}
			holds(t, p, nil, k)
		}
		c.Close()
	}
	t.Logf("%d unfinished files in all rounds", unfinished)
}

// printed reports failures at once, because the process is killed before it ends.
type printed struct{ testing.TB }

func (printed) Error(args ...any) { fmt.Println(args...) }

func (printed) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func useUntilKilled(t *testing.T, dir string) {
	p := printed{t}
	c, err := OpenCache(CacheConfig{Dir: dir, MaxBytes: killedBytes})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			var calls atomic.Int64
			// The parent kills this process. The bound only ends it if the parent has died.
			for range 100_000 {
				k := Key{fmt.Sprintf("org_%d", rand.IntN(3)), fmt.Sprintf("repo_%d", rand.IntN(3)), commitID(rand.IntN(20))}
				if rand.IntN(20) == 0 {
					if err := c.Drop(k.Organization, k.Repository); err != nil {
						p.Error(err)
					}
					continue
				}
				pack, err := c.Get(context.Background(), k, fetches(t, k, &calls))
				if errors.Is(err, ErrDropped) {
					continue
				}
				holds(p, pack, err, k)
			}
		})
	}
	wg.Wait()
}
