//go:build unix && !linux

package queue

import (
	"os"

	"golang.org/x/sys/unix"
)

func (f *osFile) WriteBuffers(buffers [][]byte, off int64) (int64, error) {
	var written int64
	for _, b := range buffers {
		n, err := f.WriteAt(b, off+written)
		written += int64(n)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Preallocate only sets the size, because there is no portable way to reserve blocks. A write then fails if the disk is full.
func (f *osFile) Preallocate(size int64) error { return f.Truncate(size) }

// Free implements Filesystem.
func (OSFilesystem) Free(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil
}
