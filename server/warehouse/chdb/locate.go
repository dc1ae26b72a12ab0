package chdb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// LibraryVariable names the environment variable that points at the library.
const LibraryVariable = "SVC_CHDB_LIB"

const (
	libraryName = "libchdb.so"
	modulePath  = "github.com/svc-observability/svc"
)

// ErrLibraryNotFound is wrapped by Locate when no library is on this machine.
var ErrLibraryNotFound = errors.New("libchdb.so not found")

// Locate finds the engine's library: the explicit path, $SVC_CHDB_LIB, next to the binary, the cache of the source checkout that
// holds the binary or the working folder, the user's cache, the system's library folders. An explicit path that does not exist is
// an error; Locate then does not look elsewhere.
func Locate(explicit string) (string, error) {
	for _, given := range []struct{ path, origin string }{{explicit, "the configured path"}, {os.Getenv(LibraryVariable), LibraryVariable}} {
		if given.path == "" {
			continue
		}
		path, ok := existing(given.path)
		if !ok {
			return "", fmt.Errorf("%w: %s (%s) is not a file; run `make deps` to fetch the engine", ErrLibraryNotFound, given.path, given.origin)
		}
		return path, nil
	}
	candidates := candidatePaths()
	for _, c := range candidates {
		if path, ok := existing(c); ok {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: looked at %s; run `make deps` to fetch the engine, or set %s to its path",
		ErrLibraryNotFound, strings.Join(candidates, ", "), LibraryVariable)
}

func candidatePaths() []string {
	var candidates []string
	add := func(parts ...string) { candidates = append(candidates, filepath.Join(parts...)) }
	if exe, err := os.Executable(); err == nil {
		dir := filepath.Dir(exe)
		add(dir, libraryName)
		if repo, ok := checkout(dir); ok {
			add(repo, ".cache", "chdb", libraryName)
		}
	}
	if wd, err := os.Getwd(); err == nil {
		if repo, ok := checkout(wd); ok {
			add(repo, ".cache", "chdb", libraryName)
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		add(cache, "svc", "chdb", Version, libraryName)
	}
	for _, dir := range filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")) {
		if dir != "" {
			add(dir, libraryName)
		}
	}
	triplet := map[string]string{"amd64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[runtime.GOARCH]
	for _, dir := range []string{"/usr/local/lib", "/usr/lib", "/usr/lib64", filepath.Join("/usr/lib", triplet)} {
		add(dir, libraryName)
	}
	return candidates
}

// checkout returns the root of this module's source tree that contains dir. Only our own module counts, because a library from an
// unrelated working folder must not be loaded.
func checkout(dir string) (string, bool) {
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.Contains(mod, []byte("module "+modulePath+"\n")) {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

func existing(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return "", false
	}
	abs, err := filepath.Abs(path)
	return abs, err == nil
}
