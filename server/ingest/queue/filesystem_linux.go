package queue

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// maxBuffers is IOV_MAX on Linux.
const maxBuffers = 1024

func (f *osFile) WriteBuffers(buffers [][]byte, off int64) (int64, error) {
	var written int64
	for buffers = consumed(buffers, 0); len(buffers) > 0; {
		n, err := unix.Pwritev(int(f.Fd()), buffers[:min(len(buffers), maxBuffers)], off+written)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return written, &os.PathError{Op: "write", Path: f.Name(), Err: err}
		}
		if n == 0 {
			return written, &os.PathError{Op: "write", Path: f.Name(), Err: io.ErrShortWrite}
		}
		written += int64(n)
		buffers = consumed(buffers, n)
	}
	return written, nil
}

func (f *osFile) Sync() error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "fdatasync", Path: f.Name(), Err: err}
		}
		return nil
	}
}

// Preallocate only sets the size if the filesystem cannot reserve blocks.
func (f *osFile) Preallocate(size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), 0, 0, size)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENOSYS):
			return f.Truncate(size)
		default:
			return &os.PathError{Op: "fallocate", Path: f.Name(), Err: err}
		}
	}
}

// Free implements Filesystem.
func (OSFilesystem) Free(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return s.Bavail * uint64(s.Bsize), nil
}
