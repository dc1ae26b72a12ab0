package chdb

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// maxSocketPath is the length that a sockaddr_un holds on every system, including the final zero.
const maxSocketPath = 100

// ListenUnix listens on a unix socket that only this user can open. It replaces a socket left by a dead process; the caller makes
// sure that no live process uses the path. The path may be longer than a socket address (Linux).
func ListenUnix(path string) (net.Listener, error) {
	// Create the socket in a private folder and move it into place with its final permissions, so that no other user can open it at
	// any moment.
	dir, err := os.MkdirTemp(filepath.Dir(path), ".sock")
	if err != nil {
		return nil, fmt.Errorf("cannot make the socket %s: %w", path, err)
	}
	defer func() { _ = os.Remove(dir) }()
	short, done, err := shortPath(filepath.Join(dir, "s"))
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: short, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("cannot listen on the socket %s: %w", path, err)
	}
	l.SetUnlinkOnClose(false)
	if err := os.Chmod(filepath.Join(dir, "s"), 0o600); err != nil {
		_ = l.Close()
		return nil, err
	}
	if err := os.Rename(filepath.Join(dir, "s"), path); err != nil {
		_ = l.Close()
		return nil, fmt.Errorf("cannot place the socket %s: %w", path, err)
	}
	return l, nil
}

// DialUnix connects to a socket that ListenUnix made.
func DialUnix(ctx context.Context, path string) (net.Conn, error) {
	short, done, err := shortPath(path)
	if err != nil {
		return nil, err
	}
	defer done()
	var d net.Dialer
	return d.DialContext(ctx, "unix", short)
}

// shortPath returns a name for path that fits a socket address. If path is too long, the name goes through a descriptor of its
// folder.
func shortPath(path string) (string, func(), error) {
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	if runtime.GOOS != "linux" {
		return "", nil, fmt.Errorf("the socket path %s is longer than %d bytes; choose a shorter data folder", path, maxSocketPath)
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return "", nil, err
	}
	short := filepath.Join("/proc/self/fd", strconv.FormatUint(uint64(dir.Fd()), 10), filepath.Base(path))
	return short, func() { _ = dir.Close() }, nil
}
