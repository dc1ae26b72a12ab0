package bootstrap

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/store"
)

// TestRestart: a later start writes the new addresses, and keeps the credentials that only the file has. Those of another database go.
func TestRestart(t *testing.T) {
	hasher, err := auth.NewHasher(bytes.Repeat([]byte{1}, auth.PepperSize))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keys.json")
	start := func(st *store.Store, url string) (out File) {
		t.Helper()
		err := Start(t.Context(), Config{Store: st, Hasher: hasher, Addresses: File{BaseURL: url}, Path: path})
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		return out
	}
	one, other := open(t), open(t)
	first := start(one, "http://a")
	if first.APIKey == "" || first.AdminPassword == "" || first.BaseURL != "http://a" {
		t.Fatalf("%+v", first)
	}
	want := first
	want.BaseURL = "http://b"
	if diff := cmp.Diff(want, start(one, "http://b")); diff != "" {
		t.Errorf("after a restart (-want +got):\n%s", diff)
	}
	replaced := start(other, "http://c")
	if replaced.APIKey == first.APIKey || replaced.OrgID == first.OrgID {
		t.Error("a new database got the credentials of another one")
	}
	if diff := cmp.Diff(File{BaseURL: "http://d"}, start(one, "http://d")); diff != "" {
		t.Errorf("with the file of another database (-want +got):\n%s", diff)
	}
	if err := os.WriteFile(path, []byte("no JSON"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(File{BaseURL: "http://e"}, start(one, "http://e")); diff != "" {
		t.Errorf("over another file (-want +got):\n%s", diff)
	}
}

func open(t *testing.T) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}
