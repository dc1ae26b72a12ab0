package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workspace is a folder for one test, with the scripts of another folder and the packages that npmInstall installed there.
func workspace(t *testing.T, folder, probe string) string {
	t.Helper()
	from := npmInstall(t, folder, probe)
	dir := t.TempDir()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		content, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, e.Name()), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(from, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// run runs a command to its end and returns its stdout. A failure shows the whole output.
func run(t *testing.T, dir string, env []string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s\n%s", name, args, err, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.Bytes()
}

// runOnce is run for a program whose success depends on the input only. It is left out if it succeeded on this machine with the same input.
func runOnce(t *testing.T, dir string, env []string, check, input, name string, args ...string) {
	t.Helper()
	once, err := filepath.Abs("../../tools/once.sh")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), once, append([]string{check, name}, args...)...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	t.Logf("%s", out)
}

// fileText is the content of a file.
func fileText(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// tool is a program of the folder's packages.
func tool(dir, name string) string { return filepath.Join(dir, "node_modules", ".bin", name) }
