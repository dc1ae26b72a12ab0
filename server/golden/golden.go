// Package golden compares texts that tests produce with files. `go test -update` writes the files. Only tests import it.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files before tests compare with them")

// Compare compares text with testdata/<name>.
func Compare(t testing.TB, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	Write(t, path, got)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); run the test with -update if you mean this:\n%s", path, diff)
	}
}

// Write writes a file if the test runs with -update. It is for files that a test compares in part.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if !*update {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Section compares the part of a document between the marks <!-- name --> and <!-- /name -->. With -update, it writes the part anew.
func Section(t testing.TB, path, name, want string) {
	t.Helper()
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, begins := strings.Cut(string(page), begin)
	got, tail, ends := strings.Cut(rest, end)
	if !begins || !ends {
		t.Fatalf("%s lacks the marks %q and %q", path, begin, end)
	}
	if *update {
		Write(t, path, head+begin+want+end+tail)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the part %s of %s is not current (-want +got); run the test with -update to write it:\n%s", name, path, diff)
	}
}
