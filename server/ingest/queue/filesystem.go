package queue

import (
	"io"
	"os"
)

// Filesystem is the log's access to the disk. Tests replace it to make the disk fail.
type Filesystem interface {
	// Create creates a new file for reading and writing, with mode 0600. It fails if the file exists.
	Create(path string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(path string) (File, error)
	Remove(path string) error
	// SyncDir makes creations and removals in dir durable.
	SyncDir(dir string) error
	// Free returns the bytes that an ordinary user may still write on the filesystem of dir.
	Free(dir string) (uint64, error)
}

// File is one segment file.
type File interface {
	io.ReaderAt
	io.Closer
	// WriteBuffers writes the buffers one after the other, starting at off. It may change the slice of buffers but not their
	// contents. If it writes fewer bytes than given, it returns an error.
	WriteBuffers(buffers [][]byte, off int64) (int64, error)
	// Sync returns once all written bytes are on stable storage, with the metadata needed to read them (fdatasync).
	Sync() error
	Truncate(size int64) error
	// Preallocate reserves disk blocks for the first size bytes and sets the file size. Later writes then neither run out of
	// space nor change the size.
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
