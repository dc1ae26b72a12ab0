package e2e

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/svc-observability/svc/server/testkit"
)

// The pictures of the repository: of all pages, and of those that the README shows.
const (
	pictures       = "../web/ui/e2e/pictures"
	readmePictures = "../../docs/pictures"

	mostPictures       = 48
	mostReadmePictures = 300 << 10 // bytes of all together
)

// TestTakePictures takes the pictures of the pages anew, on three hours of demo data.
func TestTakePictures(t *testing.T) {
	if os.Getenv("SVC_TEST_PICTURES") != "1" {
		t.Skip("pictures are taken by `make pictures`")
	}
	browser := chromium(t, true)
	dir := npmInstall(t, "browser", "playwright-core")
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	if out, err := testkit.Command(t, "demo", "--ingest-url", p.IngestURL, "--ingest-key", p.PrivateKey, "--hours", "3", "--seed",
		"7").CombinedOutput(); err != nil {
		t.Fatalf("svc demo: %v\n%s", err, out)
	}
	waitFlushed(t, p)
	input, err := json.Marshal(map[string]string{"base": p.BaseURL, "email": p.AdminEmail, "password": p.AdminPassword})
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"pictures.mjs", browser}
	for _, folder := range []string{pictures, readmePictures} {
		full, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(full, 0o755); err != nil {
			t.Fatal(err)
		}
		args = append(args, full)
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestPictures holds the pictures to their number and size.
func TestPictures(t *testing.T) {
	for folder, most := range map[string]struct {
		files int
		bytes int64
	}{pictures: {mostPictures, 4 << 20}, readmePictures: {4, mostReadmePictures}} {
		files, err := filepath.Glob(filepath.Join(folder, "*.jpg"))
		if err != nil || len(files) == 0 || len(files) > most.files {
			t.Errorf("%s has %d pictures, at most %d: %v", folder, len(files), most.files, err)
		}
		var sum int64
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			sum += info.Size()
		}
		if sum > most.bytes {
			t.Errorf("the pictures of %s have %d bytes, at most %d", folder, sum, most.bytes)
		}
	}
}
