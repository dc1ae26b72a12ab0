package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "1": 1, "64MiB": 64 << 20, "20 MB": 20_000_000, "1.5GiB": 3 << 29, "2KiB": 2048, "3TiB": 3 << 40, "7B": 7, "1kB": 1000,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1e30", "NaN", "Inf", "9223372036854775807KiB", "12 parsecs"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
	for _, size := range []Size{0, 1, 1023, 1 << 10, 3 << 20, 1<<30 + 1, 5 << 40} {
		if got, err := ParseSize(size.String()); err != nil || got != size {
			t.Errorf("%d prints as %q, which reads as %d, %v", size, size, got, err)
		}
	}
}

// A secret must not appear in any form in which a Config can leave the process.
func TestSecretsDoNotPrint(t *testing.T) {
	const secret = "correct-horse-battery-staple-0123456789"
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(secret+"\r\nsecond line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Sources{Environ: []string{
		"SVC_SECRET_KEY_FILE=" + file,
		"SVC_DATABASE_URL=postgres://svc:" + secret + "@db/svc",
		"SVC_WAREHOUSE_URL=clickhouse://host/svc?password=" + secret,
	}})
	if err != nil {
		t.Fatal(err)
	}
	if cfg.SecretKey.Reveal() != secret || !strings.Contains(cfg.DatabaseURL.Reveal(), secret) {
		t.Error("Reveal does not give the value")
	}
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	log.Info("x", "secret", cfg.SecretKey, "dsn", cfg.DatabaseURL, "dsn2", cfg.WarehouseURL)
	text := slog.New(slog.NewTextHandler(&out, nil))
	text.Info("x", "secret", cfg.SecretKey, "dsn", cfg.DatabaseURL)
	for _, value := range []any{cfg.SecretKey, cfg.DatabaseURL, cfg.WarehouseURL, cfg.Entries()} {
		fmt.Fprintf(&out, "%v %+v %#v %s %q\n", value, value, value, value, value)
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(encoded)
	}
	if strings.Contains(out.String(), secret) {
		t.Errorf("a secret was printed:\n%s", out.String())
	}
	if got, want := cfg.DatabaseURL.String(), "postgres://svc:***@db/svc"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The output of `svc config print` is not a valid configuration: Load must not accept the stars as a password.
func TestPrintedPasswordIsRefused(t *testing.T) {
	cfg, err := Load(Sources{Environ: []string{"SVC_DATABASE_URL=postgres://svc:hunter2@db/svc"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Load(Sources{Environ: []string{"SVC_DATABASE_URL=" + cfg.DatabaseURL.String()}})
	if err == nil || !strings.Contains(err.Error(), "SVC_DATABASE_URL") || !strings.Contains(err.Error(), "***") {
		t.Errorf("a printed URL was taken: %v", err)
	}
}

// The message about an invalid secret does not repeat the secret.
func TestBadSecretsDoNotPrint(t *testing.T) {
	for _, pair := range []string{
		"SVC_DATABASE_URL=mysql://svc:hunter2@db/svc", "SVC_DATABASE_URL=postgres://svc:hunter2@[bad/svc",
		"SVC_WAREHOUSE_URL=hunter2", "SVC_SECRET_KEY=hunter2",
	} {
		_, err := Load(Sources{Environ: []string{pair}})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", pair, err)
		}
	}
}

// TestWarehouseHosts: a URL with several hosts is read, and prints without its passwords.
func TestWarehouseHosts(t *testing.T) {
	const raw = "http://svc:secret@a:8123,b:8123/svc?cluster=main"
	var c Config
	assign := dsn(func(c *Config) *DSN { return &c.WarehouseURL }, "http")
	if err := assign(&c, raw); err != nil {
		t.Fatal(err)
	}
	if got := c.WarehouseURL.String(); got != "http://svc:***@a:8123,b:8123/svc?cluster=main" || c.WarehouseURL.Reveal() != raw {
		t.Errorf("prints as %s", got)
	}
	for _, raw := range []string{"http://svc@a:1,b:1/?sql_user=x&sql_password=secret", "http://svc:secret@a:1,b:1?password=secret"} {
		if got := DSN(raw).String(); strings.Contains(got, "secret") || !strings.Contains(got, "a:1,b:1") {
			t.Errorf("prints as %s", got)
		}
	}
	if err := assign(&c, "http://svc:secret@a:1,b:1:2/svc"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v", err)
	}
}
