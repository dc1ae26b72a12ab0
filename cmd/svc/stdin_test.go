package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/limits"
)

// TestLongStandardInput gives each command that reads the standard input one byte more than it takes. A text without its end would be
// another statement, or another password.
func TestLongStandardInput(t *testing.T) {
	t.Parallel()
	for args, most := range map[string]int{
		"admin sql -":           limits.RESTBody,
		"query -":               limits.RESTBody,
		"tools call x --json -": limits.RESTBody,
		"admin user set-password a@b.example --password-stdin":       limits.MaxPasswordBytes + 2,
		"admin user create a@b.example --org org_x --password-stdin": limits.MaxPasswordBytes + 2,
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "input")
			if err := os.WriteFile(path, bytes.Repeat([]byte("x"), most+1), 0o600); err != nil {
				t.Fatal(err)
			}
			in, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = in.Close() }()
			var out, errs bytes.Buffer
			c := &cli{stdin: in, stdout: &out, stderr: &errs, environ: []string{"XDG_CONFIG_HOME=" + t.TempDir()}}
			code := c.run(t.Context(), strings.Fields(args))
			want := "the standard input is longer than " + limits.Size(int64(most))
			if code != exitUsage || !strings.Contains(errs.String(), want) {
				t.Errorf("exit code %d, %q lacks %q", code, errs.String(), want)
			}
		})
	}
}
