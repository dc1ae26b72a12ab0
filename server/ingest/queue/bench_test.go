package queue

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// BenchmarkAppend appends with real fdatasync. It simulates the consumer by releasing everything every few segments, so that the
// disk does not fill up. It reports acknowledgements per second, and for each acknowledgement the syncs and the processor time
// (user + system, whole process).
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64} {
		for _, size := range []int{8 << 10, 256 << 10} {
			b.Run(fmt.Sprintf("writers=%d/KiB=%d", writers, size>>10), func(b *testing.B) { benchmarkAppend(b, writers, size) })
		}
	}
}

func benchmarkAppend(b *testing.B, writers, size int) {
	l, err := Open(Config{Dir: b.TempDir(), MinFreeBytes: -1})
	if err != nil {
		b.Fatal(err)
	}
	var handed atomic.Int64
	l.Subscribe(func(c []Committed) {
		if n := handed.Add(int64(len(c))); n%64 == 0 {
			if err := l.Release(c[len(c)-1].Next); err != nil {
				b.Error(err)
			}
		}
	})
	header := make([]byte, 120)
	payload := make([]byte, size)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(payload)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	before := processorTime(b)
	syncs := l.Stats().Syncs
	b.ResetTimer()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for next.Add(1) <= int64(b.N) {
				if _, err := l.Append(context.Background(), Record{Header: header, Payload: payload}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	n := float64(b.N)
	b.ReportMetric(n/b.Elapsed().Seconds(), "acks/s")
	b.ReportMetric(float64(l.Stats().Syncs-syncs)/n, "syncs/op")
	b.ReportMetric((processorTime(b)-before)/n*1e6, "cpu-µs/op")
	if err := l.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}

func processorTime(b *testing.B) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
