package testkit

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// template is the data folder of a server that has started for the first time and stopped. Copying it is faster than the
// migrations of two databases. The first test that needs it makes it.
var template struct {
	once sync.Once
	root string
	err  error
}

// copyTemplate makes a data folder in the state after a first start, with the credentials of that start beside it.
func copyTemplate(t testing.TB, dataDir string) {
	t.Helper()
	template.once.Do(func() {
		template.err = errors.New("the first start of the template failed, see the test that ran first")
		template.err = makeTemplate(t)
	})
	if template.err != nil {
		t.Fatal(template.err)
	}
	from := filepath.Join(template.root, "data")
	if err := os.MkdirAll(filepath.Dir(dataDir), 0o755); err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{dataDir: from, keysFile(dataDir): keysFile(from)} {
		// os.CopyFS does not keep the file modes, which protect the secrets from other users.
		if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
			t.Fatalf("cp -a %s %s: %v\n%s", from, to, err, out)
		}
	}
}

func makeTemplate(t testing.TB) (err error) {
	t.Helper()
	if template.root, err = os.MkdirTemp("", "svc-template-"); err != nil {
		return err
	}
	dir := filepath.Join(template.root, "data")
	p := StartFirst(t, dir)
	if code := p.Stop(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.Log())
	}
	// The addresses belong to one start only.
	return os.Remove(filepath.Join(dir, "bootstrap.json"))
}
