package chdb

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// captureStderr runs f with the process's stderr redirected to a file and returns the file's content. The engine reports only
// there why a boot failed. It must not run while other code writes important output to stderr.
func captureStderr(f func() error) (string, error) {
	fd, err := unix.MemfdCreate("svc-boot", unix.MFD_CLOEXEC)
	if err != nil {
		return "", f()
	}
	file := os.NewFile(uintptr(fd), "svc-boot")
	defer func() { _ = file.Close() }()
	saved, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return "", f()
	}
	defer func() { _ = unix.Close(saved) }()
	if err := unix.Dup3(fd, 2, 0); err != nil {
		return "", f()
	}
	fErr := f()
	if err := unix.Dup3(saved, 2, 0); err != nil {
		return "", fErr
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return "", fErr
	}
	text, err := io.ReadAll(io.LimitReader(file, 64<<10))
	if err != nil {
		return "", fErr
	}
	return string(text), fErr
}
