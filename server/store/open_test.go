package store

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func fixedNow() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func TestOpenErrors(t *testing.T) {
	folder := t.TempDir()
	broken := filepath.Join(folder, "broken.db")
	if err := os.WriteFile(broken, []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		cfg  Config
		want string
	}{
		"nothing":         {Config{}, "no database URL and no SQLite path"},
		"both":            {Config{URL: "postgres://h/d", Path: "x"}, "not both"},
		"folder":          {Config{Path: folder}, "is a directory"},
		"missing folder":  {Config{Path: filepath.Join(folder, "none", "svc.db")}, "no such file or directory"},
		"not a database":  {Config{Path: broken}, "file is not a database"},
		"scheme":          {Config{URL: "mysql://u:sesame@h/d"}, "must look like postgres://"},
		"unparseable":     {Config{URL: "postgres://u:se same@h:x/d?sesame"}, "must look like postgres://"},
		"raw slash":       {Config{URL: "postgres://u:sesame/x@h/d"}, "must look like postgres://"},
		"bad sslmode":     {Config{URL: "postgres://u:sesame@h/d?sslmode=sesame"}, "must look like postgres://"},
		"nobody listens":  {Config{URL: "postgres://u:sesame@127.0.0.1:1/d?sslmode=disable"}, "database unavailable"},
		"nobody resolves": {Config{URL: "postgresql://u:sesame@none.invalid/d"}, "database unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), tc.cfg)
			if err == nil {
				t.Fatal(errors.Join(errors.New("opened"), s.Close()))
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "sesame") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

// envOther makes the test binary a second process on the same file.
const envOther = "SVC_STORE_TEST_OTHER_PROCESS"

func TestSQLiteTwoProcesses(t *testing.T) {
	const keys = 15
	if path := os.Getenv(envOther); path != "" {
		createKeys(t, path, "other", keys)
		return
	}
	// Both start on a file that does not exist: they race to create it, to switch its journal and to migrate it.
	path := filepath.Join(t.TempDir(), "svc.db")
	other := exec.Command(os.Args[0], "-test.run=^TestSQLiteTwoProcesses$", "-test.v")
	other.Env = append(os.Environ(), envOther+"="+path)
	out, err := other.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	createKeys(t, path, "this", keys)
	var log strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
	}
	if err := other.Wait(); err != nil {
		t.Fatalf("the other process failed: %v\n%s", err, log.String())
	}
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if got := count(t, s, "api_keys"); got != 2*keys {
		t.Errorf("%d keys, want %d", got, 2*keys)
	}
}

func createKeys(t *testing.T, path, who string, n int) {
	t.Helper()
	s, err := Open(t.Context(), Config{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	out, err := s.CreateOrganization(t.Context(), NewOrganization{Name: who, Admin: &NewUser{Email: who + "@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		secret := Secret{Hash: who + strconv.Itoa(i), Prefix: "p"}
		if _, _, err := s.CreateApiKey(t.Context(), out.Organization.ID, NewApiKey{Name: "n", Kind: ApiKeyStandard, Secret: secret}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSlugOf(t *testing.T) {
	for name, want := range map[string]string{
		"Acme":                         "acme",
		"  Acme,  Inc. ":               "acme-inc",
		"日本":                           "organization",
		"":                             "organization",
		"a" + strings.Repeat("-b", 40): "a" + strings.Repeat("-b", 23),
	} {
		if got := slugOf(name); got != want {
			t.Errorf("slugOf(%q) = %q, want %q", name, got, want)
		}
	}
}
