package datadir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/datadir"
)

func TestOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	release, err := datadir.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := datadir.Open(dir); err == nil || !strings.Contains(err.Error(), "in use by another svc process") {
		t.Errorf("a second process: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	release, err = datadir.Open(dir)
	if err != nil {
		t.Fatalf("after the release: %v", err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.Open(file); err == nil || !strings.HasPrefix(err.Error(), "data folder: ") {
		t.Errorf("a file in place of the folder: %v", err)
	}
}
