package chdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// withFolderLock runs f under the engine's own lock of its folder, the flock of its status file. It releases the lock before it
// returns, because the engine takes the lock when it boots.
func withFolderLock(dataDir string, f func() error) error {
	file, err := os.OpenFile(filepath.Join(dataDir, "status"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("cannot lock the warehouse folder: %w", err)
	}
	defer func() { _ = file.Close() }()
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return lockedError(dataDir)
	}
	if err != nil {
		return fmt.Errorf("cannot lock the warehouse folder: %w", err)
	}
	return f()
}

func lockedError(dataDir string) error {
	return fmt.Errorf("the warehouse folder %s is %w: another svc runs on this data folder", dataDir, ErrLocked)
}
