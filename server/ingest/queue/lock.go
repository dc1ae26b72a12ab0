//go:build unix

package queue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrInUse says that another process has the log open.
var ErrInUse = errors.New("in use by another process")

// lockFolder takes the folder's lock. Closing the file releases the lock. The end of the process also releases it, even after a
// crash.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock of the queue folder: %w", err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("the queue folder %s is %w", dir, ErrInUse)
		}
		return nil, fmt.Errorf("lock the queue folder %s: %w", dir, err)
	}
	return f, nil
}
