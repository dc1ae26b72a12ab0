package queue

import (
	"io"
	"os"
)

// Filesystem is what the log needs of the disk: a seam for tests that make the disk fail.
type Filesystem interface {
	// Create makes a new file for reading and writing, mode 0600; it fails when the file exists.
	Create(path string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(path string) (File, error)
	Remove(path string) error
	// SyncDir makes creations and removals in dir durable.
	SyncDir(dir string) error
	// Free returns the bytes an ordinary user may still write on the filesystem that holds dir.
	Free(dir string) (uint64, error)
}

// File is one segment file.
type File interface {
	io.ReaderAt
	io.Closer
	// WriteBuffers writes the buffers one after the other from off on. It may change the slice of buffers but not what
	// they hold. Fewer bytes than given mean an error.
	WriteBuffers(buffers [][]byte, off int64) (int64, error)
	// Sync returns once everything written is on stable storage, with the metadata needed to read it (fdatasync).
	Sync() error
	Truncate(size int64) error
	// Preallocate reserves disk blocks for the first size bytes and sets the file size, so that later writes neither run
	// out of space nor change the size.
	Preallocate(size int64) error
	Size() (int64, error)
}

// OSFilesystem is the real disk.
type OSFilesystem struct{}

var _ Filesystem = OSFilesystem{}

// Create implements Filesystem.
func (OSFilesystem) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &osFile{File: f}, nil
}

// Open implements Filesystem.
func (OSFilesystem) Open(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return &osFile{File: f}, nil
}

// Remove implements Filesystem.
func (OSFilesystem) Remove(path string) error { return os.Remove(path) }

// SyncDir implements Filesystem.
func (OSFilesystem) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := d.Sync(); err != nil {
		_ = d.Close()
		return err
	}
	return d.Close()
}

type osFile struct{ *os.File }

func (f *osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// consumed drops the first n bytes from the buffers after a partial write.
func consumed(buffers [][]byte, n int) [][]byte {
	for len(buffers) > 0 && n >= len(buffers[0]) {
		n -= len(buffers[0])
		buffers = buffers[1:]
	}
	if n > 0 {
		buffers[0] = buffers[0][n:]
	}
	return buffers
}
