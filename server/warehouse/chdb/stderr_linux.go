package chdb

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// captureStderr runs f with the process's stderr in a file and returns what came there: the engine tells why a boot failed
// nowhere else. It must not run beside other writers of stderr that matter.
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
