package queue

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// written creates a closed log of one segment. It returns the folder, the segment's bytes and the positions of the records.
func written(t testing.TB, records []string) (dir string, data []byte, at []Position) {
	t.Helper()
	dir = t.TempDir()
	l := mustOpen(t, Config{Dir: dir})
	for _, s := range records {
		at = append(at, mustAppend(t, l, s))
	}
	mustClose(t, l)
	data, err := os.ReadFile(segmentPath(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	return dir, data, at
}

// reopenWith replaces the segment's bytes and opens the log.
func reopenWith(t testing.TB, dir string, data []byte) *Log {
	t.Helper()
	for _, pattern := range []string{"*.log", "damaged/*"} {
		old, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range old {
			if err := os.Remove(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(segmentPath(dir, 1), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, Config{Dir: dir})
}

func TestTornTailAtEveryByte(t *testing.T) {
	dir, data, at := written(t, texts(0, 4))
	last := int(at[3].Offset)
	for _, zeros := range []int{0, 4096} {
		for cut := last; cut < len(data); cut++ {
			torn := append(bytes.Clone(data[:cut]), make([]byte, zeros)...)
			l := reopenWith(t, dir, torn)
			if diff := cmp.Diff(texts(0, 3), contents(t, l, Position{})); diff != "" {
				t.Fatalf("cut at %d, %d zeros: %s", cut, zeros, diff)
			}
			if d := l.Damage(); cut > last && (len(d) != 1 || !d[0].Torn || d[0].Offset != int64(last)) || cut == last && len(d) > 0 {
				t.Fatalf("cut at %d, %d zeros: %+v", cut, zeros, d)
			}
			if cut == last+3 || cut == len(data)-1 {
				p := mustAppend(t, l, "record 0003")
				if cut > last && p.Seq <= at[3].Seq {
					t.Fatalf("sequence number %d may be used twice", p.Seq)
				}
				if diff := cmp.Diff(texts(0, 4), contents(t, l, Position{})); diff != "" {
					t.Fatalf("cut at %d: %s", cut, diff)
				}
			}
			mustClose(t, l)
		}
	}
}

func TestFlippedBitNamesOneRecordAndKeepsTheOthers(t *testing.T) {
	dir, data, at := written(t, texts(0, 4))
	start, end := int(at[1].Offset), int(at[2].Offset)
	for i := start; i < end; i++ {
		bad := bytes.Clone(data)
		bad[i] ^= 1 << (i % 8)
		l := reopenWith(t, dir, bad)
		want := []string{"record 0000", "record 0002", "record 0003"}
		if diff := cmp.Diff(want, contents(t, l, Position{})); diff != "" {
			t.Fatalf("bit flipped at %d: %s", i, diff)
		}
		d := l.Damage()
		if len(d) != 1 || d[0].Torn || d[0].Offset != int64(start) || d[0].Bytes != int64(end-start) || d[0].Reason == "" ||
			d[0].Segment != filepath.Base(segmentPath(dir, 1)) {
			t.Fatalf("bit flipped at %d: %+v", i, d)
		}
		if inBody := i >= start+frameHeadSize; inBody && (!d[0].SeqKnown || d[0].Seq != at[1].Seq) {
			t.Fatalf("bit flipped at %d: sequence number not named: %+v", i, d)
		}
		saved, err := os.ReadFile(d[0].Copy)
		if err != nil || !bytes.Equal(saved, bad[start:end]) {
			t.Fatalf("bit flipped at %d: damaged bytes not saved: %v", i, err)
		}
		mustClose(t, l)
	}
}

func TestFlippedBitInSegmentHead(t *testing.T) {
	dir, data, _ := written(t, texts(0, 4))
	for i := range segmentHeadSize {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		l := reopenWith(t, dir, bad)
		if diff := cmp.Diff(texts(0, 4), contents(t, l, Position{})); diff != "" || len(l.Damage()) != 1 {
			t.Fatalf("bit flipped at %d: %s %+v", i, diff, l.Damage())
		}
		mustClose(t, l)
	}
}

func TestDamageFoundWhileReading(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, Config{Dir: dir})
	defer mustClose(t, l)
	mustAppend(t, l, "record 0000")
	p := mustAppend(t, l, "record 0001")
	mustAppend(t, l, "record 0002")
	f, err := os.OpenFile(segmentPath(dir, 1), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("XX"), int64(p.Offset)+frameHeadSize+3); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if diff := cmp.Diff([]string{"record 0000", "record 0002"}, contents(t, l, Position{})); diff != "" {
			t.Error(diff)
		}
	}
	if d := l.Damage(); len(d) != 1 || d[0].Seq != p.Seq {
		t.Errorf("damage %+v", d)
	}
}

// A payload may hold a copy of this log's own bytes. If the frame around it is damaged, these bytes must not be taken for
// records.
func TestForeignFramesInPayload(t *testing.T) {
	_, foreign, _ := written(t, texts(0, 4))
	dir := t.TempDir()
	l := mustOpen(t, Config{Dir: dir})
	mustAppend(t, l, "record 0000")
	p := mustAppend(t, l, string(foreign))
	mustAppend(t, l, "record 0001")
	mustClose(t, l)
	data, err := os.ReadFile(segmentPath(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	data[p.Offset] ^= 1
	l = reopenWith(t, dir, data)
	defer mustClose(t, l)
	if diff := cmp.Diff([]string{"record 0000", "record 0001"}, contents(t, l, Position{})); diff != "" {
		t.Error(diff)
	}
}

// A copy of the folder may be taken at any moment while appends run. The copy opens and holds every record that was acknowledged
// before the copy began.
func TestCopyTakenWhileWriting(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, Config{Dir: dir, SegmentBytes: 16 << 10})
	var mu sync.Mutex
	acked := map[string]bool{}
	stop := make(chan struct{})
	// Each copy lets the writers go on for a while. Without a bound, they write faster than a slow machine copies, and each copy is larger
	// than the one before.
	var most atomic.Int64
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				if int64(i) >= most.Load() {
					time.Sleep(time.Millisecond)
					continue
				}
				i++
				s := fmt.Sprintf("%d/%d %s", w, i, bytes.Repeat([]byte("y"), i%700))
				if _, err := l.Append(context.Background(), Record{Header: []byte("h:" + s), Payload: []byte(s)}); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				acked[s] = true
				mu.Unlock()
			}
		})
	}
	for round := range 15 {
		most.Add(1000)
		mu.Lock()
		for len(acked) < (4*round+1)*1000 && !t.Failed() { // a quarter of the records of this round
			mu.Unlock()
			time.Sleep(time.Millisecond)
			mu.Lock()
		}
		want := make([]string, 0, len(acked))
		for s := range acked {
			want = append(want, s)
		}
		mu.Unlock()
		copied := t.TempDir()
		copyFolder(t, dir, copied)
		c := mustOpen(t, Config{Dir: copied})
		have := map[string]bool{}
		for _, s := range contents(t, c, Position{}) {
			if have[s] {
				t.Errorf("%.20q twice", s)
			}
			have[s] = true
		}
		for _, s := range want {
			if !have[s] {
				t.Errorf("acknowledged record %.20q is not in the copy", s)
			}
		}
		mustClose(t, c)
	}
	close(stop)
	wg.Wait()
	mustClose(t, l)
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	// Copy the newest segment first. A segment that is sealed while the copy runs is then copied whole.
	for i := len(entries) - 1; i >= 0; i-- {
		b, err := os.ReadFile(filepath.Join(from, entries[i].Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, entries[i].Name()), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
